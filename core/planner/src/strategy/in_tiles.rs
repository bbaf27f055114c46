//! `auto` in tiles: where more than the plan in SRAM was compared, and SRAM does not hold that or time is the objective,
//! the layers of most active memory tile by tile, all in SRAM, in each grid and above each threshold
//! ([`tilings_within`]). The strategy `sparse-tiled` is one of these.

use super::alternatives::Alternatives;
use super::auto::LEAST;
use super::{Asked, resident};
use crate::costs::CostCache;
use crate::planned_model::PlannedModel;
use crate::recipe::Made;
use crate::tiles::tilings_within;
use crate::{Objective, Options, PlanError, Planned, Strategy, plan, simulate};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_model::tiling::Tiling;
use tilewright_plan::{Bytes, CyclePoint, Space};

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
    let is_chosen = !planned.report.fits || key_of(&tiled, options) < key_of(&planned, options);
    let first = planned.report.alternatives.first();
    let before = first.map_or(LEAST, |chosen| &chosen.technique).to_owned();
    let mut all = Alternatives::of(&planned, &before, board, options.objective);
    all.note(TECHNIQUE, &tiled.made(), (tiled.timeline.end(), tiled.report.fits), options);
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
    let mut best: Option<((u64, u64), Tiling)> = None;
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
        if arena > budget || least.is_some_and(|((least, _), _)| *least < arena.0) {
            continue;
        }
        let asked = &Asked { model, board, options };
        let Ok(Made { plan, .. }) = Strategy::Resident.made(asked, found) else { continue };
        if !plan.image_fits(board.plan_bytes()) {
            continue;
        }
        let end = simulate::predict(&plan, board, &costs, options)?.end();
        let frames = u64::from(options.frames.get());
        let time = end.since(CyclePoint::default()).0 / frames;
        let key = key(time, plan.space(Space::Arena), options);
        if best.as_ref().is_none_or(|(known, _)| key < *known) {
            best = Some((key, tiling));
        }
    }
    Ok(best.map(|(_, tiling)| tiling))
}

/// What is made least, then what is least of equal ones.
fn key(time: u64, Bytes(arena): Bytes, options: &Options) -> (u64, u64) {
    match options.objective {
        Objective::Latency => (time, arena),
        Objective::Memory => (arena, time),
    }
}

fn key_of(planned: &Planned, options: &Options) -> (u64, u64) {
    let frames = u64::from(planned.report.frames.max(1));
    let time = planned.timeline.end().since(CyclePoint::default()).0 / frames;
    key(time, *planned.report.peak_sram_bytes, options)
}
