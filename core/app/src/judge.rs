//! A run whose every layer is compared with the reference interpreter.

use std::borrow::Cow;
use std::ops::Range;

use tilewright_board::Board;
use tilewright_check::reference::{
    Expected, Read, expected_outputs, expected_until, first_mismatch, inputs_of_frames,
    layer_outputs,
};
use tilewright_model::{Data, Model, RunError};
use tilewright_plan::{Plan, Program};
use tilewright_planner::Planned;
use tilewright_protocol::Invoke;
use tilewright_report::{
    Comparison, Diagnostic, Difference, LayerCheck, Mode, RunResult, sentence,
};

use crate::bounds::Until;
use crate::host::Host;
use crate::layer_bytes::LayerBytes;
use crate::planning::plan_file;
use crate::progress::Stage;
use crate::result::{Done, name_classes};
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
    let main = of_main(&planned.plan);
    let of_invoke = |invoke: &Invoke| planned.plan.subnetwork_of_entry(invoke.entry?);
    let subnetwork = done.invokes.last().and_then(of_invoke);
    let made = subnetwork
        .and_then(|index| planned.plan.subnetworks.get(index))
        .map_or(main.clone(), |own| own.outputs.clone());
    name_classes(&mut done.result, model, made.clone());
    if done.result.fault.is_some() || options.mode == Mode::Sampled {
        return Ok(done);
    }
    host.begin(Stage::Comparing)?;
    let until = Until::new(host, options.comparing);
    let layers = done.layers.as_deref().unwrap_or(&[]);
    let outputs: Vec<&[i8]> = done.result.outputs.iter().map(|o| o.values.as_slice()).collect();
    let judged = Judged::new(planned, model, inputs, subnetwork, &done.result);
    let reference = judged.reference(&until)?;
    let comparison = judged.compared(&reference, layers, &outputs)?;
    for (row, invoke) in done.result.invokes.iter_mut().zip(&done.invokes) {
        let own = of_invoke(invoke).and_then(|index| planned.plan.subnetworks.get(index));
        let made = own.map_or(&main, |own| &own.outputs);
        let mut expected = of_output(model, &reference.outputs, made);
        expected.truncate(invoke.exit.map_or(usize::MAX, |exit| usize::from(exit) + 1));
        row.verified = Some(expected == invoke.outputs);
    }
    let is_alike = done.result.invokes.iter().all(|row| row.verified == Some(true));
    done.result.verified = Some(comparison.difference.is_none() && is_alike);
    done.result.compared_layers = comparison.layers.len().into();
    done.result.difference = comparison.difference;
    Ok(done)
}

/// Compares what a run of a plan gave with the reference on `inputs`, those of all frames: the output
/// of each of `layers` that was read, then the outputs of the program that ran, frame by frame.
///
/// # Errors
/// If the inputs do not suit the model, or somebody wants an end.
pub fn compare(
    planned: &Planned,
    model: &Model,
    inputs: &[Data],
    layers: &[LayerBytes],
    result: &RunResult,
    host: &dyn Host,
) -> Result<Comparison, Diagnostic> {
    let subnetwork = result.invokes.last().and_then(|invoke| {
        let mut all = planned.plan.subnetworks.iter();
        all.position(|own| own.program.name == invoke.program)
    });
    let judged = Judged::new(planned, model, inputs, subnetwork, result);
    let outputs: Vec<&[i8]> = result.outputs.iter().map(|o| o.values.as_slice()).collect();
    judged.compared(&judged.reference(&Until::new(host, None))?, layers, &outputs)
}

/// A run that is compared with the reference.
struct Judged<'r> {
    /// The plan of the program that ran, as its main one.
    plan: Cow<'r, Plan>,
    planned: &'r Planned,
    model: &'r Model,
    /// Of all frames.
    inputs: &'r [Data],
    /// The numbers of the outputs that a sub-network makes.
    outputs: Range<u16>,
    /// The number of the output at whose exit the run ended.
    exit: Option<usize>,
}

/// The numbers of the outputs that the main program makes of each frame.
fn of_main(plan: &Plan) -> Range<u16> {
    0..plan.main.as_ref().map_or(0, Program::outputs_of_frame)
}

impl<'r> Judged<'r> {
    /// Of a run of a sub-network, by its number, or of the main program.
    fn new(
        planned: &'r Planned,
        model: &'r Model,
        inputs: &'r [Data],
        subnetwork: Option<usize>,
        result: &RunResult,
    ) -> Self {
        let own = subnetwork.and_then(|index| planned.plan.subnetworks.get(index));
        let alone = subnetwork.and_then(|index| planned.plan.of_subnetwork(index));
        Self {
            plan: alone.map_or(Cow::Borrowed(&planned.plan), Cow::Owned),
            planned,
            model,
            inputs,
            outputs: own.map_or_else(|| of_main(&planned.plan), |own| own.outputs.clone()),
            exit: result.exit.map(|exit| *exit),
        }
    }

    fn reference(&self, until: &Until<'_>) -> Result<Expected, Diagnostic> {
        let Self { plan, planned, model, inputs, .. } = self;
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
        Ok(reference)
    }

    fn compared(
        &self,
        reference: &Expected,
        layers: &[LayerBytes],
        outputs: &[&[i8]],
    ) -> Result<Comparison, Diagnostic> {
        let plan = &*self.plan;
        let found: Vec<_> = layer_outputs(plan)
            .into_iter()
            .filter_map(|output| {
                let layer = layers.iter().find(|read| read.layer == output.layer)?;
                let (space, start, bytes) =
                    (layer.space, layer.start.into(), layer.bytes.as_deref()?);
                Some((output, output.elements(&Read { space, start, bytes })))
            })
            .collect();
        let checks = found.iter().map(|(output, bytes)| {
            let values = reference.layers.get(output.layer as usize).map_or(&[][..], Vec::as_slice);
            check(output.layer, values, bytes)
        });
        let checks: Vec<LayerCheck> = checks.collect();
        // Behind an exit nothing is read, which is no difference.
        let is_alike = self.exit.is_some() && checks.iter().all(|check| check.differing == 0);
        let mismatch = if is_alike { None } else { first_mismatch(plan, reference, &found) };
        let mut expected = of_output(self.model, &reference.outputs, &self.outputs);
        expected.truncate(self.exit.map_or(usize::MAX, |exit| exit + 1));
        let difference = match mismatch {
            Some(first) => Some(Difference {
                layer: first.layer_name,
                tensor: first.tensor,
                element: first.element,
                expected: first.expected,
                found: first.found,
                differing: first.differing,
            }),
            // The outputs are layers' outputs, but read where the program says that they are.
            None => difference(plan, &expected, outputs)?,
        };
        Ok(Comparison { layers: checks, difference })
    }
}

/// Of the outputs of all frames those of these numbers.
fn of_output(model: &Model, outputs: &[Vec<i8>], numbers: &Range<u16>) -> Vec<Vec<i8>> {
    let each = model.outputs.len().max(1);
    let is_own = |index: usize| numbers.contains(&u16::try_from(index % each).unwrap_or(u16::MAX));
    let own = outputs.iter().enumerate().filter(|(index, _)| is_own(*index));
    own.map(|(_, output)| output.clone()).collect()
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
    plan: &Plan,
    expected: &[Vec<i8>],
    found: &[&[i8]],
) -> Result<Option<Difference>, Diagnostic> {
    let sizes = |all: &mut dyn Iterator<Item = usize>| all.collect::<Vec<_>>();
    if sizes(&mut expected.iter().map(Vec::len)) != sizes(&mut found.iter().map(|f| f.len())) {
        return Err(Diagnostic::ours("The run gave other outputs than the model has.", "outputs"));
    }
    let program = plan.main.as_ref();
    let outputs = program.map_or(&[][..], |program| &program.outputs);
    let tensors = outputs.iter().map(|output| output.tensor).cycle();
    for ((expected, found), tensor) in expected.iter().zip(found).zip(tensors) {
        let values = expected.iter().zip(*found);
        let mut differing = values.enumerate().filter(|(_, (expected, found))| expected != found);
        if let Some((element, (expected, found))) = differing.next() {
            let tensor = plan.tensors.get(tensor as usize);
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
