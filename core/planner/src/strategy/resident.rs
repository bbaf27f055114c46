//! `resident`: order as given, all activations in SRAM, weights in flash.

use super::aliasing_search::Candidate;
use super::{Search, Technique};
use crate::PlanError;
use crate::aliasing::{self, Aliasing};
use crate::lower;
use crate::planning::Progress;
use tilewright_allocate::PLANNING_BUDGET;
use tilewright_model::Model;
use tilewright_plan::Bytes;

/// The strategy.
pub const TECHNIQUE: Technique = Technique { name: "resident", ..Technique::INSIDE };

/// Plans `model`.
///
/// # Errors
/// [`PlanError`] names the tensor that cannot be planned.
pub fn plan(model: &Model) -> Result<Candidate, PlanError> {
    let layers = lower::layers(model);
    let nothing = Aliasing::default();
    let arranged = aliasing::arrange(model, &layers, &nothing, &|_| false, PLANNING_BUDGET)?;
    Ok(Candidate { layers, arranged })
}

/// The search: one step, which [`PLANNING_BUDGET`] bounds.
#[derive(Default)]
pub struct Placing(Option<Candidate>);

impl Search for Placing {
    fn advance(&mut self, model: &Model, _: u64) -> Result<bool, PlanError> {
        self.0 = Some(plan(model)?);
        Ok(true)
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }

    fn found(&self, model: &Model) -> Result<(Candidate, Option<Bytes>), PlanError> {
        Ok((self.0.clone().map_or_else(|| plan(model), Ok)?, None))
    }
}
