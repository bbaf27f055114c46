//! What a run gave: read from the server's words, compared with the reference.

use serde::Deserialize;
use tilewright_check::reference::{
    Expected, Read, expected, first_mismatch, inputs_of_frames, layer_outputs,
};
use tilewright_model::{Data, Model};
use tilewright_plan::{Plan, Space};
use tilewright_report::{Counts, Difference, Fault, LayerCount, StackUse, Timeline};

use super::plan::{make, ours};
use crate::message::{Comparison, LayerCheck, PlanSettings, RunResult, Trouble};

/// The parts of the server's `RunStatus` that are shown; its OpenAPI description has them all.
#[derive(Deserialize)]
struct Status {
    result: Option<ServerResult>,
    problem: Option<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    what: String,
    #[serde(rename = "where")]
    place: String,
    what_to_do: String,
}

#[derive(Deserialize)]
struct ServerResult {
    engine: String,
    mode: Mode,
    passed_steps: u64,
    fault: Option<Fault>,
    instructions: u64,
    cycles: u64,
    latency_us: f64,
    counts: Counts,
    stack: Option<StackUse>,
    outputs: Vec<OutputValues>,
    layers: Vec<LayerCount>,
    unknown_registers: Vec<(u32, u64)>,
    console: String,
    timeline: Timeline,
    emulation_wall_ns: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Full,
    Sampled,
}

#[derive(Deserialize)]
struct OutputValues {
    values: Vec<i8>,
}

/// Reads a run's status (JSON) and compares its layers' outputs with the reference on `input`.
///
/// # Errors
/// If the run has no result, or the status cannot be read.
pub fn judge(
    model: &Model,
    settings: &PlanSettings,
    status: &[u8],
    layers: &[u8],
    input: &[u8],
) -> Result<(RunResult, Option<Comparison>), Trouble> {
    let status: Status = serde_json::from_slice(status).map_err(|error| {
        Trouble::new(
            "The server's answer cannot be read",
            format!("{error}."),
            "Page and server must be of one version: build both again with `cargo xtask build`.",
        )
    })?;
    let result = match (status.result, status.problem) {
        (Some(result), _) => result,
        (None, Some(problem)) => {
            return Err(Trouble::new(problem.what, problem.place, problem.what_to_do));
        }
        (None, None) => {
            let detail = "The server says neither why nor what.";
            return Err(Trouble::new("The run gave no result", detail, "Run it again."));
        }
    };
    let comparison = match (result.fault.is_some(), layers.is_empty()) {
        (false, false) => {
            let (planned, _) = make(model, settings)?;
            Some(compare(&planned.plan, planned.model(model), &split(layers), input)?)
        }
        _ => None,
    };
    let result = RunResult {
        sampled: match result.mode {
            Mode::Full => None,
            Mode::Sampled => Some(result.passed_steps),
        },
        fault: result.fault,
        instructions: result.instructions,
        cycles: result.cycles,
        latency_us: result.latency_us,
        counts: result.counts,
        stack: result.stack,
        outputs: result.outputs.into_iter().map(|output| output.values).collect(),
        layers: result.layers,
        unknown_registers: result.unknown_registers,
        timeline: Some(result.timeline),
        console: result.console,
        engine: result.engine,
        emulation_wall_ns: result.emulation_wall_ns,
    };
    Ok((result, comparison))
}

/// What the server has read of a layer's output.
pub struct LayerBytes {
    /// The layer's position.
    pub layer: u32,
    /// Memory that held the bytes.
    pub space: Space,
    /// Offset of the first byte in it.
    pub start: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Each layer's output: position, memory, start, length (32 bits each), bytes, little-endian, again and again. What
/// is cut off, or lies in a memory that there is not, ends the list.
fn split(bytes: &[u8]) -> Vec<LayerBytes> {
    let mut layers = Vec::new();
    let mut rest = bytes;
    while let Some((head, behind)) = rest.split_first_chunk::<16>() {
        let mut words = head.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        let [layer, space, start, length] = [(); 4].map(|()| words.next().unwrap_or_default());
        let space = Space::ALL.into_iter().find(|known| *known as u32 == space);
        let part = space.zip(behind.split_at_checked(length as usize));
        let Some((space, (bytes, others))) = part else { break };
        layers.push(LayerBytes { layer, space, start, bytes: bytes.to_vec() });
        rest = others;
    }
    layers
}

/// Compares the outputs of layers with the reference on `input`, which holds all inputs of the model one behind
/// the other.
///
/// # Errors
/// If the input does not fit the model.
pub fn compare(
    plan: &Plan,
    model: &Model,
    layers: &[LayerBytes],
    input: &[u8],
) -> Result<Comparison, Trouble> {
    let inputs = inputs_of_frames(&inputs(model, input)?, plan.frames());
    let expected = expected(plan, model, &inputs).map_err(|error| ours("reference", &error))?;
    let found: Vec<_> = layer_outputs(plan)
        .into_iter()
        .filter_map(|output| {
            let read = layers.iter().find(|read| read.layer == output.layer)?;
            let (space, start, bytes) = (read.space, read.start.into(), read.bytes.as_slice());
            Some((output, output.elements(&Read { space, start, bytes })))
        })
        .collect();
    let checks = found.iter().map(|(output, bytes)| check(&expected, output.layer, bytes));
    let checks = checks.collect();
    let difference = first_mismatch(plan, &expected, &found).map(|first| Difference {
        layer: first.layer_name,
        tensor: first.tensor,
        element: first.element,
        expected: first.expected,
        found: first.found,
        differing: first.differing,
    });
    Ok(Comparison { layers: checks, difference })
}

/// Elements of a layer that were read, and those of them that differ.
fn check(expected: &Expected, layer: u32, bytes: &[Option<u8>]) -> LayerCheck {
    let values = expected.layers.get(layer as usize).map_or(&[][..], Vec::as_slice);
    let read: Vec<(i8, u8)> =
        values.iter().zip(bytes).filter_map(|(value, byte)| Some((*value, (*byte)?))).collect();
    let differing = read.iter().filter(|(value, byte)| *value != byte.cast_signed()).count();
    let missing = values.len().abs_diff(bytes.len());
    LayerCheck { layer, elements: read.len() as u64, differing: (differing + missing) as u64 }
}

/// All inputs of the model, from bytes one behind the other.
fn inputs(model: &Model, bytes: &[u8]) -> Result<Vec<Data>, Trouble> {
    let mut rest = bytes;
    let mut inputs = Vec::new();
    for id in &model.inputs {
        let elements = model.tensor(*id).shape.elements().unwrap_or(0);
        let (input, others) = rest
            .split_at_checked(elements)
            .ok_or_else(|| ours("input", &"it is shorter than the model's"))?;
        inputs.push(Data::I8(input.iter().map(|byte| byte.cast_signed()).collect()));
        rest = others;
    }
    Ok(inputs)
}
