//! Rows of a sweep: planned on all cores and kept in a file, and as comma-separated values.

use std::path::Path;

use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_explore::{ExploreError, HeldModel, Sweep};
use tilewright_report::{CsvColumn, SweepKey, SweepPlan, SweepRow};

use super::rows::{Row, Rows};
use crate::all_cores::on_all_cores;
use crate::experiment::{End, some, stop};

/// Plans the rows that the file does not have, and keeps them there; all rows that are known then, in the order of the
/// sweep. A row of a model that cannot be opened is not kept: the model may be mended when the sweep goes on.
pub fn planned(
    sweep: &Sweep,
    file: Option<&Path>,
    cancel: &Cancel,
) -> Result<(Vec<SweepRow>, End), Diagnostic> {
    let keys: Vec<SweepKey> = sweep.keys().collect();
    let mut rows = Rows::open(file)?;
    let missing: Vec<usize> =
        (0..keys.len()).filter(|row| rows.get(&keys[*row]).is_none()).collect();
    let ask = stop(cancel);
    let end = on_all_cores(
        missing.len(),
        cancel,
        "rows",
        |held: &mut HeldModel, piece| {
            sweep.plan(missing[piece], held, &ask).map_err(|error| wrong(&error))
        },
        |_, row: SweepRow| {
            if row.not_opened().is_none() {
                return rows.add(row);
            }
            rows.note(row);
            Ok(())
        },
    )?;
    Ok((keys.iter().filter_map(|key| rows.get(key).cloned()).collect(), end))
}

/// What is wrong with a sweep.
pub fn wrong(error: &ExploreError) -> Diagnostic {
    let what_to_do = "Give fewer models, boards, strategies or budgets.";
    Diagnostic::new(Blame::BadInput, format!("{error}."), "sweep", what_to_do)
}

impl Row for SweepRow {
    type Key = SweepKey;

    const EXPERIMENT: &'static str = "a sweep";

    fn key(&self) -> SweepKey {
        self.key.clone()
    }
}

fn key(row: &impl AsRef<SweepRow>) -> &SweepKey {
    &row.as_ref().key
}

fn plan(row: &impl AsRef<SweepRow>) -> Option<&SweepPlan> {
    row.as_ref().plan.as_ref()
}

/// Columns of a row and of what holds one; heads say how figures came to be.
pub fn columns<R: AsRef<SweepRow>>() -> [CsvColumn<R>; 15] {
    [
        CsvColumn { head: "model", field: |row| key(row).network.clone() },
        CsvColumn { head: "board", field: |row| key(row).board.clone() },
        CsvColumn { head: "strategy", field: |row| key(row).strategy.clone() },
        CsvColumn { head: "sram_budget_bytes", field: |row| some(key(row).sram_budget_bytes) },
        CsvColumn { head: "clock_hz", field: |row| some(key(row).clock_hz) },
        CsvColumn { head: "card", field: |row| some(key(row).card.clone()) },
        CsvColumn { head: "frames", field: |row| key(row).frames.to_string() },
        CsvColumn { head: "macs_counted", field: |row| some(row.as_ref().macs) },
        CsvColumn { head: "parameters_counted", field: |row| some(row.as_ref().parameters) },
        CsvColumn { head: "fits_proved", field: |row| some(plan(row).map(|plan| plan.fits)) },
        CsvColumn {
            head: "latency_us_modelled",
            field: |row| {
                some(plan(row).and_then(|plan| plan.latency_us).map(|us| format!("{:.0}", us.0)))
            },
        },
        CsvColumn {
            head: "sram_bytes_counted",
            field: |row| some(plan(row).map(|plan| plan.sram_bytes.0)),
        },
        CsvColumn {
            head: "flash_bytes_counted",
            field: |row| some(plan(row).map(|plan| plan.flash_bytes.0)),
        },
        CsvColumn {
            head: "external_bytes_counted",
            field: |row| some(plan(row).map(|plan| plan.external_bytes.0)),
        },
        CsvColumn { head: "problem", field: |row| some(row.as_ref().problem.clone()) },
    ]
}
