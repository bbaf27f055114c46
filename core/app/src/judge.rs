//! A run whose every layer is compared with the reference interpreter.

use tilewright_board::Board;
use tilewright_check::reference::{
    Read, expected_outputs, expected_until, first_mismatch, inputs_of_frames, layer_outputs,
};
use tilewright_model::{Data, Model, RunError};
use tilewright_planner::Planned;
use tilewright_protocol::Mode;
use tilewright_report::{Difference, sentence};

use crate::bounds::Until;
use crate::diagnostic::Diagnostic;
use crate::host::Host;
use crate::planning::plan_file;
use crate::progress::Stage;
use crate::result::Done;
use crate::run::{RunOptions, bytes_of, run_image};

/// Runs a plan of `model` on `inputs` (int8, in the order of the model's inputs; other frames of the program get
/// [others](inputs_of_frames)) and compares the
/// output of every layer with the reference interpreter's, unless the run is sampled.
///
/// # Errors
/// As [`run_image`]; besides if the plan does not fit, or the reference takes longer than a worker
/// may. A difference from the reference is a
/// result, as is a fault of the emulated board.
pub fn run_plan(
    options: &RunOptions<'_>,
    board: &Board,
    model: &Model,
    planned: &Planned,
    inputs: &[Data],
    host: &dyn Host,
) -> Result<Done, Diagnostic> {
    let file = plan_file(planned, model, board, options.integrity, host)?;
    let inputs = &inputs_of_frames(inputs, planned.plan.frames());
    let payload = bytes_of(inputs);
    let mut done = run_image(options, board, &file, &payload, true, host)?;
    done.result.plan = Some(planned.report.clone());
    done.result.read_indices(model);
    if done.result.fault.is_some() || options.mode == Mode::Sampled {
        return Ok(done);
    }
    host.begin(Stage::Comparing)?;
    let until = Until::new(host, options.comparing);
    let (difference, compared) = difference(planned, model, inputs, &done, &until)?;
    done.result.verified = Some(difference.is_none());
    done.result.compared_layers = compared;
    done.result.difference = difference;
    Ok(done)
}

/// The first difference, and the number of layers that were compared.
fn difference(
    planned: &Planned,
    model: &Model,
    inputs: &[Data],
    done: &Done,
    until: &Until<'_>,
) -> Result<(Option<Difference>, usize), Diagnostic> {
    let plan = &planned.plan;
    let failed = |error| match error {
        RunError::Stopped => until.problem("Comparing", "Give a smaller model."),
        error => Diagnostic::ours(sentence(&error.to_string()), "reference interpreter"),
    };
    let is_over = || until.is_over();
    let mut reference =
        expected_until(plan, planned.model(model), inputs, &is_over).map_err(failed)?;
    if planned.tiled.is_some() {
        // What comes out is that of the model itself, whatever the graph in tiles computes.
        reference.outputs = expected_outputs(model, inputs, &is_over).map_err(failed)?;
    }
    let watched = done.layers.as_deref().unwrap_or(&[]);
    let found: Vec<_> = layer_outputs(plan)
        .into_iter()
        .filter_map(|output| {
            let layer = watched.iter().find(|watched| watched.layer == output.layer)?;
            let (space, start, bytes) = (layer.space, layer.start.into(), layer.bytes.as_deref()?);
            Some((output, output.elements(&Read { space, start, bytes })))
        })
        .collect();
    let compared = found.len();
    if let Some(mismatch) = first_mismatch(plan, &reference, &found) {
        let difference = Difference {
            layer: mismatch.layer_name,
            tensor: mismatch.tensor,
            element: mismatch.element,
            expected: mismatch.expected,
            found: mismatch.found,
            differing: mismatch.differing,
        };
        return Ok((Some(difference), compared));
    }
    // The outputs are layers' outputs, but read where the program says that they are.
    let outputs = &reference.outputs;
    let pairs = outputs.iter().zip(&done.result.outputs);
    for (expected, output) in pairs {
        let values = expected.iter().zip(&output.values);
        let mut differing = values.enumerate().filter(|(_, (expected, found))| expected != found);
        if let Some((element, (expected, found))) = differing.next() {
            let difference = Difference {
                layer: String::new(),
                tensor: output.name.clone(),
                element: element as u64,
                expected: *expected,
                found: *found,
                differing: 1 + differing.count() as u64,
            };
            return Ok((Some(difference), compared));
        }
    }
    let whole = outputs.len() == done.result.outputs.len()
        && outputs.iter().zip(&done.result.outputs).all(|(a, b)| a.len() == b.values.len());
    if whole {
        return Ok((None, compared));
    }
    Err(Diagnostic::ours("The run gave other outputs than the model has.", "outputs"))
}
