//! `resident`: order as given, all activations in SRAM, weights in flash.

use super::sharing::Candidate;
use crate::PlanError;
use crate::allocate::PLANNING_BUDGET;
use crate::lower;
use crate::share::{self, Sharing};
use tilewright_model::Model;

/// Plans `model`.
///
/// # Errors
/// [`PlanError`] names the node or tensor that cannot be planned.
pub fn plan(model: &Model) -> Result<Candidate, PlanError> {
    let layers = lower::layers(model)?;
    let nothing = Sharing::default();
    let arranged = share::arrange(model, &layers, &nothing, &|_| false, PLANNING_BUDGET)?;
    Ok(Candidate { layers, arranged })
}
