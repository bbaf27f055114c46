//! A program that runs once, at start: what it brings stays.

use super::emit::span;
use super::sequence::Place;
use tilewright_plan::{Instruction, Lane, LaneKind, Plan, Program, Step};

/// Bytes that are brought.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Where they are.
    pub from: Place,
    /// Where they go.
    pub to: Place,
    /// How many.
    pub bytes: u64,
}

/// Lets DMA bring bytes at start, so many at a time at most; in the plan's boot program, if it has one.
pub fn load(plan: &mut Plan, loads: &[Load], largest: u64) {
    let mut steps = Vec::new();
    for Load { from, to, bytes } in loads {
        let mut done = 0;
        while done < *bytes {
            let length = (bytes - done).min(largest);
            let source = plan.spans.len() as u32;
            for place in [from, to] {
                plan.spans.push(span(place.space, place.offset + done, length));
            }
            let instruction = Instruction::Copy { source, destination: source + 1, sum: None };
            steps.push(Step { after: [None; 3], frame: 0, layer: 0, instruction });
            done += length;
        }
    }
    let lanes = plan.programs.iter_mut().filter(|program| program.boot).flat_map(|p| &mut p.lanes);
    match lanes.into_iter().find(|lane| lane.kind == LaneKind::Dma) {
        Some(lane) => lane.steps.extend(steps),
        None => {
            let core = Lane { kind: LaneKind::Core, steps: Vec::new() };
            plan.programs.push(Program {
                name: "load".to_owned(),
                boot: true,
                frames: 1,
                lanes: vec![core, Lane { kind: LaneKind::Dma, steps }],
                inputs: Vec::new(),
                outputs: Vec::new(),
            });
        }
    }
}
