//! The steps of a plan as text, in which tables, block numbers and doubled waits make no difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use tilewright_plan::{Constant, Instruction, Plan, Program, Space, Span, Step, View};

/// What a step is, from all of it to the least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its lane, its frame, its layer and what it does, with all that its tables say.
    pub what: String,
    /// Its lane and the bytes that it reads or writes.
    pub touches: String,
    /// The steps of other lanes that it waits for, without those that another wait or its own lane implies.
    pub waits: String,
}

/// All steps of all programs, each lane in its order; behind them what lies where in flash, external flash
/// and card.
pub fn lines(plan: &Plan) -> Vec<Line> {
    let mut lines = Vec::new();
    for program in plan.programs() {
        let mut reached = reached(program);
        for (lane, steps) in program.lanes.iter().enumerate() {
            for (index, step) in steps.steps.iter().enumerate() {
                let place = format!("{}/{lane}", program.name);
                lines.push(Line {
                    what: format!("{place} f{} {}", step.frame, what(plan, step)),
                    touches: format!("{place} {}", touches(plan, step)),
                    waits: std::mem::take(&mut reached[lane][index].waits),
                });
            }
        }
    }
    let mut constants: Vec<&Constant> = plan.constants.iter().collect();
    constants.sort_by_key(|constant| (constant.space, constant.offset));
    lines.extend(constants.into_iter().map(|constant| {
        let Constant { node, role, op: _, copies: _, part, cuts: _, space, offset, bytes } =
            constant;
        let touches = format!("{space:?} {offset}+{}", bytes.0);
        Line { what: format!("{touches} {node} {role:?} {part:?}"), touches, waits: String::new() }
    }));
    lines
}

/// Bytes that copies move, by where from and where to; bytes of each space.
pub fn moved(plan: &Plan) -> BTreeMap<String, u64> {
    let mut moved = BTreeMap::new();
    let steps = plan.programs().flat_map(|program| &program.lanes).flat_map(|lane| &lane.steps);
    for step in steps {
        if let Instruction::Copy { source, destination, .. } = step.instruction {
            let [from, to] = [source, destination].map(|span| plan.spans.get(span as usize));
            let (Some(from), Some(to)) = (from, to) else { continue };
            *moved.entry(format!("{:?} to {:?}", from.space(), to.space())).or_default() +=
                from.bytes();
        }
    }
    moved.extend(Space::ALL.map(|space| (format!("{space:?}"), plan.space(space).0)));
    moved
}

fn what(plan: &Plan, step: &Step) -> String {
    let layer = plan.layers.get(usize::from(step.layer)).map_or("", |layer| layer.name.as_str());
    match step.instruction {
        Instruction::Compute { op, tile, first_view, order } => {
            let tile = plan.tiles.get(tile as usize);
            match plan.operands(op, first_view) {
                Some((op, views)) => format!("{layer} {order:?} {op:?} {tile:?} {views:?}"),
                None => format!("{layer} outside of its tables"),
            }
        }
        Instruction::Copy { source, destination, sum } => {
            let [from, to] = [source, destination].map(|span| plan.spans.get(span as usize));
            format!("{layer} {from:?} {to:?} {}", sum.is_some())
        }
        Instruction::Exit { .. } => format!("{layer} {:?}", step.instruction),
        Instruction::Arrive { view } => {
            format!("{layer} arrives at {:?}", plan.views.get(view as usize))
        }
    }
}

fn touches(plan: &Plan, step: &Step) -> String {
    let mut text = String::new();
    match step.instruction {
        Instruction::Compute { op, first_view, .. } => {
            for view in plan.operands(op, first_view).map_or(&[][..], |(_, views)| views) {
                let View { offset, .. } = view;
                let _ = write!(text, "{:?} {offset}+{} ", view.space(), view.extent());
            }
        }
        Instruction::Copy { source, destination, .. } => {
            for span in [source, destination] {
                let Some(span) = plan.spans.get(span as usize) else { continue };
                let Span { offset, rows, row_bytes, pitch, .. } = span;
                let _ = write!(text, "{:?} {offset}+{rows}x{row_bytes}/{pitch} ", span.space());
            }
        }
        Instruction::Exit { .. } => text = format!("{:?}", step.instruction),
        Instruction::Arrive { view } => {
            if let Some(view) = plan.views.get(view as usize) {
                let _ = write!(text, "{:?} {}+{}", view.space(), view.offset, view.extent());
            }
        }
    }
    text
}

/// How far each lane is when a step starts.
#[derive(Clone, Default)]
struct Reached {
    /// Steps of each lane that have ended.
    ended: Vec<u32>,
    waits: String,
}

/// What every step of a program waits for. Steps that wait in a circle have no text.
fn reached(program: &Program) -> Vec<Vec<Reached>> {
    let lanes = program.lanes.len();
    let mut all: Vec<Vec<Reached>> =
        program.lanes.iter().map(|lane| vec![Reached::default(); lane.steps.len()]).collect();
    let mut next = vec![0; lanes];
    loop {
        let before: usize = next.iter().sum();
        for lane in 0..lanes {
            while let Some(step) = program.lanes[lane].steps.get(next[lane]) {
                let waits: Vec<_> = step.after.iter().flatten().copied().collect();
                let is_due = |(other, index): (usize, usize)| next.get(other) > Some(&index);
                if !waits.iter().all(|after| is_due((after.lane.into(), after.step as usize))) {
                    break;
                }
                let own = match next[lane].checked_sub(1) {
                    Some(last) => after(&all, lane, last),
                    None => vec![0; lanes],
                };
                let clocks: Vec<Vec<u32>> = waits
                    .iter()
                    .map(|wait| after(&all, wait.lane.into(), wait.step as usize))
                    .collect();
                // A wait says something if neither the lane nor another wait implies it.
                let mut text = Vec::new();
                for (at, wait) in waits.iter().enumerate() {
                    let lane = usize::from(wait.lane);
                    let implied = own[lane] > wait.step
                        || clocks.iter().enumerate().any(|(other, clock)| {
                            other != at
                                && clock[lane] > wait.step
                                && (clock != &clocks[at] || other < at)
                        });
                    if !implied {
                        text.push(format!("{lane}:{}", wait.step));
                    }
                }
                text.sort();
                let mut ended = own;
                for clock in clocks {
                    for (ended, other) in ended.iter_mut().zip(clock) {
                        *ended = (*ended).max(other);
                    }
                }
                all[lane][next[lane]] = Reached { ended, waits: text.join(" ") };
                next[lane] += 1;
            }
        }
        if next.iter().sum::<usize>() == before {
            return all;
        }
    }
}

/// What has ended when a step has.
fn after(all: &[Vec<Reached>], lane: usize, step: usize) -> Vec<u32> {
    let mut ended = all[lane][step].ended.clone();
    ended[lane] = ended[lane].max(step as u32 + 1);
    ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::{After, Lane, LaneKind};

    #[test]
    fn waits_that_others_imply_make_no_difference() {
        let step = |after: &[(u8, u32)]| {
            let mut waits = [None; 3];
            for (wait, (lane, step)) in waits.iter_mut().zip(after) {
                *wait = Some(After { lane: *lane, step: *step });
            }
            Step { after: waits, frame: 0, layer: 0, instruction: Instruction::Arrive { view: 0 } }
        };
        let lane = |kind, steps: Vec<Step>| Lane { kind, steps };
        let program = |core: Vec<Step>| Program {
            name: "main".to_owned(),
            frames: 1,
            lanes: vec![
                lane(LaneKind::Core, core),
                lane(LaneKind::Dma, vec![step(&[(2, 0)]), step(&[])]),
                lane(LaneKind::Card, vec![step(&[])]),
            ],
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        let waits = |core| -> Vec<String> {
            reached(&program(core))[0].iter().map(|step| step.waits.clone()).collect()
        };
        let few = waits(vec![step(&[(1, 0)]), step(&[(1, 1)])]);
        assert_eq!(few, ["1:0", "1:1"]);
        assert_eq!(waits(vec![step(&[(2, 0), (1, 0)]), step(&[(1, 0), (1, 1), (2, 0)])]), few);
        assert_ne!(waits(vec![step(&[(2, 0)]), step(&[(1, 1)])]), few);
    }
}
