//! Programs whose steps are made anew.

use tilewright_plan::{Lane, Plan, View};

/// Gives the plan's program these lanes instead of its own, and puts the views of what programs take and
/// give, which `given` holds, behind those of the steps. The first lane is the core's. Other lanes without steps are
/// left out, since firmware refuses those whose engine it does not drive; steps name the lanes that are left.
pub fn replace(plan: &mut Plan, given: &[View], mut lanes: Vec<Lane>) {
    let mut numbers = vec![0u8; lanes.len()];
    let mut next = 1;
    for (number, lane) in numbers.iter_mut().zip(&lanes).skip(1) {
        *number = next;
        next += u8::from(!lane.steps.is_empty());
    }
    let mut place = 0;
    lanes.retain(|lane| {
        place += 1;
        place == 1 || !lane.steps.is_empty()
    });
    for step in lanes.iter_mut().flat_map(|lane| &mut lane.steps) {
        for after in step.after.iter_mut().flatten() {
            after.lane = numbers.get(usize::from(after.lane)).copied().unwrap_or(after.lane);
        }
    }

    let Plan { programs, views, .. } = plan;
    for program in programs.iter_mut().filter(|program| !program.boot) {
        for io in program.inputs.iter_mut().chain(&mut program.outputs) {
            let view = given.get(io.view as usize).copied().unwrap_or_default();
            io.view = views.len() as u32;
            views.push(view);
        }
    }
    if let Some(program) = programs.iter_mut().find(|program| !program.boot) {
        program.lanes = lanes;
    }
}
