//! Event simulation of a step program: when each step of each lane runs.

mod driver_overhead;
mod lanes;
mod traffic;
mod transfer;

use std::borrow::Cow;

use crate::costs::{CostCache, OUTSIDE, Outside};
use crate::schedule::operator::SECTOR;
use crate::{Options, PlanError};
use tilewright_board::{Board, Card};
use tilewright_plan::copy_checksums::ChecksummedPlan;
use tilewright_plan::{Cycles, Instruction, LaneKind, Plan, Program, Space, Span};
use tilewright_report::{Kind, Timeline};

pub use driver_overhead::{CopyOverhead, copy_overhead, written};
pub use lanes::{Contention, Holds, Times, simulate};
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

/// Predicted timeline of the plan's first program that is not a boot program, over all frames,
/// as the options have it with card, checksums and tags.
///
/// # Errors
/// [`PlanError::Stopped`] if nobody waits any more.
pub fn predict(
    plan: &Plan,
    board: &Board,
    costs: &CostCache,
    options: &Options,
) -> Result<Timeline, PlanError> {
    let (card, frames) = (options.card_in(board), options.frames.get());
    // Plans name no checksums of the store image, which are known with the image.
    let plan = &match options.integrity.keeps() {
        true => Cow::Owned(ChecksummedPlan::of(plan).plan),
        false => Cow::Borrowed(plan),
    };
    let mut timeline = Timeline {
        clock_hz: board.core.clock.hertz,
        instructions_kind: Kind::Counted,
        cycles_kind: Kind::Modelled,
        lanes: Vec::new(),
        slices: Vec::new(),
    };
    let Some(program) = plan.main.as_ref() else {
        return Ok(timeline);
    };
    timeline.lanes = program.lanes.iter().map(|lane| lane.kind).collect();
    let times = Predicted::of(plan, program, board, costs, card.as_ref());
    timeline.slices = simulate(program, frames, &times, &options.stop)?;
    Ok(timeline)
}

/// What the steps of a program take; a step costs the same in each period.
struct Predicted<'a> {
    plan: &'a Plan,
    program: &'a Program,
    board: &'a Board,
    /// Of each lane's steps, with the bytes that they move.
    costs: Vec<Vec<(Cycles, u64)>>,
    /// Of each lane's steps; nothing where nobody knows what the firmware does around them.
    holds: Vec<Vec<Holds>>,
    /// How the core's steps use memories outside of the chip.
    outside: Vec<Outside>,
    /// How long an access waits for an engine's burst on each of these memories.
    bursts: [u64; OUTSIDE.len()],
}

impl<'a> Predicted<'a> {
    fn of(
        plan: &'a Plan,
        program: &'a Program,
        board: &'a Board,
        costs: &CostCache,
        card: Option<&Card>,
    ) -> Self {
        let transfers = Transfers::new(board, card);
        // What others' kernels take is what was measured with all of their waits.
        let bursts =
            OUTSIDE.map(|space| if costs.costs.im2col { 0 } else { transfers.burst(space) });
        let none = (Vec::new(), Vec::new(), Vec::new());
        let mut predicted =
            Self { plan, program, board, costs: none.0, holds: none.1, outside: none.2, bursts };
        let written = driver_overhead::written(plan);
        for lane in &program.lanes {
            let computed = costs.lane(board, plan, lane);
            if lane.kind == LaneKind::Core {
                predicted.outside = computed.iter().map(|(_, outside)| *outside).collect();
            }
            let (mut taken, mut holds) = (Vec::new(), Vec::new());
            let mut read = Reads::default();
            for (step, (cost, _)) in lane.steps.iter().zip(computed) {
                let Some([source, destination]) = predicted.spans(&step.instruction) else {
                    taken.push((cost, 0));
                    holds.push(Holds::default());
                    continue;
                };
                let overhead =
                    driver_overhead::copy(board, &written, lane.kind, [source, destination]);
                let goes_on = read.goes_on(source) && transfers.open_reads();
                let cycles = match overhead {
                    Some(_) if goes_on => transfers.goes_on(source, destination).1,
                    None if goes_on => {
                        let (set_up, moved) = transfers.goes_on(source, destination);
                        set_up + moved
                    }
                    Some(_) => transfers.moved(lane.kind, source, destination),
                    None => transfers.copy(lane.kind, source, destination),
                };
                taken.push((cycles, source.bytes()));
                let [begin, end] = overhead.unwrap_or_default();
                let checked = predicted.checked(&step.instruction, source.bytes());
                holds.push([begin, end + checked]);
            }
            predicted.costs.push(taken);
            predicted.holds.push(holds);
        }
        predicted
    }

    /// Source and destination of a copy.
    fn spans(&self, instruction: &Instruction) -> Option<[&'a Span; 2]> {
        let Instruction::Copy { source, destination, .. } = instruction else { return None };
        let span = |at: u32| self.plan.spans.get(at as usize);
        Some([span(*source)?, span(*destination)?])
    }

    /// What the core takes for the checksums of a copy's bytes.
    fn checked(&self, instruction: &Instruction, bytes: u64) -> Cycles {
        let Instruction::Copy { sum, .. } = instruction else { return Cycles(0) };
        let is_kept = self.spans(instruction).is_some_and(|spans| {
            spans.iter().filter(|span| span.space() == Some(Space::Card)).any(|span| {
                self.plan
                    .sector_checksums
                    .is_some_and(|checksums| checksums.holds(span.offset.into()))
            })
        });
        if sum.is_none() && !is_kept {
            return Cycles(0);
        }
        let tags = if sum.is_some() { 1 } else { bytes.div_ceil(SECTOR) };
        let is_sealed = self.plan.sector_checksums.is_some_and(|checksums| checksums.sealed);
        checking(self.board, bytes, is_sealed.then_some(tags))
    }
}

impl Times for Predicted<'_> {
    fn cost(&self, lane: usize, step: usize) -> (Cycles, u64) {
        self.costs[lane][step]
    }

    fn holds(&self, lane: usize, step: usize) -> Holds {
        self.holds[lane][step]
    }

    fn before(&self, step: usize) -> Cycles {
        let core = self.program.lanes.iter().find(|lane| lane.kind == LaneKind::Core);
        let step = core.and_then(|core| core.steps.get(step));
        step.map_or(Cycles(0), |step| driver_overhead::before(self.board, &step.instruction))
    }

    /// By the rule of the emulator's bus: each access that reaches a memory which DMA uses waits for a burst,
    /// and DMA goes on behind it.
    fn contention(&self, step: usize, lane: usize, engines: usize) -> Contention {
        let lane = &self.program.lanes[lane];
        let copy = lane.steps.get(engines).filter(|_| lane.kind == LaneKind::Dma);
        let (Some(outside), Some(spans)) =
            (self.outside.get(step), copy.and_then(|copy| self.spans(&copy.instruction)))
        else {
            return Contention::default();
        };
        let mut contention = Contention::default();
        for (at, space) in OUTSIDE.into_iter().enumerate().filter(|(at, _)| self.bursts[*at] > 0) {
            if spans.iter().any(|span| span.space() == Some(space)) {
                let waits = outside.accesses[at].saturating_mul(self.bursts[at]);
                contention.waits += Cycles(waits);
                contention.used += outside.used[at];
            }
        }
        contention
    }
}
