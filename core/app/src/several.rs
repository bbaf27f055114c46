//! Several models in one image: their plans as one, proved.

use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_planner::{JoinError, Options, Planned, joined};
use tilewright_report::{Blame, Diagnostic, sentence};

use crate::host::Host;
use crate::planning::prove;
use crate::progress::Stage;

/// The model of all, and their plans as one, proved if it fits: the programs run one at a time in one arena.
///
/// # Errors
/// If a model cannot be there beside others; a plan that fits and is found wrong is our fault.
pub fn several(
    parts: &[(&Model, &Planned)],
    board: &Board,
    options: &Options,
    host: &dyn Host,
) -> Result<(Model, Planned), Diagnostic> {
    let (model, planned) = joined(parts, board, options).map_err(|error| {
        let what_to_do = match error {
            JoinError::TooFew => "Give another model.",
            JoinError::Plan(_) => "Begin again.",
            _ => "Leave the model out, or plan it with strategy resident.",
        };
        Diagnostic::new(Blame::BadInput, sentence(&error.to_string()), "--with", what_to_do)
    })?;
    host.begin(Stage::Checking)?;
    if planned.report.fits {
        prove(&planned, &model, board)?;
    }
    Ok((model, planned))
}
