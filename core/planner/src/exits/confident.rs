//! Exits by confidence: behind the steps that make an output the core looks whether it is certain enough.

use tilewright_plan::{After, Instruction, Plan, Program, Step};

use super::lanes::sequence;
use super::needed::last_writers;
use super::{Confidence, ExitError};
use crate::narrow::narrow;

/// An exit between two steps of the core.
struct Exit {
    /// The step of the core before which it stands.
    before: usize,
    step: Step,
}

/// The program with an exit for each output but the last one that is made.
///
/// # Errors
/// [`ExitError`] if runs work on several frames, or an output holds no probabilities.
pub fn with_exits(
    plan: &Plan,
    mut program: Program,
    confidence: Confidence,
) -> Result<Program, ExitError> {
    if program.frames != 1 {
        return Err(ExitError::Frames(program.frames));
    }
    let all = sequence(&program);
    let mut exits = Vec::new();
    for (output, io) in (0u16..).zip(&program.outputs) {
        let Some(view) = plan.views.get(io.view as usize) else { continue };
        let name = plan.tensors.get(io.tensor as usize).map_or("", |tensor| tensor.name.as_str());
        let least = confidence.least(name, io.scale, io.zero);
        let instruction = Instruction::Exit { output, least: least? };
        let mut exit =
            Exit { before: 0, step: Step { after: [None; 3], frame: 0, layer: 0, instruction } };
        let mut waits = exit.step.after.iter_mut();
        for (lane, step) in last_writers(plan, &program, view) {
            exit.step.layer = exit.step.layer.max(program.lanes[lane].steps[step].layer);
            if lane == 0 {
                exit.before = exit.before.max(step + 1);
                continue;
            }
            // It stands behind what the engine's step waits for, or the two would wait for each other.
            let writer = all.iter().find(|placed| (placed.lane, placed.step) == (lane, step));
            let behind = writer.map_or(0, |placed| placed.ended[0] as usize);
            exit.before = exit.before.max(behind);
            if let Some(wait) = waits.next() {
                *wait = Some(After { lane: narrow(lane), step: narrow(step) });
            }
        }
        exits.push(exit);
    }
    exits.sort_by_key(|exit| exit.before);
    // Whatever is made last ends the run anyway.
    exits.pop();
    let moved = |step: u32| {
        let before = exits.iter().filter(|exit| exit.before <= step as usize).count();
        step + narrow::<u32>(before)
    };
    for step in program.lanes.iter_mut().flat_map(|lane| &mut lane.steps) {
        for after in step.after.iter_mut().flatten().filter(|after| after.lane == 0) {
            after.step = moved(after.step);
        }
    }
    if let Some(core) = program.lanes.first_mut() {
        for (number, exit) in exits.into_iter().enumerate() {
            core.steps.insert(exit.before + number, exit.step);
        }
    }
    Ok(program)
}
