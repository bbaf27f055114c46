//! Programs whose steps are made anew.

use tilewright_plan::{Lane, Plan, View};

/// Gives the plan's program these lanes instead of its own, and puts the views of what programs take and
/// give, which `given` holds, behind those of the steps.
pub fn replace(plan: &mut Plan, given: &[View], lanes: Vec<Lane>) {
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
