//! `auto` in tiles: where more than the plan in SRAM was compared, and SRAM does not hold that or time is the objective,
//! the layers of most active memory tile by tile, all in SRAM, in each grid and above each threshold
//! ([`tilings_within`]). The strategy `sparse-tiled` is one of these.

use super::alternatives::Alternatives;
use super::auto::LEAST;
use super::merit::{Judged, Merit};
use super::{Asked, resident};
use crate::costs::CostCache;
use crate::planned_model::PlannedModel;
use crate::recipe::Made;
use crate::tiles::tilings_within;
use crate::{Objective, Options, PlanError, Planned, Strategy, plan};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_model::tiling::Tiling;

/// What plans in tiles are an example of.
const TECHNIQUE: &str = "all in SRAM, layers in tiles whose edges are computed again";

/// Units of work of a plan in tiles.
const WORK: u64 = 100_000;

/// The best of a plan and of those in tiles; the plan says what it was compared with.
///
/// # Errors
/// [`PlanError::Stopped`] if nobody waits any more.
pub fn better(
    planned: Planned,
    model: &Model,
    board: &Board,
    options: &Options,
) -> Result<Planned, PlanError> {
    let Some(tiling) = best(model, board, options)? else { return Ok(planned) };
    let asked = Options { tiling: Some(tiling), ..options.clone() };
    let mut tiled = plan(model, board, Strategy::Resident, &asked)?;
    let merit = Judged::told(&tiled, board, options).merit;
    let known = Judged::told(&planned, board, options).merit;
    let is_chosen = merit.is_better(&known, options.objective);
    let first = planned.report.alternatives.first();
    let before = first.map_or(LEAST, |chosen| &chosen.technique).to_owned();
    let mut all = Alternatives::of(&planned, &before, board, options);
    all.note(TECHNIQUE, &tiled.recipe, &merit);
    let technique = if is_chosen { TECHNIQUE } else { &before };
    let mut chosen = if is_chosen {
        tiled.plan.strategy.clone_from(&planned.plan.strategy);
        tiled.report.strategy.clone_from(&planned.report.strategy);
        tiled
    } else {
        planned
    };
    chosen.report.alternatives = all.told(technique, &chosen.made());
    Ok(chosen)
}

/// The best tiling of those that fit, if some do.
///
/// # Errors
/// As [`better`].
fn best(model: &Model, board: &Board, options: &Options) -> Result<Option<Tiling>, PlanError> {
    let budget = options.arena_on(board);
    let costs = CostCache::on(board);
    let mut best: Option<(Merit, Tiling)> = None;
    for tiling in tilings_within(model, budget) {
        options.stop.after(WORK)?;
        let options = &Options { tiling: Some(tiling), ..options.clone() };
        let brings = Strategy::Resident.technique().brings_weights;
        // Other layers or fewer tiles do.
        let Ok(planned_model) = PlannedModel::new(model, board, options, brings) else { continue };
        let model = planned_model.model(model);
        let Ok(found) = resident::plan(model) else { continue };
        let arena = found.arranged.height;
        let least = best.as_ref().filter(|_| options.objective == Objective::Memory);
        if arena > budget || least.is_some_and(|(least, _)| least.arena < arena) {
            continue;
        }
        let asked = &Asked { model, board, options };
        let Ok(Made { plan, .. }) = Strategy::Resident.made(asked, found) else { continue };
        if !plan.image_fits(board.plan_bytes()) {
            continue;
        }
        let Judged { merit, .. } = Judged::predicted(&plan, true, &costs, (board, options))?;
        if best.as_ref().is_none_or(|(known, _)| merit.is_better(known, options.objective)) {
            best = Some((merit, tiling));
        }
    }
    Ok(best.map(|(_, tiling)| tiling))
}
