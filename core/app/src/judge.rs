//! A run whose every layer is compared with the reference interpreter.

use tilewright_board::Board;
use tilewright_check::reference::{
    Read, expected_outputs, expected_until, first_mismatch, inputs_of_frames, layer_outputs,
};
use tilewright_model::{Data, Model, RunError};
use tilewright_planner::Planned;
use tilewright_report::{Comparison, Diagnostic, Difference, LayerCheck, Mode, sentence};

use crate::bounds::Until;
use crate::host::Host;
use crate::planning::plan_file;
use crate::progress::Stage;
use crate::result::{Done, LayerBytes, read_indices};
use crate::run::{RunOptions, bytes_of, run_image};

/// Runs a plan of `model` on `inputs`: int8, in the order of the model's inputs; other frames of the
/// program get [others](inputs_of_frames). Compares the output of every layer with the reference
/// interpreter's, unless the run is sampled.
///
/// # Errors
/// As [`run_image`]; besides if the plan does not fit, or comparing takes longer than it may. A
/// difference from the reference is a result, as is a fault of the emulated board.
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
    read_indices(&mut done.result, model);
    if done.result.fault.is_some() || options.mode == Mode::Sampled {
        return Ok(done);
    }
    host.begin(Stage::Comparing)?;
    let until = Until::new(host, options.comparing);
    let layers = done.layers.as_deref().unwrap_or(&[]);
    let outputs: Vec<&[i8]> = done.result.outputs.iter().map(|o| o.values.as_slice()).collect();
    let comparison = compared(planned, model, inputs, layers, &outputs, &until)?;
    done.result.verified = Some(comparison.difference.is_none());
    done.result.compared_layers = comparison.layers.len().into();
    done.result.difference = comparison.difference;
    Ok(done)
}

/// Compares what a run of a plan gave with the reference on `inputs`, those of all frames: the output
/// of each of `layers` that was read, then the `outputs` of the program, frame by frame.
///
/// # Errors
/// If the inputs do not suit the model, or somebody wants an end.
pub fn compare(
    planned: &Planned,
    model: &Model,
    inputs: &[Data],
    layers: &[LayerBytes],
    outputs: &[&[i8]],
    host: &dyn Host,
) -> Result<Comparison, Diagnostic> {
    compared(planned, model, inputs, layers, outputs, &Until::new(host, None))
}

fn compared(
    planned: &Planned,
    model: &Model,
    inputs: &[Data],
    layers: &[LayerBytes],
    outputs: &[&[i8]],
    until: &Until<'_>,
) -> Result<Comparison, Diagnostic> {
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
    let found: Vec<_> = layer_outputs(plan)
        .into_iter()
        .filter_map(|output| {
            let layer = layers.iter().find(|read| read.layer == output.layer)?;
            let (space, start, bytes) = (layer.space, layer.start.into(), layer.bytes.as_deref()?);
            Some((output, output.elements(&Read { space, start, bytes })))
        })
        .collect();
    let checks = found.iter().map(|(output, bytes)| {
        let values = reference.layers.get(output.layer as usize).map_or(&[][..], Vec::as_slice);
        check(output.layer, values, bytes)
    });
    let checks = checks.collect();
    let difference = match first_mismatch(plan, &reference, &found) {
        Some(first) => Some(Difference {
            layer: first.layer_name,
            tensor: first.tensor,
            element: first.element,
            expected: first.expected,
            found: first.found,
            differing: first.differing,
        }),
        // The outputs are layers' outputs, but read where the program says that they are.
        None => difference(planned, &reference.outputs, outputs)?,
    };
    Ok(Comparison { layers: checks, difference })
}

/// Elements of a layer that were read, and those of them that differ.
fn check(layer: u32, expected: &[i8], found: &[Option<u8>]) -> LayerCheck {
    let read = expected.iter().zip(found).filter_map(|(value, byte)| Some((*value, (*byte)?)));
    let (mut elements, mut differing) = (0, found.len().abs_diff(expected.len()) as u64);
    for (value, byte) in read {
        elements += 1;
        differing += u64::from(value != byte.cast_signed());
    }
    LayerCheck { layer, elements, differing }
}

/// The first difference of the program's outputs.
fn difference(
    planned: &Planned,
    expected: &[Vec<i8>],
    found: &[&[i8]],
) -> Result<Option<Difference>, Diagnostic> {
    let sizes = |all: &mut dyn Iterator<Item = usize>| all.collect::<Vec<_>>();
    if sizes(&mut expected.iter().map(Vec::len)) != sizes(&mut found.iter().map(|f| f.len())) {
        return Err(Diagnostic::ours("The run gave other outputs than the model has.", "outputs"));
    }
    let program = planned.plan.main.as_ref();
    let outputs = program.map_or(&[][..], |program| &program.outputs);
    let tensors = outputs.iter().map(|output| output.tensor).cycle();
    for ((expected, found), tensor) in expected.iter().zip(found).zip(tensors) {
        let values = expected.iter().zip(*found);
        let mut differing = values.enumerate().filter(|(_, (expected, found))| expected != found);
        if let Some((element, (expected, found))) = differing.next() {
            let tensor = planned.plan.tensors.get(tensor as usize);
            return Ok(Some(Difference {
                layer: String::new(),
                tensor: tensor.map(|tensor| tensor.name.clone()).unwrap_or_default(),
                element: element as u64,
                expected: *expected,
                found: *found,
                differing: 1 + differing.count() as u64,
            }));
        }
    }
    Ok(None)
}
