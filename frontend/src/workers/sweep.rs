//! Rows of a sweep, planned one after the other.

use tilewright_explore::{HeldModel, SweepModel};
use tilewright_model::Model;
use tilewright_planner::Stop;
use tilewright_report::{Diagnostic, SweepKey, SweepRow};

use super::plan::ours;

/// What stays between requests: the model that was planned last.
#[derive(Default)]
pub struct Sweeper {
    last: Option<(String, SweepModel)>,
    held: HeldModel,
}

impl Sweeper {
    /// Forgets the model that was planned last.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// Plans the rows of some keys; `open` is the model that has the name `name`.
    ///
    /// # Errors
    /// None that a key could cause: those are problems of its row.
    pub fn rows(
        &mut self,
        keys: &[SweepKey],
        (name, open): (&str, Option<&Model>),
    ) -> Result<Vec<SweepRow>, Diagnostic> {
        let row = |key: &SweepKey| {
            if self.last.as_ref().is_none_or(|(last, _)| *last != key.network) {
                let model = match open.filter(|_| key.network == name) {
                    Some(open) => {
                        let open = open.clone();
                        SweepModel::given(name.to_owned(), move || Ok(open.clone()))
                    }
                    None => SweepModel::zoo(&key.network),
                };
                self.last = Some((key.network.clone(), model));
            }
            let (_, model) = self.last.as_ref().ok_or_else(|| ours("sweep", &"no model"))?;
            let row = model.row(key, &mut self.held, &Stop::default());
            row.map_err(|error| ours("sweep", &error))
        };
        keys.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_for_all_keys_whatever_they_name() {
        let key = |network: &str, board: &str| SweepKey {
            network: network.to_owned(),
            board: board.to_owned(),
            strategy: "resident".to_owned(),
            sram_budget_bytes: None,
            clock_hz: None,
            card: None,
            frames: 1,
        };
        let model = tilewright_zoo::network("vww").unwrap().int8().unwrap();
        let keys = [
            key("mine.onnx", "stm32f746g-disco"),
            key("vww", "stm32f746g-disco"),
            key("vww", "no-board"),
            key("no-network", "stm32f746g-disco"),
        ];
        let mut sweeper = Sweeper::default();
        let rows = sweeper.rows(&keys, ("mine.onnx", Some(&model))).unwrap();
        assert!(rows.iter().map(|row| &row.key).eq(&keys));
        assert!(rows[0].plan.is_some() && rows[0].plan == rows[1].plan);
        assert!(rows[2..].iter().all(|row| row.plan.is_none() && row.problem.is_some()));
    }
}
