//! The trade-off between time and SRAM: `auto` where time is the objective and SRAM holds all activations. Of the plans that fit the budget
//! the fastest; of equally fast ones that with the least arena.
//!
//! Layers in rows start their kernel anew for each row, which costs time. So layers share bytes only
//! where more would live than the budget allows, or less, if they have no place so.

use super::aliasing_search::{Candidate, sparing};
use super::alternatives::Alternatives;
use super::auto::LEAST;
use super::merit::Judged;
use super::weights_in_sram::load_weights;
use super::{Asked, Search, Strategy, Way};
use crate::aliasing::Aliasing;
use crate::costs::CostCache;
use crate::planning::described;
use crate::recipe::Made;
use crate::{Objective, Options, PlanError, Planned, simulate};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, CyclePoint, Plan, Space};
use tilewright_report::Stage;

/// Into how many parts what lies between the least arena and the budget is cut; of what may live,
/// a part less is tried until all have a place.
const PARTS: u64 = 8;

/// The search, one way after the other.
pub struct TradeOff {
    least: Planned,
    ways: Vec<Way>,
    /// Ways that were tried.
    tried: usize,
    best: Option<Best>,
    alternatives: Alternatives,
    /// The shortest time of all ways, whether or not they fit.
    unlimited: Option<CyclePoint>,
    /// The same if all weights and constants lay in SRAM.
    bound: Option<CyclePoint>,
    costs: Option<CostCache>,
}

/// The fastest plan so far.
struct Best {
    technique: &'static str,
    judged: Judged,
    made: Made,
}

impl Best {
    fn is_better(&self, other: &Self, objective: Objective) -> bool {
        self.judged.merit.is_better(&other.judged.merit, objective)
    }
}

impl TradeOff {
    /// Begins with the plan of the least arena, and what its search found.
    pub fn new(least: Planned, search: &dyn Search, board: &Board, options: &Options) -> Self {
        let alternatives = Alternatives::of(&least, LEAST, board, options);
        let ways = search.ways();
        Self {
            least,
            ways,
            tried: 0,
            best: None,
            alternatives,
            unlimited: None,
            bound: None,
            costs: None,
        }
    }

    /// Tries the next way; whether it was the last.
    ///
    /// # Errors
    /// [`PlanError`] if a tensor cannot be planned.
    pub fn advance(
        &mut self,
        model: &Model,
        board: &Board,
        options: &Options,
    ) -> Result<bool, PlanError> {
        let budget = options.arena_on(board);
        if let Some(Way { technique, found, aliasing }) = self.ways.get(self.tried).cloned() {
            self.tried += 1;
            let candidate = loosened(model, &found, &aliasing, budget)?.unwrap_or(found);
            self.consider(technique, candidate, &Asked { model, board, options })?;
        }
        Ok(self.tried >= self.ways.len())
    }

    fn consider(
        &mut self,
        technique: &'static str,
        candidate: Candidate,
        asked: &Asked<'_>,
    ) -> Result<(), PlanError> {
        let Asked { board, options, .. } = *asked;
        let budget = options.arena_on(board);
        let whole = Strategy::Auto.made(asked, candidate)?;
        let costs = self.costs.get_or_insert_with(|| CostCache::on(board));
        let judged = |made: Made| {
            let plan = &made.plan;
            let fits = arena(plan) <= budget && plan.image_bytes() <= board.plan_bytes();
            let judged = Judged::predicted(plan, fits, costs, (board, options))?;
            Ok::<_, PlanError>(Best { technique, judged, made })
        };
        let brought = simulate::predict(&brought(&whole.plan), board, costs, options)?.end();
        let kept = load_weights(&whole, board, costs, budget).map(judged).transpose()?;
        let whole = judged(whole)?;
        let ends = whole.judged.end;
        self.unlimited = Some(self.unlimited.map_or(ends, |other| other.min(ends)));
        self.bound = Some(self.bound.map_or(brought, |other| other.min(brought)));
        for new in kept.into_iter().chain([whole]) {
            let merit = &new.judged.merit;
            self.alternatives.note(technique, &new.made.recipe, merit);
            let is_better = |best: &Best| new.is_better(best, options.objective);
            if merit.fits && self.best.as_ref().is_none_or(is_better) {
                self.best = Some(new);
            }
        }
        Ok(())
    }

    /// Whether no plan is better: all that the fastest reads lies in SRAM.
    pub fn is_best(&self, objective: Objective, board: &Board) -> bool {
        let limit = self.best.as_ref().and_then(|best| best.judged.limit(objective, board));
        limit.zip(self.bound).is_some_and(|(limit, bound)| limit <= bound)
    }

    /// Whether the fastest plan is slower than one would be for which there is no room.
    pub fn is_slowed(&self) -> bool {
        let best = self.best.as_ref().map_or(self.least.timeline.end(), |best| best.judged.end);
        self.unlimited.is_some_and(|unlimited| unlimited < best)
    }

    /// The fastest plan; it says what the least arena is, if its own is larger.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    pub fn best(
        mut self,
        model: &Model,
        board: &Board,
        options: &Options,
    ) -> Result<Planned, PlanError> {
        let least = self.least.report.peak_sram_bytes;
        let budget = options.arena_on(board);
        let costs = self.costs.unwrap_or_else(|| CostCache::on(board));
        let (technique, objective) = (LEAST, options.objective);
        let judged = Judged::told(&self.least, board, options);
        let mut best = Best { technique, judged, made: self.least.made() };
        // With few bytes for activations there is more room for weights.
        let kept = load_weights(&best.made, board, &costs, budget);
        let kept = kept.filter(|kept| kept.plan.image_bytes() <= board.plan_bytes());
        let kept = match kept {
            Some(made) => {
                let judged = Judged::predicted(&made.plan, true, &costs, (board, options))?;
                self.alternatives.note(technique, &made.recipe, &judged.merit);
                Some(Best { technique, judged, made })
            }
            None => None,
        };
        for other in self.best.into_iter().chain(kept) {
            if other.is_better(&best, objective) {
                best = other;
            }
        }
        let Best { technique, made, .. } = best;
        let alternatives = self.alternatives.told(technique, &made);
        let mut planned = if made.plan == self.least.plan {
            self.least
        } else {
            let bound = Some(*self.least.report.lower_bound_bytes);
            described(made, model, board, options, bound)?
        };
        if least < planned.report.peak_sram_bytes {
            let what = "least, by objective memory".to_owned();
            planned.report.stages = vec![Stage { what, bytes: least }];
        }
        planned.report.alternatives = alternatives;
        Ok(planned)
    }
}

/// The plan as if all weights and constants lay in SRAM: one that is never made, but to bound those that are.
fn brought(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    let flash = [Space::Weights, Space::Constants].map(|space| space as u8);
    for view in plan.views.iter_mut().filter(|view| flash.contains(&view.space)) {
        view.space = Space::Arena as u8;
    }
    plan
}

fn arena(plan: &Plan) -> Bytes {
    plan.space(Space::Arena)
}

/// A candidate with as few layers that share as the budget allows; nothing if that is all of them.
///
/// # Errors
/// [`PlanError`] if a tensor cannot be planned.
fn loosened(
    model: &Model,
    found: &Candidate,
    aliasing: &Aliasing,
    budget: Bytes,
) -> Result<Option<Candidate>, PlanError> {
    let Some(spare) = budget.0.checked_sub(found.arranged.height.0) else { return Ok(None) };
    if !aliasing.rows {
        return Ok(None);
    }
    for part in 0..PARTS {
        let room = Bytes(budget.0 - spare / PARTS * part);
        if let Some(loose) = sparing(model, aliasing, found, room)? {
            return Ok(Some(loose));
        }
    }
    Ok(None)
}
