//! Rows of a sweep: planned on all cores and kept in a file, and as comma-separated values.

use std::path::Path;

use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_explore::{ExploreError, HeldModel, Sweep};
use tilewright_report::{SweepKey, SweepRow};

use super::rows::{Row, Rows};
use super::sweep_queue::by_queue;
use crate::all_cores::on_all_cores;
use crate::experiment::{End, stop};

/// Has the rows planned that the file does not have, here or by the workers of a queue, and keeps them there; all rows
/// that are known then, in the order of the sweep. A row of a model that cannot be opened is not kept: the model may be mended when the sweep goes on.
pub fn planned(
    sweep: &Sweep,
    file: Option<&Path>,
    queue: Option<&str>,
    cancel: &Cancel,
) -> Result<(Vec<SweepRow>, End), Diagnostic> {
    let keys: Vec<SweepKey> = sweep.keys().collect();
    let mut rows = Rows::open(file)?;
    let missing: Vec<usize> =
        (0..keys.len()).filter(|row| rows.get(&keys[*row]).is_none()).collect();
    let ask = stop(cancel);
    let mut take = |row: SweepRow| {
        if row.not_opened().is_none() {
            return rows.add(row);
        }
        rows.note(row);
        Ok(())
    };
    let end = if let Some(address) = queue {
        let missing = missing.into_iter().map(|row| (row, keys[row].clone()));
        by_queue(sweep, missing.collect(), address, cancel, take)?
    } else {
        let plan = |held: &mut HeldModel, piece: usize| {
            sweep.plan(missing[piece], held, &ask).map_err(|error| wrong(&error))
        };
        on_all_cores(missing.len(), cancel, "rows", plan, |_, row| take(row))?
    };
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
