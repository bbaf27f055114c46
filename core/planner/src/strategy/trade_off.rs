//! The trade-off between time and SRAM: `auto` where time is the objective and SRAM holds all activations. Of the plans that fit the budget
//! the fastest; of equally fast ones that with the least arena.
//!
//! Layers in rows start their kernel anew for each row, which costs time. So layers share bytes only
//! where more would live than the budget allows, or less, if they have no place so.

use super::aliasing_search::{Candidate, sparing};
use super::weights_in_sram::load_weights;
use super::{Asked, Search, Strategy};
use crate::aliasing::Aliasing;
use crate::costs::CostCache;
use crate::planning::described;
use crate::recipe::Made;
use crate::{Options, PlanError, Planned, simulate};
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
    ways: Vec<(Candidate, Aliasing)>,
    /// Ways that were tried.
    tried: usize,
    best: Option<(CyclePoint, Made)>,
    /// The shortest time of all ways, whether or not they fit.
    unlimited: Option<CyclePoint>,
    /// The same if all weights and constants lay in SRAM.
    bound: Option<CyclePoint>,
    costs: Option<CostCache>,
}

impl TradeOff {
    /// Begins with the plan of the least arena, and what its search found.
    pub fn new(least: Planned, search: &dyn Search) -> Self {
        let ways = search.ways();
        Self { least, ways, tried: 0, best: None, unlimited: None, bound: None, costs: None }
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
        if let Some((found, aliasing)) = self.ways.get(self.tried).cloned() {
            self.tried += 1;
            let candidate = loosened(model, &found, &aliasing, budget)?.unwrap_or(found);
            self.consider(candidate, budget, model, board, options)?;
        }
        Ok(self.tried >= self.ways.len())
    }

    fn consider(
        &mut self,
        candidate: Candidate,
        budget: Bytes,
        model: &Model,
        board: &Board,
        options: &Options,
    ) -> Result<(), PlanError> {
        let whole = Strategy::Auto.made(&Asked { model, board, options }, candidate)?;
        let costs = self.costs.get_or_insert_with(|| CostCache::on(board));
        let end =
            |plan: &Plan| Ok::<_, PlanError>(simulate::predict(plan, board, costs, options)?.end());
        let ends = end(&whole.plan)?;
        let brought = end(&brought(&whole.plan))?;
        self.unlimited = Some(self.unlimited.map_or(ends, |other| other.min(ends)));
        self.bound = Some(self.bound.map_or(brought, |other| other.min(brought)));
        let mut plans = Vec::with_capacity(2);
        if let Some(kept) = load_weights(&whole, board, costs, budget) {
            plans.push((end(&kept.plan)?, kept));
        }
        plans.push((ends, whole));
        let key = |(end, made): &(CyclePoint, Made)| (*end, arena(&made.plan));
        for made in plans {
            let plan = &made.1.plan;
            let fits = arena(plan) <= budget && plan.image_bytes() <= board.plan_bytes();
            if fits && self.best.as_ref().is_none_or(|best| key(&made) < key(best)) {
                self.best = Some(made);
            }
        }
        Ok(())
    }

    /// Whether no plan is faster: all that the fastest reads lies in SRAM.
    pub fn is_fastest(&self) -> bool {
        self.best.as_ref().zip(self.bound).is_some_and(|((end, _), bound)| *end <= bound)
    }

    /// Whether the fastest plan is slower than one would be for which there is no room.
    pub fn is_slowed(&self) -> bool {
        let best = self.best.as_ref().map_or(self.least.timeline.end(), |(end, _)| *end);
        self.unlimited.is_some_and(|unlimited| unlimited < best)
    }

    /// The fastest plan; it says what the least arena is, if its own is larger.
    ///
    /// # Errors
    /// [`PlanError::Stopped`] if nobody waits any more.
    pub fn best(
        &mut self,
        model: &Model,
        board: &Board,
        options: &Options,
    ) -> Result<Planned, PlanError> {
        let least = self.least.report.peak_sram_bytes;
        let budget = options.arena_on(board);
        let costs = self.costs.get_or_insert_with(|| CostCache::on(board));
        let mut best = (self.least.timeline.end(), self.least.made());
        // With few bytes for activations there is more room for weights.
        let kept = load_weights(&best.1, board, costs, budget);
        let kept = kept.filter(|kept| kept.plan.image_bytes() <= board.plan_bytes());
        let kept = match kept {
            Some(kept) => Some((simulate::predict(&kept.plan, board, costs, options)?.end(), kept)),
            None => None,
        };
        for (end, made) in self.best.take().into_iter().chain(kept) {
            if (end, arena(&made.plan)) < (best.0, arena(&best.1.plan)) {
                best = (end, made);
            }
        }
        if best.1.plan == self.least.plan {
            return Ok(self.least.clone());
        }
        let bound = Some(self.least.report.lower_bound_bytes);
        let mut planned = described(best.1, model, board, options, bound)?;
        if least < planned.report.peak_sram_bytes {
            let what = "least, by objective memory".to_owned();
            planned.report.stages = vec![Stage { what, bytes: least }];
        }
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
