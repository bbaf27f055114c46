//! `auto` where SRAM does not hold all activations, or flash not all weights: the fastest of what the
//! external memories allow, else a schedule for the card.

use super::external::{self, Placing};
use super::overlay::{self, Overlaid};
use super::{Search, Strategy};
use crate::planning::described;
use crate::{Options, PlanError, Planned, stream};
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::Bytes;

/// What may be overlaid, and in which part of the budget, in eighths, tiles of inputs and outputs lie.
const OVERLAID: [(Overlaid, u64); 8] = [
    (Overlaid::THESIS, 8),
    (Overlaid::ALL, 8),
    (Overlaid::IN_PARTS, 8),
    (Overlaid::IN_PARTS, 6),
    (Overlaid::IN_PARTS, 4),
    (Overlaid::ALL_IN_PARTS, 8),
    (Overlaid::ALL_IN_PARTS, 6),
    (Overlaid::ALL_IN_PARTS, 4),
];
/// The fastest plan that fits and runs, of those from external memory; else what is streamed from the
/// card, if the board has one; else `inside`, which does not fit SRAM.
///
/// # Errors
/// [`PlanError`] if a tensor cannot be planned.
pub fn best(
    inside: Planned,
    model: &Model,
    board: &Board,
    options: &Options,
) -> Result<Planned, PlanError> {
    if !inside.report.runnable {
        return Ok(inside);
    }
    let budget = options.sram.map_or(board.arena(), |sram| sram.min(board.arena()));
    let mut best: Option<Planned> = None;
    if external::obstacle(board).is_none() {
        let mut placing = Placing::new(model)?;
        while !placing.advance(model, u64::MAX)? {}
        let (found, _) = Box::new(placing).finish(model)?;
        let external = external::plan(model, board, found)?;
        let overlaid = OVERLAID.into_iter().filter(|_| overlay::obstacle(board).is_none());
        let overlaid = overlaid.map(|(what, eighths)| {
            let of_tiles = Bytes(budget.0 / 8 * eighths);
            overlay::overlay_within(external.clone(), board, [budget, of_tiles], what)
        });
        for mut plan in std::iter::once(external.clone()).chain(overlaid) {
            plan.board.clone_from(&board.id);
            Strategy::Auto.name().clone_into(&mut plan.strategy);
            let made = described(plan, model, board, options, None);
            let key = |planned: &Planned| planned.timeline.end();
            if made.report.fits && best.as_ref().is_none_or(|best| key(&made) < key(best)) {
                best = Some(made);
            }
        }
    }
    if best.is_some() || board.slot.is_none() {
        return Ok(best.unwrap_or(inside));
    }
    let streamed = stream::planned(model, board, Strategy::Auto, options);
    Ok(streamed.ok().filter(|planned| planned.report.fits).unwrap_or(inside))
}
