//! Lanes that run together, over several periods.

use std::ops::Range;

use crate::costs::Cost;
use tilewright_plan::{CyclePoint, Cycles, Instruction, LaneKind, Program, Step};
use tilewright_report::{Slice, SliceKind};

/// How long the core is held by the beginning of an engine's step, and by its end; the step takes as much
/// longer.
pub type Holds = [Cycles; 2];

/// Slices of `frames` frames of `program`: each lane runs in its own order, one period after the
/// other; a step starts when the step before it in its lane and all that it waits for have ended. In
/// period p a step of stage s works on frame p − s, if there is one. Steps that wait in a circle
/// never start and have no slice. `cost` is that of a step of a lane, with the bytes that it moves.
pub fn simulate(
    program: &Program,
    frames: u32,
    cost: impl Fn(usize, usize) -> (Cost, u64),
) -> Vec<Slice> {
    simulate_holding(program, frames, cost, |_, _| Holds::default(), |_| Cycles(0))
}

/// The same where beginning and end of engines' steps hold the core for as long as `holds` says, in
/// interrupts: its own step and the engine's next go on behind it. Before each of its own steps the core is
/// busy for as long as `before` says, once all that the step waits for has ended. `cost` is without these.
pub fn simulate_holding(
    program: &Program,
    frames: u32,
    cost: impl Fn(usize, usize) -> (Cost, u64),
    holds: impl Fn(usize, usize) -> Holds,
    before: impl Fn(usize) -> Cycles,
) -> Vec<Slice> {
    let mut lanes: Vec<Progress> = program.lanes.iter().map(|_| Progress::default()).collect();
    let core = program.lanes.iter().position(|lane| lane.kind == LaneKind::Core);
    let mut slices: Vec<Slice> = Vec::new();
    // When the core is held, and for how long, as far as no step of its own is longer for it yet.
    let mut held: Vec<(CyclePoint, Cycles)> = Vec::new();
    loop {
        let mut moved = false;
        for index in 0..lanes.len() {
            moved |= lanes[index].due.is_none() && look(program, frames, index, &mut lanes);
        }
        // The earliest, so that what holds the core is known before steps behind it begin.
        let due = lanes.iter().enumerate();
        let due = due.filter_map(|(index, lane)| Some((lane.due?.start, index)));
        let Some((_, index)) = due.min() else {
            if moved {
                continue;
            }
            break;
        };
        let Some(Due { start, awaited, frame }) = lanes[index].due.take() else { break };
        let Progress { step: number, free, .. } = lanes[index];
        let step = &program.lanes[index].steps[number];
        let (cost, bytes) = cost(index, number);
        let mut span = start..start + cost.cycles;
        if core == Some(index) {
            let mut handling = start..start + before(number);
            hold_back(&mut held, &mut handling);
            span = handling.end..handling.end + cost.cycles;
            hold_back(&mut held, &mut span);
        }
        let slice = Slice {
            lane: index as u8,
            kind: SliceKind::Stall,
            waits_for: None,
            layer: step.layer,
            step: number as u32,
            frame,
            start: free,
            end: start,
            instructions: 0,
            bytes: 0,
        };
        if slice.end > slice.start {
            slices.push(Slice { waits_for: Some(awaited), ..slice });
        }
        if span.start > start {
            slices.push(Slice { kind: SliceKind::Handling, start, end: span.start, ..slice });
        }
        if let Some(core) = core.filter(|core| *core != index) {
            let [begin, end] = holds(index, number);
            for (at, hold) in [(span.start, begin), (span.end + begin, end)] {
                span.end = span.end + hold;
                hold_core(at, hold, core, &mut lanes, &mut slices, &mut held);
            }
        }
        let kind = match step.instruction {
            Instruction::Compute { .. } => Some(SliceKind::Compute),
            Instruction::Copy { .. } => Some(SliceKind::Copy),
            Instruction::Mark(_) => None,
        };
        if let Some(kind) = kind {
            let instructions = cost.instructions;
            let (start, end) = (span.start, span.end);
            lanes[index].last = Some(slices.len());
            slices.push(Slice { kind, start, end, instructions, bytes, ..slice });
        }
        lanes[index].end(span.end);
    }
    // A lane's own slices are in order already.
    slices.sort_by_key(|slice| slice.lane);
    slices
}

/// How far a lane is.
#[derive(Default)]
struct Progress {
    period: u32,
    /// Next step of the period.
    step: usize,
    /// When the step before has ended.
    free: CyclePoint,
    /// When each step so far has ended, period after period.
    ends: Vec<CyclePoint>,
    /// The next step, once all that it waits for has been simulated.
    due: Option<Due>,
    /// The slice of the last step that took time.
    last: Option<usize>,
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
    fn end(&mut self, at: CyclePoint) {
        self.ends.push(at);
        self.free = at;
        self.step += 1;
    }

    /// The last step takes longer.
    fn lengthen(&mut self, by: Cycles) {
        self.free = self.free + by;
        if let Some(end) = self.ends.last_mut() {
            *end = self.free;
        }
    }
}

/// Looks which step of a lane is next and whether it can start; whether that has changed anything.
fn look(program: &Program, frames: u32, index: usize, lanes: &mut [Progress]) -> bool {
    let periods = frames.saturating_add(u32::from(program.stages.max(1)) - 1);
    let steps = &program.lanes[index].steps;
    let mut moved = false;
    while lanes[index].period < periods {
        let Progress { period, step: number, free, .. } = lanes[index];
        let Some(step) = steps.get(number) else {
            lanes[index].period += 1;
            lanes[index].step = 0;
            continue;
        };
        let Some(frame) = frame(step, period, frames) else {
            lanes[index].end(free);
            moved = true;
            continue;
        };
        let Some((ready, awaited)) = ready(program, step, period, lanes) else { break };
        lanes[index].due = Some(Due { start: ready.max(free), awaited, frame });
        return true;
    }
    moved
}

/// The core is held at a time: its step that runs then takes longer, or its next one begins later.
fn hold_core(
    at: CyclePoint,
    hold: Cycles,
    core: usize,
    lanes: &mut [Progress],
    slices: &mut [Slice],
    held: &mut Vec<(CyclePoint, Cycles)>,
) {
    if hold.0 == 0 {
        return;
    }
    let running = lanes[core].last.filter(|slice| slices[*slice].end > at);
    match running.filter(|slice| slices[*slice].start <= at) {
        Some(slice) => {
            slices[slice].end = slices[slice].end + hold;
            lanes[core].lengthen(hold);
            // Whoever waits for that step waits longer.
            lanes.iter_mut().for_each(|lane| lane.due = None);
        }
        None => held.push((at, hold)),
    }
}

/// A step of the core begins and ends later by what holds the core meanwhile.
fn hold_back(held: &mut Vec<(CyclePoint, Cycles)>, span: &mut Range<CyclePoint>) {
    held.sort_unstable();
    held.retain(|(at, hold)| {
        if *at >= span.end {
            return true;
        }
        if *at >= span.start {
            span.end = span.end + *hold;
        } else {
            let late = (*at + *hold).since(span.start);
            *span = span.start + late..span.end + late;
        }
        false
    });
}

/// The frame that a step works on in this period.
fn frame(step: &Step, period: u32, frames: u32) -> Option<u32> {
    period.checked_sub(u32::from(step.stage)).filter(|frame| *frame < frames)
}

/// When all that a step waits for has ended, and the lane that it waits for longest; nothing if that
/// is not known yet. What lies before the first period has ended.
fn ready(
    program: &Program,
    step: &Step,
    period: u32,
    lanes: &[Progress],
) -> Option<(CyclePoint, u8)> {
    let mut latest = (CyclePoint(0), 0);
    for after in step.after.iter().flatten() {
        let Some(period) = period.checked_sub(u32::from(after.periods)) else { continue };
        let steps = program.lanes.get(usize::from(after.lane))?.steps.len();
        let index = period as usize * steps + after.step as usize;
        let end = *lanes[usize::from(after.lane)].ends.get(index)?;
        if end >= latest.0 {
            latest = (end, after.lane);
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
            stage: 0,
            layer,
            instruction: Instruction::Compute {
                op: 0,
                tile: 0,
                first_view: 0,
                order: tilewright_plan::RowOrder::Whole,
            },
        }
    }

    fn program(stages: u16, lanes: Vec<Vec<Step>>) -> Program {
        Program {
            name: "main".to_owned(),
            boot: false,
            stages,
            lanes: lanes.into_iter().map(|steps| Lane { kind: LaneKind::Core, steps }).collect(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    fn cost(cycles: u64) -> (Cost, u64) {
        (Cost { instructions: 0, cycles: Cycles(cycles) }, 0)
    }

    #[test]
    fn a_step_waits_for_another_lane_and_the_stall_is_seen() {
        let after = After { lane: 1, step: 0, periods: 0 };
        let program = program(1, vec![vec![step(0, Some(after))], vec![step(1, None)]]);
        let slices = simulate(&program, 1, |lane, _| cost([10, 100][lane]));
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
        let wait = |lane| Some(After { lane, step: 0, periods: 0 });
        let program = program(1, vec![vec![step(0, wait(1))], vec![step(0, wait(0))]]);
        assert!(simulate(&program, 3, |_, _| cost(0)).is_empty());
    }

    #[test]
    fn a_load_one_frame_ahead_overlaps_with_the_frame_before() {
        // Lane 1 loads, 10 cycles; lane 0 computes the frame loaded a period before, 30 cycles; the
        // next load needs the buffer that the compute of two periods ago has left.
        let load = step(0, Some(After { lane: 0, step: 0, periods: 1 }));
        let loaded = Some(After { lane: 1, step: 0, periods: 1 });
        let compute = Step { stage: 1, ..step(0, loaded) };
        let program = program(2, vec![vec![compute], vec![load]]);
        let slices = simulate(&program, 4, |lane, _| cost([30, 10][lane]));
        let ends = |lane| {
            let of_lane = slices.iter().filter(move |s| s.lane == lane);
            of_lane.filter(|s| s.kind != SliceKind::Stall).map(|s| (s.frame, s.end.0))
        };
        assert_eq!(ends(1).collect::<Vec<_>>(), [(0, 10), (1, 20), (2, 50), (3, 80)]);
        assert_eq!(ends(0).collect::<Vec<_>>(), [(0, 40), (1, 70), (2, 100), (3, 130)]);
    }

    #[test]
    fn what_holds_the_core_makes_its_step_and_the_engines_next_later() {
        let lane = |kind, steps| Lane { kind, steps };
        let wait = Some(After { lane: 1, step: 1, periods: 0 });
        let core = lane(LaneKind::Core, vec![step(0, None), step(1, wait)]);
        let card = lane(LaneKind::Card, vec![step(0, None), step(1, None)]);
        let mut program = program(1, Vec::new());
        program.lanes = vec![core, card];
        let holds = |lane: usize, _| [Cycles(0), Cycles([0, 5][lane])];
        let none = |_| Cycles(0);
        let slices = simulate_holding(&program, 1, |lane, _| cost([40, 10][lane]), holds, none);
        let spans = |lane, kind| {
            let of = slices.iter().filter(move |s| s.lane == lane && s.kind == kind);
            of.map(|s| (s.start.0, s.end.0)).collect::<Vec<_>>()
        };
        assert_eq!(spans(1, SliceKind::Compute), [(0, 15), (15, 30)]);
        // Two interrupts in the first step; the second waits for nothing any more.
        assert_eq!(spans(0, SliceKind::Compute), [(0, 50), (50, 90)]);
        // While the core waits it loses nothing.
        let slices = simulate_holding(&program, 1, |lane, _| cost([4, 10][lane]), holds, none);
        let last = slices.iter().rfind(|slice| slice.lane == 0);
        assert_eq!(last.map(|slice| (slice.start.0, slice.end.0)), Some((30, 34)));
    }
}
