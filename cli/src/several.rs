//! Several models for one image.

use std::path::PathBuf;

use tilewright_app::{Diagnostic, Host, Prepared, checked_plan, several, unsupported};
use tilewright_board::Board;
use tilewright_model::{Data, Model};
use tilewright_planner::{Options, Planned, Strategy};

use crate::args::{ModelFile, Quantised};
use crate::load;

/// Models that are planned as one.
pub struct Several {
    /// The model of all.
    pub model: Model,
    /// Their plans as one.
    pub planned: Planned,
    /// The first sample of each, one behind the other.
    pub inputs: Vec<Data>,
}

/// Reads the models beside the first, plans each, and makes them one.
///
/// # Errors
/// If one of them cannot be read, planned, or be there beside others.
pub fn joined(
    first: (&Prepared, &Planned),
    others: &[PathBuf],
    (quantised, board, strategy, options): (&Quantised, &Board, Strategy, &Options),
    host: &dyn Host,
) -> Result<Several, Diagnostic> {
    let mut prepared: Vec<Prepared> = Vec::new();
    for path in others {
        let file = ModelFile { model: path.clone(), ..quantised.file.clone() };
        prepared.push(load::prepared(&Quantised { file, ..quantised.clone() }, host)?);
    }
    let mut planned = Vec::new();
    for one in &prepared {
        let plan = checked_plan(&one.model, board, strategy, options, host)?;
        if let Some(problem) = unsupported(&plan, board) {
            return Err(problem);
        }
        planned.push(plan);
    }
    let mut parts = vec![(&first.0.model, first.1)];
    parts.extend(prepared.iter().map(|one| &one.model).zip(&planned));
    let (model, planned) = several(&parts, board, options, host)?;
    let all = std::iter::once(first.0).chain(&prepared);
    let inputs = all.flat_map(|one| one.first.clone()).collect();
    Ok(Several { model, planned, inputs })
}
