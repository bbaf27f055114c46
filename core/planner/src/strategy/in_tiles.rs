//! `auto` in tiles: where SRAM does not hold all activations, the layers of most active memory tile by tile, all in SRAM,
//! in each grid and above each threshold ([`tilings`]). The strategy `sparse-tiled` is one of these.

use super::alternatives::Alternatives;
use super::auto::LEAST;
use crate::{Objective, Options, PlanError, Planned, Strategy, plan, tilings};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, CyclePoint};

/// What plans in tiles are an example of.
const TECHNIQUE: &str = "all in SRAM, layers in tiles whose edges are computed again";

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
    let mut best: Option<Planned> = None;
    for tiling in tilings(model) {
        let asked = Options { tiling: Some(tiling), ..options.clone() };
        let found = match plan(model, board, Strategy::Resident, &asked) {
            Ok(found) => found,
            Err(PlanError::Stopped) => return Err(PlanError::Stopped),
            // Other layers or fewer tiles do.
            Err(_) => continue,
        };
        let is_better = best.as_ref().is_none_or(|best| key(&found, options) < key(best, options));
        if found.report.fits && is_better {
            best = Some(found);
        }
    }
    let Some(mut tiled) = best else { return Ok(planned) };
    let is_chosen = !planned.report.fits || key(&tiled, options) < key(&planned, options);
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

/// What is made least, then what is least of equal ones.
fn key(planned: &Planned, options: &Options) -> (u64, u64) {
    let frames = u64::from(planned.report.frames.max(1));
    let time = planned.timeline.end().since(CyclePoint::default()).0 / frames;
    let Bytes(arena) = planned.report.peak_sram_bytes;
    match options.objective {
        Objective::Latency => (time, arena),
        Objective::Memory => (arena, time),
    }
}
