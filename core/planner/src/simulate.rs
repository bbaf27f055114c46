//! Event simulation of a step program: when each step of each lane runs.

mod lanes;
mod occupancy;
mod traffic;
mod transfer;

use crate::costs::{Cost, Costs};
use crate::strategy::swap_rows::SECTOR;
use tilewright_board::{Board, Card};
use tilewright_plan::{Cycles, Instruction, LaneKind, Plan, Space};
use tilewright_report::{Kind, Timeline};

pub use lanes::{simulate, simulate_holding};
pub use occupancy::occupancy;
pub use traffic::traffic;
pub use transfer::{Direction, Transfers};

/// What the core takes for the checksums of so many bytes, in the interrupts behind their copies or before
/// them; if they are sealed, for so many tags.
#[must_use]
pub fn checking(board: &Board, bytes: u64, tags: Option<u64>) -> Cycles {
    let Some(engine) = board.engine(LaneKind::Card) else { return Cycles(0) };
    let (rate, each) = match tags {
        None => (engine.check_cycles_a_kib, 0),
        Some(tags) => (engine.seal_cycles_a_kib, engine.seal_cycles.saturating_mul(tags)),
    };
    Cycles(bytes.saturating_mul(rate).div_ceil(1024).saturating_add(each))
}

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
    let steps: Vec<Vec<(Cost, u64)>> = program
        .lanes
        .iter()
        .map(|lane| {
            let computed = costs.lane(board, plan, lane);
            lane.steps
                .iter()
                .zip(computed)
                .map(|(step, cost)| match step.instruction {
                    Instruction::Copy { source, destination, .. } => {
                        let span = |at: u32| plan.spans.get(at as usize);
                        let (Some(source), Some(destination)) = (span(source), span(destination))
                        else {
                            return (cost, 0);
                        };
                        let cycles = transfers.copy(lane.kind, source, destination);
                        (Cost { instructions: 0, cycles }, source.bytes())
                    }
                    Instruction::Compute { .. } | Instruction::Mark(_) => (cost, 0),
                })
                .collect()
        })
        .collect();
    let is_kept = |at: u32| {
        let span = plan.spans.get(at as usize).filter(|span| span.space() == Some(Space::Card));
        span.zip(plan.kept).is_some_and(|(span, kept)| kept.holds(span.offset.into()))
    };
    let held = |lane: usize, step: usize| match program.lanes[lane].steps[step].instruction {
        Instruction::Copy { source, destination, sum }
            if sum.is_some() || is_kept(source) || is_kept(destination) =>
        {
            let bytes = steps[lane][step].1;
            let tags = if sum.is_some() { 1 } else { bytes.div_ceil(SECTOR) };
            let is_sealed = plan.kept.is_some_and(|kept| kept.sealed);
            checking(board, bytes, is_sealed.then_some(tags))
        }
        _ => Cycles(0),
    };
    timeline.slices = simulate_holding(program, frames, |lane, step| steps[lane][step], held);
    timeline
}
