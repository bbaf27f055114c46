//! Event simulation of a step program: when each step of each lane runs.

mod handling;
mod lanes;
mod occupancy;
mod traffic;
mod transfer;

use crate::costs::{Cost, Costs};
use crate::strategy::swap_rows::SECTOR;
use tilewright_board::{Board, Card};
use tilewright_plan::{Cycles, Instruction, LaneKind, Plan, Space, Span};
use tilewright_report::{Kind, Timeline};

pub use handling::{Handled, handled, written};
pub use lanes::{Holds, simulate, simulate_holding};
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

/// Where the last read of a card's lane ended.
#[derive(Default)]
struct Reads {
    end: Option<u64>,
}

impl Reads {
    /// Whether the next copy reads from there on.
    fn goes_on(&mut self, source: &Span) -> bool {
        let is_read = source.space() == Some(Space::Card);
        let start = u64::from(source.offset);
        let last = std::mem::replace(&mut self.end, is_read.then(|| start + source.extent()));
        is_read && last == Some(start)
    }
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
    let written = handling::written(plan);
    // A step costs the same in each period.
    let steps: Vec<Vec<(Cost, u64)>> = program
        .lanes
        .iter()
        .map(|lane| {
            let computed = costs.lane(board, plan, lane);
            let mut read = Reads::default();
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
                        let is_handled =
                            handling::copy(board, &written, lane.kind, [source, destination])
                                .is_some();
                        let goes_on = read.goes_on(source) && transfers.open_reads();
                        let cycles = match is_handled {
                            _ if goes_on => transfers.goes_on(source, destination),
                            true => transfers.moved(lane.kind, source, destination),
                            false => transfers.copy(lane.kind, source, destination),
                        };
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
    let checked = |lane: usize, step: usize| match program.lanes[lane].steps[step].instruction {
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
    let held = |lane: usize, step: usize| {
        let kind = program.lanes[lane].kind;
        let Instruction::Copy { source, destination, .. } =
            program.lanes[lane].steps[step].instruction
        else {
            return Holds::default();
        };
        let span = |at: u32| plan.spans.get(at as usize);
        let handled = span(source).zip(span(destination)).and_then(|(source, destination)| {
            handling::copy(board, &written, kind, [source, destination])
        });
        let [begin, end] = handled.unwrap_or_default();
        [begin, end + checked(lane, step)]
    };
    let core = program.lanes.iter().find(|lane| lane.kind == LaneKind::Core);
    let before = |step: usize| {
        let step = core.and_then(|core| core.steps.get(step));
        step.map_or(Cycles(0), |step| handling::before(board, &step.instruction))
    };
    timeline.slices =
        simulate_holding(program, frames, |lane, step| steps[lane][step], held, before);
    timeline
}
