//! `auto` in SRAM: the least arena of all. Where time is the objective, what was found on the way is
//! traded for it ([`super::trade_off`]).
//!
//! Order and offsets are searched together with all aliasing: layers that
//! write over their operand, concats and slices without copies, and layers in rows whose output overlaps their
//! input; once with each max pool computed with its convolution, and once with all apart.

use super::aliasing_search::{AliasingSearch, Candidate};
use super::reordered::Reordering;
use super::{Brings, Search, Technique, Way, resident};
use crate::PlanError;
use crate::aliasing::{self, Aliasing};
use crate::lower::{self, Layer};
use crate::planning::Progress;
use tilewright_allocate::PLANNING_BUDGET;
use tilewright_model::Model;
use tilewright_plan::Bytes;

/// The strategy.
pub const TECHNIQUE: Technique = Technique {
    brings_weights: Brings::Else,
    name: "auto",
    search: |model| Ok(Box::new(Combining::new(model)?)),
    goes_on: true,
    ..Technique::INSIDE
};

/// All aliasing.
const ALL: Aliasing =
    Aliasing { parts: true, slices: true, in_place: true, rows: true, copied: Vec::new() };

/// Techniques for tensors that all lie in SRAM.
const AS_GIVEN: &str = "all in SRAM, order as given";
const ORDERED: &str = "all in SRAM, better order";
const FUSED: &str = "all in SRAM, pools computed with convolutions";
const SHARED: &str = "all in SRAM, layers share bytes";
/// The technique of the least arena.
pub const LEAST: &str = "all in SRAM, least arena";

/// The search.
pub struct Combining {
    stage: Stage,
    /// What earlier stages found.
    passed: Vec<Way>,
}

/// What is searched: what `reordered` finds, then better with layers in rows.
enum Stage {
    /// The first.
    Reordering(Reordering),
    /// The second, with max pools computed with their convolutions.
    Fused(AliasingSearch),
    /// The third, with all layers apart; and what no plan of the second goes below.
    Apart(AliasingSearch, Option<Bytes>),
}

impl Combining {
    /// Begins.
    ///
    /// # Errors
    /// [`PlanError`] names the tensor that cannot be planned.
    pub fn new(model: &Model) -> Result<Self, PlanError> {
        Ok(Self { stage: Stage::Reordering(Reordering::new(model)?), passed: Vec::new() })
    }
}

/// Layers in their order, no two tensors of which share bytes while both live.
fn unshared(model: &Model, layers: &[Layer]) -> Result<Candidate, PlanError> {
    let nothing = Aliasing::default();
    let arranged = aliasing::arrange(model, layers, &nothing, &|_| false, PLANNING_BUDGET)?;
    Ok(Candidate { layers: layers.to_vec(), arranged })
}

/// What shares no bytes.
fn apart(technique: &'static str, found: Candidate) -> Way {
    Way { technique, found, aliasing: Aliasing::default() }
}

/// What a search found with aliasing, if it did.
fn shared(search: &AliasingSearch) -> Option<Way> {
    let (found, aliasing) = search.shared()?;
    Some(Way { technique: SHARED, found, aliasing })
}

impl Stage {
    fn apart(model: &Model, best: Candidate, fused: Option<Bytes>) -> Result<Self, PlanError> {
        let search = AliasingSearch::new(model, lower::layers(model), ALL, best)?;
        Ok(Self::Apart(search, fused))
    }
}

impl Search for Combining {
    fn advance(&mut self, model: &Model, units: u64) -> Result<bool, PlanError> {
        match &mut self.stage {
            Stage::Reordering(reordering) => {
                if reordering.advance(model, units)? {
                    // Of equal arenas the earlier stays, which shares less and so is faster.
                    let mut best = resident::plan(model)?;
                    let ordered = reordering.best(model)?;
                    self.passed.push(apart(AS_GIVEN, best.clone()));
                    self.passed.push(apart(ORDERED, ordered.clone()));
                    if ordered.arranged.height < best.arranged.height {
                        best = ordered;
                    }
                    let given = lower::layers(model);
                    let count = given.len();
                    let fused = lower::fuse_pools(model, given);
                    self.stage = if fused.len() == count {
                        Stage::apart(model, best, None)?
                    } else {
                        self.passed.push(apart(FUSED, unshared(model, &fused)?));
                        Stage::Fused(AliasingSearch::new(model, fused, ALL, best)?)
                    };
                }
                Ok(false)
            }
            Stage::Fused(search) => {
                if search.advance(model, units)? {
                    self.passed.extend(shared(search));
                    let bound = search.progress().bound;
                    self.stage = Stage::apart(model, search.best().clone(), Some(bound))?;
                }
                Ok(false)
            }
            Stage::Apart(search, _) => search.advance(model, units),
        }
    }

    fn progress(&self) -> Progress {
        match &self.stage {
            // Rows, and layers apart, may need less than any plan without.
            Stage::Reordering(reordering) => Progress { bound: Bytes(0), ..reordering.progress() },
            Stage::Fused(search) => Progress { bound: Bytes(0), ..search.progress() },
            Stage::Apart(search, fused) => {
                let apart = search.progress();
                let bound = fused.map_or(apart.bound, |fused| fused.min(apart.bound));
                Progress { bound, ..apart }
            }
        }
    }

    fn found(&self, model: &Model) -> Result<(Candidate, Option<Bytes>), PlanError> {
        let bound = self.progress().bound;
        let best = match &self.stage {
            Stage::Reordering(reordering) => reordering.best(model)?,
            Stage::Fused(search) | Stage::Apart(search, _) => search.best().clone(),
        };
        Ok((best, Some(bound)))
    }

    fn ways(&self) -> Vec<Way> {
        let last = match &self.stage {
            Stage::Apart(search, _) => shared(search),
            Stage::Reordering(_) | Stage::Fused(_) => None,
        };
        self.passed.iter().cloned().chain(last).collect()
    }
}
