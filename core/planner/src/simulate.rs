//! Event simulation of a step program: when each step of each lane runs.

use crate::costs::{Cost, Costs};
use tilewright_board::Board;
use tilewright_plan::{CyclePoint, Instruction, Plan, Program, Step};
use tilewright_report::{Kind, Slice, SliceKind, Timeline};

/// Predicted timeline of the plan's first program that is not a boot program: one frame.
#[must_use]
pub fn predict(plan: &Plan, board: &Board, costs: &Costs) -> Timeline {
    let mut timeline = Timeline {
        clock_hz: board.core.clock.hertz,
        instructions_kind: Kind::Modelled,
        cycles_kind: Kind::Modelled,
        lanes: Vec::new(),
        slices: Vec::new(),
    };
    if let Some(program) = plan.programs.iter().find(|program| !program.boot) {
        timeline.lanes = program.lanes.iter().map(|lane| lane.kind).collect();
        timeline.slices = simulate(program, |step| match step.instruction {
            Instruction::Compute { op, tile, first_view, order } => {
                let tile = plan.tiles.get(tile as usize).copied().unwrap_or_default();
                plan.operands(op, first_view)
                    .map_or(Cost::default(), |(op, views)| costs.step(op, &tile, views, order))
            }
            Instruction::Copy { .. } | Instruction::Mark(_) => Cost::default(),
        });
    }
    timeline
}

/// Slices of one period of `program`: each lane runs in its own order, a step starts when the
/// step before it in its lane and all that it waits for have ended. Steps that wait in a circle
/// never start and have no slice.
pub fn simulate(program: &Program, cost: impl Fn(&Step) -> Cost) -> Vec<Slice> {
    let mut ends: Vec<Vec<CyclePoint>> = program.lanes.iter().map(|_| Vec::new()).collect();
    let mut slices = Vec::new();
    loop {
        let mut moved = false;
        for (lane_index, lane) in program.lanes.iter().enumerate() {
            while let Some(step) = lane.steps.get(ends[lane_index].len()) {
                let Some(ready) = ready(step, &ends) else { break };
                let free = ends[lane_index].last().copied().unwrap_or_default();
                let start = ready.max(free);
                let cost = cost(step);
                let end = start + cost.cycles;
                let number = ends[lane_index].len() as u32;
                if start > free {
                    slices.push(slice(lane_index, SliceKind::Stall, step, number, free, start, 0));
                }
                let kind = match step.instruction {
                    Instruction::Compute { .. } => Some(SliceKind::Compute),
                    Instruction::Copy { .. } => Some(SliceKind::Copy),
                    Instruction::Mark(_) => None,
                };
                if let Some(kind) = kind {
                    let counted = cost.instructions;
                    slices.push(slice(lane_index, kind, step, number, start, end, counted));
                }
                ends[lane_index].push(end);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    slices.sort_by_key(|slice| (slice.lane, slice.start, slice.end));
    slices
}

/// When all that a step waits for in its own period has ended; nothing if that is not known yet.
/// Steps of earlier periods have ended before a single period begins.
fn ready(step: &Step, ends: &[Vec<CyclePoint>]) -> Option<CyclePoint> {
    step.after
        .iter()
        .flatten()
        .filter(|after| after.periods == 0)
        .map(|after| ends.get(usize::from(after.lane))?.get(after.step as usize).copied())
        .try_fold(CyclePoint(0), |latest, end| Some(latest.max(end?)))
}

fn slice(
    lane: usize,
    kind: SliceKind,
    step: &Step,
    number: u32,
    start: CyclePoint,
    end: CyclePoint,
    instructions: u64,
) -> Slice {
    Slice {
        lane: lane as u8,
        kind,
        layer: step.layer,
        step: number,
        start,
        end,
        instructions,
        bytes: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::{After, Cycles, Lane, LaneKind};

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

    fn program(lanes: Vec<Vec<Step>>) -> Program {
        Program {
            name: "main".to_owned(),
            boot: false,
            stages: 1,
            lanes: lanes.into_iter().map(|steps| Lane { kind: LaneKind::Core, steps }).collect(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }

    #[test]
    fn a_step_waits_for_another_lane_and_the_stall_is_seen() {
        let after = After { lane: 1, step: 0, periods: 0 };
        let program = program(vec![vec![step(0, Some(after))], vec![step(1, None)]]);
        let slices = simulate(&program, |step| Cost {
            instructions: 0,
            cycles: Cycles(10 + u64::from(step.layer) * 90),
        });
        let seen: Vec<_> = slices.iter().map(|s| (s.lane, s.kind, s.start.0, s.end.0)).collect();
        assert_eq!(
            seen,
            [
                (0, SliceKind::Stall, 0, 100),
                (0, SliceKind::Compute, 100, 110),
                (1, SliceKind::Compute, 0, 100),
            ]
        );
    }

    #[test]
    fn steps_that_wait_for_each_other_end_the_simulation() {
        let wait = |lane| Some(After { lane, step: 0, periods: 0 });
        let program = program(vec![vec![step(0, wait(1))], vec![step(0, wait(0))]]);
        assert!(simulate(&program, |_| Cost::default()).is_empty());
    }
}
