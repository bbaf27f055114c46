//! Rows of a sweep on their way from the worker.

use serde::{Deserialize, Serialize};
use tilewright_report::{Counted, SweepKey, SweepPlan, SweepRow};

/// A row. A report's row has its key's fields among its own, which only formats with names can say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentRow {
    key: SweepKey,
    macs: Option<Counted<u64>>,
    parameters: Option<Counted<u64>>,
    plan: Option<SweepPlan>,
    problem: Option<String>,
}

impl From<SweepRow> for SentRow {
    fn from(SweepRow { key, macs, parameters, plan, problem }: SweepRow) -> Self {
        Self { key, macs, parameters, plan, problem }
    }
}

impl From<SentRow> for SweepRow {
    fn from(SentRow { key, macs, parameters, plan, problem }: SentRow) -> Self {
        Self { key, macs, parameters, plan, problem }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_arrives_as_it_was() {
        let model = tilewright_explore::SweepModel::zoo("vww");
        let key = SweepKey {
            network: "vww".to_owned(),
            board: "stm32f746g-disco".to_owned(),
            strategy: "swap".to_owned(),
            sram_budget_bytes: Some(200_000),
            clock_hz: None,
            card: None,
            frames: 1,
        };
        let row = model.row(&key, &mut Default::default(), &Default::default()).unwrap();
        let bytes = postcard::to_stdvec(&SentRow::from(row.clone())).unwrap();
        let sent: SentRow = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(SweepRow::from(sent), row);
    }
}
