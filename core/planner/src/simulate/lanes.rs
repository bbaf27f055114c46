//! Lanes that run together, over several runs of a program.
//!
//! Contention is an overlap, not an event. Where a step of the core and a copy use one external memory, the simulator computes once, when the
//! later begins, how much longer both take while both run. So a timeline has as many events as steps.

use crate::narrow::narrow;
use crate::{PlanError, Stop};
use tilewright_plan::{CyclePoint, Cycles, Instruction, LaneKind, Program, Step};
use tilewright_report::{Slice, SliceKind};

/// Slices between two questions whether anybody waits, and the units of work that one takes.
const SLICES: usize = 10_000;
const SLICE: u64 = 20;

/// How long the core is held by the beginning of an engine's step, and by its end; the step takes as much
/// longer.
pub type Holds = [Cycles; 2];

/// What lanes take of each other, apart from waiting for steps.
pub trait Times {
    /// What a step of a lane costs without all that follows, and the bytes that it moves.
    fn cost(&self, lane: usize, step: usize) -> (Cycles, u64);

    /// How long an engine's step holds the core, in interrupts: the core's own step and the engine's next go
    /// on behind it.
    fn holds(&self, _lane: usize, _step: usize) -> Holds {
        Holds::default()
    }

    /// How long the core is busy before a step of its own, once all that the step waits for has ended.
    fn before(&self, _step: usize) -> Cycles {
        Cycles(0)
    }

    /// What the whole of a step of the core would wait for an engine's that uses the bus of the same memory
    /// all the time, and how long it would keep the engine from that bus.
    fn contention(&self, _step: usize, _lane: usize, _engines: usize) -> Contention {
        Contention::default()
    }
}

impl<F: Fn(usize, usize) -> (Cycles, u64)> Times for F {
    fn cost(&self, lane: usize, step: usize) -> (Cycles, u64) {
        self(lane, step)
    }
}

/// A step of the core beside one of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contention {
    /// How much longer the core's step takes if all of it runs beside the engine's.
    pub waits: Cycles,
    /// How long the core uses the bus meanwhile, during which the engine moves nothing.
    pub used: Cycles,
}

impl Contention {
    /// How much longer a step of the core takes, and one of an engine, of which so much is left when both
    /// run; the core's takes `whole` alone, through which its accesses are spread evenly.
    fn longer(self, whole: Cycles, left: [Cycles; 2]) -> [Cycles; 2] {
        let [core, engine] = left.map(|left| u128::from(left.0));
        let whole = u128::from(whole.0.max(1));
        let beside = whole + u128::from(self.waits.0);
        let used = u128::from(self.used.0).min(beside - 1);
        let delay = core * used / whole;
        let more = if core * beside / whole <= engine + delay {
            [core * beside / whole - core, delay]
        } else {
            // The engine ends first.
            let passed = engine * beside / (beside - used);
            [passed - passed * whole / beside, passed - engine]
        };
        more.map(|more| Cycles(u64::try_from(more).unwrap_or(u64::MAX)))
    }
}

/// Slices of as many runs of `program` as `frames` frames take: each lane runs in its own order; a step starts
/// when the step before it in its lane and all that it waits for have ended, and the first of a lane when
/// all of the run before has. Steps that wait in a circle never start and have no slice.
///
/// # Errors
/// [`PlanError::Stopped`] if nobody waits any more.
pub fn simulate(
    program: &Program,
    frames: u32,
    times: &impl Times,
    stop: &Stop,
) -> Result<Vec<Slice>, PlanError> {
    let mut lanes: Vec<Progress> = program.lanes.iter().map(|_| Progress::default()).collect();
    let core = program.lanes.iter().position(|lane| lane.kind == LaneKind::Core);
    let mut slices: Vec<Slice> = Vec::new();
    // Until when the core is held while no step of its own runs.
    let mut held = CyclePoint::default();
    let mut asked = 0;
    loop {
        if slices.len() >= asked + SLICES {
            stop.after(SLICE * (slices.len() - asked) as u64)?;
            asked = slices.len();
        }
        for index in 0..lanes.len() {
            if lanes[index].due.is_none() {
                look(program, frames, index, &mut lanes);
            }
        }
        // The earliest, so that what holds the core is known before steps behind it begin.
        let due = lanes.iter().enumerate();
        let due = due.filter_map(|(index, lane)| Some((lane.due?.start, index))).min();
        let tails = lanes.iter().enumerate();
        let tail = tails.filter_map(|(index, lane)| Some((lane.tail?.0, index))).min();
        if let (Some((at, index)), Some(core)) = (tail, core)
            && due.is_none_or(|(start, _)| at <= start)
        {
            if let Some((_, hold)) = lanes[index].tail.take() {
                hold_core(at, hold, core, &mut lanes, &mut slices, &mut held);
            }
            continue;
        }
        let Some((_, index)) = due else { break };
        let Some(Due { start, awaited, frame }) = lanes[index].due.take() else { break };
        let Progress { step: number, free, .. } = lanes[index];
        let step = &program.lanes[index].steps[number];
        let (cost, bytes) = times.cost(index, number);
        let mut began = start;
        if core == Some(index) {
            began = start.max(held) + times.before(number);
        }
        let mut end = began + cost;
        let slice = Slice {
            lane: narrow(index),
            kind: SliceKind::Stall,
            waits_for: None,
            layer: step.layer,
            step: narrow(number),
            frame,
            start: free,
            end: start,
            instructions: 0,
            bytes: 0,
        };
        if slice.end > slice.start {
            slices.push(Slice { waits_for: Some(awaited), ..slice });
        }
        lanes[index].driver_overhead = None;
        if began > start {
            lanes[index].driver_overhead = Some(slices.len());
            slices.push(Slice { kind: SliceKind::DriverOverhead, start, end: began, ..slice });
        }
        let mut phase = Phase { step: number, whole: cost, start: began, end };
        if let Some(core) = core.filter(|core| *core != index) {
            let [begin, behind] = times.holds(index, number);
            hold_core(start, begin, core, &mut lanes, &mut slices, &mut held);
            phase = Phase { start: began + begin, end: end + begin, ..phase };
            lanes[index].tail = (behind.0 > 0).then_some((phase.end, behind));
            end = phase.end + behind;
        }
        let kind = match step.instruction {
            Instruction::Compute { .. } => Some(SliceKind::Compute),
            Instruction::Copy { .. } => Some(SliceKind::Copy),
            Instruction::Exit { .. } | Instruction::Arrive { .. } => None,
        };
        lanes[index].phase = None;
        if let Some(kind) = kind {
            lanes[index].last = Some(slices.len());
            lanes[index].phase = Some(phase);
            slices.push(Slice { kind, start: began, end, bytes, ..slice });
        }
        lanes[index].end(end, start);
        if let Some(core) = core {
            for other in 0..lanes.len() {
                if other != core && (index == core || index == other) {
                    contend(core, other, times, &mut lanes, &mut slices);
                }
            }
        }
    }
    // A lane's own slices are in order already.
    slices.sort_by_key(|slice| slice.lane);
    Ok(slices)
}

/// How far a lane is.
#[derive(Default)]
struct Progress {
    run: u32,
    /// Next step of the run.
    step: usize,
    /// When the step before has ended.
    free: CyclePoint,
    /// When each step so far has ended, run after run.
    ends: Vec<CyclePoint>,
    /// The next step, once all that it waits for has been simulated.
    due: Option<Due>,
    /// When the last step that ran began, and which of `ends` is its own.
    began: (CyclePoint, usize),
    /// The slice of the last step that took time, and of what the core did before it.
    last: Option<usize>,
    driver_overhead: Option<usize>,
    /// When the last step of an engine will hold the core behind itself, and for how long.
    tail: Option<(CyclePoint, Cycles)>,
    /// In which part of its last step a lane may wait for others on a bus.
    phase: Option<Phase>,
}

/// The part of a step that computes, or moves bytes.
#[derive(Clone, Copy)]
struct Phase {
    step: usize,
    /// What it takes alone.
    whole: Cycles,
    start: CyclePoint,
    end: CyclePoint,
}

/// A step that can start.
#[derive(Clone, Copy)]
struct Due {
    start: CyclePoint,
    /// The lane that it waits for longest.
    awaited: u8,
    frame: u32,
}

impl Progress {
    fn end(&mut self, at: CyclePoint, began: CyclePoint) {
        self.began = (began, self.ends.len());
        self.ends.push(at);
        self.free = at;
        self.step += 1;
    }

    /// The last step takes longer.
    fn lengthen(&mut self, by: Cycles, slices: &mut [Slice]) {
        self.free = self.free + by;
        for end in self.ends.iter_mut().skip(self.began.1) {
            *end = *end + by;
        }
        if let Some(slice) = self.last.and_then(|last| slices.get_mut(last)) {
            slice.end = slice.end + by;
        }
        if let Some(phase) = &mut self.phase {
            phase.end = phase.end + by;
        }
        if let Some((at, _)) = &mut self.tail {
            *at = *at + by;
        }
    }
}

/// Looks which step of a lane is next and whether it can start.
fn look(program: &Program, frames: u32, index: usize, lanes: &mut [Progress]) {
    let together = u32::from(program.frames.max(1));
    let steps = &program.lanes[index].steps;
    if lanes[index].step == steps.len() && !steps.is_empty() {
        lanes[index].run += 1;
        lanes[index].step = 0;
    }
    let Progress { run, step: number, free, .. } = lanes[index];
    let Some(step) = steps.get(number).filter(|_| run < frames.div_ceil(together)) else { return };
    let Some((ready, awaited)) = ready(program, (step, number), run, lanes) else { return };
    let frame = run * together + u32::from(step.frame);
    lanes[index].due = Some(Due { start: ready.max(free), awaited, frame });
}

/// The core is held at a time: its step that runs then takes longer, or its next one begins later.
fn hold_core(
    at: CyclePoint,
    hold: Cycles,
    core: usize,
    lanes: &mut [Progress],
    slices: &mut [Slice],
    held: &mut CyclePoint,
) {
    if hold.0 == 0 {
        return;
    }
    let lane = &mut lanes[core];
    let runs = lane.phase.filter(|phase| lane.began.0 <= at && at < phase.end);
    let Some(phase) = runs else {
        *held = at.max(*held) + hold;
        return;
    };
    if at < phase.start {
        // What the core does before its step takes longer.
        for slice in [lane.driver_overhead, lane.last].into_iter().flatten() {
            let Some(slice) = slices.get_mut(slice) else { continue };
            match slice.kind {
                SliceKind::DriverOverhead => slice.end = slice.end + hold,
                _ => slice.start = slice.start + hold,
            }
        }
        lane.phase = Some(Phase { start: phase.start + hold, ..phase });
    }
    lane.lengthen(hold, slices);
    // Whoever waits for that step waits longer.
    lanes.iter_mut().for_each(|lane| lane.due = None);
}

/// The core and an engine wait for each other from when on both run.
fn contend(
    core: usize,
    engine: usize,
    times: &impl Times,
    lanes: &mut [Progress],
    slices: &mut [Slice],
) {
    let (Some(computes), Some(moves)) = (lanes[core].phase, lanes[engine].phase) else { return };
    let from = computes.start.max(moves.start);
    let left = [computes.end.since(from), moves.end.since(from)];
    if left.contains(&Cycles(0)) {
        return;
    }
    let contention = times.contention(computes.step, engine, moves.step);
    let longer = contention.longer(computes.whole, left);
    for (lane, longer) in [core, engine].into_iter().zip(longer) {
        if longer.0 > 0 {
            lanes[lane].lengthen(longer, slices);
            lanes.iter_mut().for_each(|lane| lane.due = None);
        }
    }
}

/// When all that a step waits for has ended, and the lane that it waits for longest; nothing if that
/// is not known yet. The first step of a lane waits for all of the run before.
fn ready(
    program: &Program,
    (step, number): (&Step, usize),
    run: u32,
    lanes: &[Progress],
) -> Option<(CyclePoint, u8)> {
    let end = |lane: u8, step: u32| {
        let steps = program.lanes.get(usize::from(lane))?.steps.len();
        lanes[usize::from(lane)].ends.get(run as usize * steps + step as usize).copied()
    };
    let mut latest = (CyclePoint(0), 0);
    let mut wait = |at: CyclePoint, lane: u8| {
        if at >= latest.0 {
            latest = (at, lane);
        }
    };
    for after in step.after.iter().flatten() {
        wait(end(after.lane, after.step)?, after.lane);
    }
    if number == 0 {
        for (lane, (steps, progress)) in (0u8..).zip(program.lanes.iter().zip(lanes)) {
            if let Some(last) = (run as usize * steps.steps.len()).checked_sub(1) {
                wait(*progress.ends.get(last)?, lane);
            }
        }
    }
    Some(latest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::{After, Lane};

    fn step(layer: u16, after: Option<After>) -> Step {
        Step {
            after: [after, None, None],
            frame: 0,
            layer,
            instruction: Instruction::Compute {
                op: 0,
                tile: 0,
                first_view: 0,
                order: tilewright_plan::RowOrder::Whole,
            },
        }
    }

    fn program(frames: u16, lanes: Vec<Vec<Step>>) -> Program {
        Program {
            name: "main".to_owned(),
            frames,
            lanes: lanes.into_iter().map(|steps| Lane { kind: LaneKind::Core, steps }).collect(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    fn cost(cycles: u64) -> (Cycles, u64) {
        (Cycles(cycles), 0)
    }

    /// Steps of two lanes, where the end of an engine's holds the core.
    struct Held([u64; 2]);

    impl Times for Held {
        fn cost(&self, lane: usize, _: usize) -> (Cycles, u64) {
            cost(self.0[lane])
        }

        fn holds(&self, _: usize, _: usize) -> Holds {
            [Cycles(0), Cycles(5)]
        }
    }

    /// Steps of two lanes that use one bus.
    struct Beside([u64; 2], Contention);

    impl Times for Beside {
        fn cost(&self, lane: usize, _: usize) -> (Cycles, u64) {
            cost(self.0[lane])
        }

        fn contention(&self, _: usize, _: usize, _: usize) -> Contention {
            self.1
        }
    }

    #[test]
    fn lanes_that_use_one_bus_wait_for_each_other_as_long_as_both_run() {
        let lane = |kind, steps| Lane { kind, steps };
        let mut program = program(1, Vec::new());
        // 100 cycles of the core of which 40 are on the bus, that would wait 100 for an engine's bursts.
        let contention = Contention { waits: Cycles(100), used: Cycles(40) };
        let ends = |program: &Program, alone: [u64; 2]| {
            let slices =
                simulate(program, 1, &Beside(alone, contention), &Stop::default()).unwrap();
            let last = |lane| slices.iter().rfind(|slice| slice.lane == lane).unwrap().end.0;
            [last(0), last(1)]
        };
        let core = || lane(LaneKind::Core, vec![step(0, None)]);
        program.lanes = vec![core(), lane(LaneKind::Dma, vec![step(0, None)])];
        // The engine moves for 500 and 40 that the core uses; all of the core's step takes twice as long.
        assert_eq!(ends(&program, [100, 500]), [200, 540]);
        // It ends after 100, of which the core had 20, and 50 of its own.
        assert_eq!(ends(&program, [100, 80]), [150, 100]);
        // A second copy meets what is left of the step, after the core waited 50 for the first.
        program.lanes[1].steps.push(step(0, None));
        assert_eq!(ends(&program, [100, 40]), [150, 100]);
        // A copy that waits for another begins as late as this one ends.
        let wait = Some(After { lane: 1, step: 0 });
        program.lanes = vec![core(), lane(LaneKind::Dma, vec![step(0, None)])];
        program.lanes[0].steps.push(step(1, wait));
        assert_eq!(ends(&program, [100, 80]), [250, 100]);
    }

    #[test]
    fn a_step_waits_for_another_lane_and_the_stall_is_seen() {
        let after = After { lane: 1, step: 0 };
        let program = program(1, vec![vec![step(0, Some(after))], vec![step(1, None)]]);
        let slices =
            simulate(&program, 1, &|lane: usize, _| cost([10, 100][lane]), &Stop::default())
                .unwrap();
        let seen: Vec<_> =
            slices.iter().map(|s| (s.lane, s.kind, s.waits_for, s.start.0, s.end.0)).collect();
        assert_eq!(
            seen,
            [
                (0, SliceKind::Stall, Some(1), 0, 100),
                (0, SliceKind::Compute, None, 100, 110),
                (1, SliceKind::Compute, None, 0, 100),
            ]
        );
    }

    #[test]
    fn steps_that_wait_for_each_other_end_the_simulation() {
        let wait = |lane| Some(After { lane, step: 0 });
        let program = program(1, vec![vec![step(0, wait(1))], vec![step(0, wait(0))]]);
        let slices = simulate(&program, 3, &|_, _| cost(0), &Stop::default()).unwrap();
        assert!(slices.is_empty());
    }

    #[test]
    fn a_run_begins_when_all_of_the_one_before_has_ended() {
        // Lane 1 loads for two frames, 10 cycles each; lane 0 computes them, 30 cycles each.
        let loaded = |step| Some(After { lane: 1, step });
        let second = |step: Step| Step { frame: 1, ..step };
        let compute = vec![step(0, loaded(0)), second(step(0, loaded(1)))];
        let load = vec![step(0, None), second(step(0, None))];
        let program = program(2, vec![compute, load]);
        let slices =
            simulate(&program, 4, &|lane: usize, _| cost([30, 10][lane]), &Stop::default())
                .unwrap();
        let ends = |lane| {
            let of_lane = slices.iter().filter(move |s| s.lane == lane);
            of_lane.filter(|s| s.kind != SliceKind::Stall).map(|s| (s.frame, s.end.0))
        };
        assert_eq!(ends(1).collect::<Vec<_>>(), [(0, 10), (1, 20), (2, 80), (3, 90)]);
        assert_eq!(ends(0).collect::<Vec<_>>(), [(0, 40), (1, 70), (2, 110), (3, 140)]);
    }

    #[test]
    fn what_holds_the_core_makes_its_step_and_the_engines_next_later() {
        let lane = |kind, steps| Lane { kind, steps };
        let wait = Some(After { lane: 1, step: 1 });
        let core = lane(LaneKind::Core, vec![step(0, None), step(1, wait)]);
        let card = lane(LaneKind::Card, vec![step(0, None), step(1, None)]);
        let mut program = program(1, Vec::new());
        program.lanes = vec![core, card];
        let slices = simulate(&program, 1, &Held([40, 10]), &Stop::default()).unwrap();
        let spans = |lane, kind| {
            let of = slices.iter().filter(move |s| s.lane == lane && s.kind == kind);
            of.map(|s| (s.start.0, s.end.0)).collect::<Vec<_>>()
        };
        assert_eq!(spans(1, SliceKind::Compute), [(0, 15), (15, 30)]);
        // Two interrupts in the first step; the second waits for nothing any more.
        assert_eq!(spans(0, SliceKind::Compute), [(0, 50), (50, 90)]);
        // While the core waits it loses nothing.
        let slices = simulate(&program, 1, &Held([4, 10]), &Stop::default()).unwrap();
        let last = slices.iter().rfind(|slice| slice.lane == 0);
        assert_eq!(last.map(|slice| (slice.start.0, slice.end.0)), Some((30, 34)));
    }
}
