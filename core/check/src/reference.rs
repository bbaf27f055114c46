//! Comparing a run with the reference interpreter, layer by layer.

use tilewright_model::interpret::{Stop, never};
use tilewright_model::{Data, Model, NodeId, RunError, int8};
use tilewright_plan::{Instruction, Plan, Space};

/// Where the output of a layer can be read when a step of the core lane has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerOutput {
    /// Layer (position in the plan's order).
    pub layer: u32,
    /// The layer's last step in the core lane of the first program.
    pub step: u32,
    /// Index into the plan's tensors.
    pub tensor: u32,
    /// Memory that holds the output.
    pub space: Space,
    /// Byte offset in that memory.
    pub offset: u64,
    /// Bytes from the first to the last of it; of a part of another tensor, others lie between.
    pub bytes: u64,
    /// Rows, columns and channels, and bytes from a row and from a pixel to the next, if others
    /// lie between.
    pub pitched: Option<([u32; 3], [u32; 2])>,
}

impl LayerOutput {
    /// The output's own bytes, from the bytes that lie where it does.
    #[must_use]
    pub fn elements(&self, found: Vec<u8>) -> Vec<u8> {
        let Some(([rows, columns, channels], [row_pitch, pixel_pitch])) = self.pitched else {
            return found;
        };
        let pixels = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        pixels
            .map(|(row, column)| {
                row as usize * row_pitch as usize + column as usize * pixel_pitch as usize
            })
            .filter_map(|start| found.get(start..start + channels as usize))
            .flatten()
            .copied()
            .collect()
    }
}

/// The first byte of a layer's output that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Layer (position in the plan's order).
    pub layer: u32,
    /// Name of the layer.
    pub layer_name: String,
    /// Name of the tensor.
    pub tensor: String,
    /// First differing element.
    pub element: u64,
    /// What the reference gives.
    pub expected: i8,
    /// What the run gave.
    pub found: i8,
    /// Number of differing elements.
    pub differing: u64,
}

/// Where each layer's output lies right after its last step. A layer without steps has none: what
/// it would make others have made; nor has one whose output engines move to its place afterwards.
#[must_use]
pub fn layer_outputs(plan: &Plan) -> Vec<LayerOutput> {
    let program = plan.programs.iter().find(|program| !program.boot);
    let Some(core) = program.and_then(|program| program.lanes.first()) else { return Vec::new() };
    let mut last = vec![None; plan.layers.len()];
    for (number, step) in (0u32..).zip(&core.steps) {
        if let (Instruction::Compute { .. }, Some(slot)) =
            (step.instruction, last.get_mut(usize::from(step.layer)))
        {
            *slot = Some(number);
        }
    }
    let mut moved = vec![false; plan.layers.len()];
    let engines = program.iter().flat_map(|program| program.lanes.iter().skip(1));
    for step in engines.flat_map(|lane| &lane.steps) {
        if let Instruction::Copy { destination, .. } = step.instruction {
            let to = plan.spans.get(destination as usize).and_then(|span| span.space());
            if let Some(moved) = moved.get_mut(usize::from(step.layer)) {
                *moved |= to != Some(Space::Arena);
            }
        }
    }
    (0u32..)
        .zip(plan.layers.iter().zip(last))
        .filter(|(number, _)| !moved[*number as usize])
        .filter_map(|(number, (layer, step))| {
            let index = *layer.writes.first()?;
            let tensor = plan.tensors.get(index as usize)?;
            Some(LayerOutput {
                layer: number,
                step: step?,
                tensor: index,
                space: tensor.space,
                offset: tensor.offset,
                bytes: tensor.extent(),
                pitched: tensor.pitch.map(|pitch| (tensor.shape, pitch)),
            })
        })
        .collect()
}

/// What the reference interpreter gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Bytes of the output of each layer of the plan, row-major NHWC.
    pub layers: Vec<Vec<i8>>,
    /// Bytes of the outputs of the model.
    pub outputs: Vec<Vec<i8>>,
}

/// A tensor's bytes as they lie in memory.
fn bytes(data: &Data) -> Vec<i8> {
    match data {
        Data::I8(values) => values.clone(),
        Data::I32(values) => {
            values.iter().flat_map(|value| value.to_le_bytes()).map(u8::cast_signed).collect()
        }
        Data::F32(_) => Vec::new(),
    }
}

/// What the reference interpreter gives for `inputs`.
///
/// # Errors
/// What the interpreter says.
pub fn expected(plan: &Plan, model: &Model, inputs: &[Data]) -> Result<Expected, RunError> {
    expected_until(plan, model, inputs, &never)
}

/// As [`expected`], but ends soon after `stop` says yes.
///
/// # Errors
/// What the interpreter says; [`RunError::Stopped`] if it was stopped.
pub fn expected_until(
    plan: &Plan,
    model: &Model,
    inputs: &[Data],
    stop: &Stop<'_>,
) -> Result<Expected, RunError> {
    let mut by_node: Vec<Vec<i8>> = vec![Vec::new(); model.nodes.len()];
    let mut keep = |node: NodeId, results: &[Data]| {
        if let (Some(slot), Some(data)) = (by_node.get_mut(node.0), results.first()) {
            *slot = bytes(data);
        }
    };
    let outputs = int8::Interpreter::new(model)?.run_until(inputs, &mut keep, stop)?;
    let layers = plan
        .layers
        .iter()
        .map(|layer| {
            let last = layer.nodes.last().and_then(|node| by_node.get(*node as usize));
            last.cloned().unwrap_or_default()
        })
        .collect();
    Ok(Expected { layers, outputs: outputs.iter().map(bytes).collect() })
}

/// The first difference between a run's layer outputs and the expected ones, in the order of
/// layers. A layer whose bytes are missing differs in its first element.
#[must_use]
pub fn first_mismatch(
    plan: &Plan,
    expected: &Expected,
    found: &[(LayerOutput, Vec<u8>)],
) -> Option<Mismatch> {
    let seen_layers = layer_outputs(plan);
    for (number, (layer, expected)) in (0u32..).zip(plan.layers.iter().zip(&expected.layers)) {
        if !seen_layers.iter().any(|output| output.layer == number) {
            continue;
        }
        let seen = found.iter().find(|(output, _)| output.layer == number);
        let bytes = seen.map_or(&[][..], |(_, bytes)| bytes.as_slice());
        let at = |element: usize| bytes.get(element).map_or(0, |byte| byte.cast_signed());
        let missing = bytes.len() != expected.len();
        let differs = |(element, value): &(usize, &i8)| {
            bytes.get(*element).is_none() || at(*element) != **value
        };
        let mut differing = expected.iter().enumerate().filter(differs);
        let first = differing.next().or_else(|| missing.then_some((0, &0)));
        if let Some((element, value)) = first {
            let tensor = layer.writes.first().and_then(|index| plan.tensors.get(*index as usize));
            return Some(Mismatch {
                layer: number,
                layer_name: layer.name.clone(),
                tensor: tensor.map(|tensor| tensor.name.clone()).unwrap_or_default(),
                element: element as u64,
                expected: *value,
                found: at(element),
                differing: 1 + differing.count() as u64,
            });
        }
    }
    None
}
