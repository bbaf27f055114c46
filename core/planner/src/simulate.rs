//! Event simulation of a step program: when each step of each lane runs.

mod lanes;
mod transfer;

use crate::costs::{Cost, Costs};
use tilewright_board::{Board, Card};
use tilewright_plan::{Instruction, Plan};
use tilewright_report::{Kind, Timeline};

pub use lanes::simulate;
pub use transfer::{Direction, Transfers};

/// Predicted timeline of the plan's first program that is not a boot program, over `frames` frames,
/// with this card in the board's slot.
#[must_use]
pub fn predict(
    plan: &Plan,
    board: &Board,
    costs: &Costs,
    card: Option<&Card>,
    frames: u32,
) -> Timeline {
    let mut timeline = Timeline {
        clock_hz: board.core.clock.hertz,
        instructions_kind: Kind::Modelled,
        cycles_kind: Kind::Modelled,
        lanes: Vec::new(),
        slices: Vec::new(),
    };
    let Some(program) = plan.programs.iter().find(|program| !program.boot) else {
        return timeline;
    };
    timeline.lanes = program.lanes.iter().map(|lane| lane.kind).collect();
    let transfers = Transfers::new(board, card);
    // A step costs the same in each period.
    let cost = |lane: usize, step: &tilewright_plan::Step| match step.instruction {
        Instruction::Compute { op, tile, first_view, order } => {
            let tile = plan.tiles.get(tile as usize).copied().unwrap_or_default();
            let operands = plan.operands(op, first_view);
            (
                operands.map_or(Cost::default(), |(op, views)| {
                    costs.step_on(board, op, &tile, views, order)
                }),
                0,
            )
        }
        Instruction::Copy { source, destination, .. } => {
            let [source, destination] = [source, destination].map(|at| plan.spans.get(at as usize));
            let (Some(source), Some(destination)) = (source, destination) else {
                return (Cost::default(), 0);
            };
            let cycles = transfers.copy(program.lanes[lane].kind, source, destination);
            (Cost { instructions: 0, cycles }, source.bytes())
        }
        Instruction::Mark(_) => (Cost::default(), 0),
    };
    let steps: Vec<Vec<(Cost, u64)>> = (0..)
        .zip(&program.lanes)
        .map(|(lane, of_lane)| of_lane.steps.iter().map(|step| cost(lane, step)).collect())
        .collect();
    timeline.slices = simulate(program, frames, |lane, step| steps[lane][step]);
    timeline
}
