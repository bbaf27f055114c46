//! Comparing a run with the reference interpreter, layer by layer.

use tilewright_model::interpret::{Stop, never};
use tilewright_model::{Data, Model, NodeId, RunError, int8};
use tilewright_plan::{
    Instruction, Op, Plan, PlannedLayer, PlannedTensor, Role, Space, Span, View,
};

/// Where the output of a layer can be read when a step has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerOutput {
    /// Layer (position in the plan's order; those of a program's later frames behind all of the first).
    pub layer: u32,
    /// Lane of the first program with the layer's last step: the core's, or that of the engine which
    /// moves the output out of SRAM.
    pub lane: u8,
    /// That step.
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

/// Bytes that were read where a layer's steps write, or where engines move all of its output.
#[derive(Clone, Copy, Debug)]
pub struct Read<'r> {
    /// Memory that held them.
    pub space: Space,
    /// Offset of the first in that memory.
    pub start: u64,
    /// The bytes.
    pub bytes: &'r [u8],
}

impl LayerOutput {
    /// The output's elements among bytes that were read; nothing for those that lie beside these. Steps of a concat
    /// write no operand that lies where the concat does: it is compared with the layer that made it.
    #[must_use]
    pub fn elements(&self, read: &Read<'_>) -> Vec<Option<u8>> {
        // In another memory lies all of it.
        let start = if read.space == self.space { read.start } else { self.offset };
        let at = |place: u64| {
            let index = (self.offset + place).checked_sub(start)?;
            read.bytes.get(usize::try_from(index).ok()?).copied()
        };
        let Some(([rows, columns, channels], [row_pitch, pixel_pitch])) = self.pitched else {
            return (0..self.bytes).map(at).collect();
        };
        let pixels = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        pixels
            .map(|(row, column)| {
                u64::from(row) * u64::from(row_pitch) + u64::from(column) * u64::from(pixel_pitch)
            })
            .flat_map(|pixel| (pixel..pixel + u64::from(channels)).map(at))
            .collect()
    }
}

/// The first byte of a layer's output that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Layer, as in [`LayerOutput`].
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

/// Where each layer's output lies once all of it does: right after the layer's last step, or after the
/// last copy that moves it out of SRAM. A layer without steps has none: what it would make others
/// have made; nor has one of whose output engines move a part, or several engines do, or
/// that is sealed on a card, or of which only some rows are held at once.
#[must_use]
pub fn layer_outputs(plan: &Plan) -> Vec<LayerOutput> {
    let Some(program) = plan.main.as_ref() else {
        return Vec::new();
    };
    let count = plan.layers.len();
    let mut layers = vec![Made::default(); count * usize::from(program.frames)];
    for (lane, steps) in (0u8..).zip(&program.lanes) {
        for (number, step) in (0u32..).zip(&steps.steps) {
            let place = usize::from(step.frame) * count + usize::from(step.layer);
            let Some(made) = layers.get_mut(place) else { continue };
            match step.instruction {
                Instruction::Compute { op, first_view, .. } => {
                    made.computed = Some((number, first_view));
                    let operands = plan.operands(op, first_view);
                    made.is_staged &= operands.is_some_and(|(op, views)| writes_sram(op, views));
                }
                Instruction::Copy { destination, .. } => {
                    let to = plan.spans.get(destination as usize).and_then(Span::space);
                    if let Some(to) = to.filter(|to| *to != Space::Arena) {
                        let mut before = made.moved.iter();
                        made.is_scattered |= before.any(|was| (was.0, was.2) != (lane, to));
                        made.moved = Some((lane, number, to));
                    }
                }
                Instruction::Exit { .. } | Instruction::Arrive { .. } => {}
            }
        }
    }
    let is_sealed = plan.sector_checksums.is_some_and(|checksums| checksums.sealed);
    let output = |(layer, (planned, made)): (u32, (&PlannedLayer, Made))| {
        let index = made.tensor(plan, *planned.writes.first()?)?;
        let tensor = plan.tensors.get(index as usize)?;
        // What is in SRAM may be moved elsewhere for the layers behind.
        let (lane, step) = match made.moved.filter(|_| tensor.space != Space::Arena) {
            None => (0, made.computed?.0),
            Some((lane, step, to)) => {
                let is_whole = made.is_staged && !made.is_scattered && to == tensor.space;
                (made.computed.is_some() && is_whole).then_some((lane, step))?
            }
        };
        if tensor.is_part() || is_sealed && tensor.space == Space::Card {
            return None;
        }
        Some(LayerOutput {
            layer,
            lane,
            step,
            tensor: index,
            space: tensor.space,
            offset: tensor.offset,
            bytes: tensor.extent(),
            pitched: tensor.pitch.map(|pitch| (tensor.shape, pitch)),
        })
    };
    (0u32..).zip(plan.layers.iter().cycle().zip(layers)).filter_map(output).collect()
}

/// The steps that make a layer's output.
#[derive(Clone, Copy, Debug)]
struct Made {
    /// Its last compute step, and the first of its operands.
    computed: Option<(u32, u32)>,
    /// Whether all compute steps leave what they make in SRAM.
    is_staged: bool,
    /// The last copy that moves some of it out of SRAM: lane, step and where to.
    moved: Option<(u8, u32, Space)>,
    /// Whether copies of several lanes or to several memories do.
    is_scattered: bool,
}

impl Default for Made {
    fn default() -> Self {
        Self { computed: None, is_staged: true, moved: None, is_scattered: false }
    }
}

impl Made {
    /// Of the places of the tensor that the layer writes, the one that this frame's lies in.
    fn tensor(&self, plan: &Plan, written: u32) -> Option<u32> {
        let given = plan.tensors.get(written as usize)?;
        let (step, first_view) = self.computed?;
        let program = plan.main.as_ref()?;
        let step = program.lanes.first()?.steps.get(step as usize)?;
        let Instruction::Compute { op, .. } = step.instruction else { return None };
        let (op, views) = plan.operands(op, first_view)?;
        let at = op.kernel()?.roles().iter().position(|role| *role == Role::Output)?;
        let view = views.get(at)?;
        let holds = |tensor: &PlannedTensor| {
            let inside = tensor.offset..tensor.offset + tensor.extent();
            tensor.tensor == given.tensor
                && view.space == tensor.space as u8
                && inside.contains(&view.offset.into())
        };
        let own = (0u32..).zip(&plan.tensors).find(|(_, tensor)| holds(tensor));
        Some(own.map_or(written, |(index, _)| index))
    }
}

fn writes_sram(op: &Op, views: &[View]) -> bool {
    let roles = op.kernel().map_or(&[][..], |kernel| kernel.roles());
    let mut outputs = roles.iter().zip(views).filter(|(role, _)| **role == Role::Output);
    outputs.all(|(_, view)| view.space() == Some(Space::Arena))
}

/// What the reference interpreter gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Bytes of the output of each layer of the plan, row-major NHWC; those of later frames behind all of the
    /// first.
    pub layers: Vec<Vec<i8>>,
    /// Bytes of the outputs of the model, likewise.
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

/// Inputs of as many frames as a run of a plan's program works on, from those of one: each frame's are those of the
/// one before, moved on by some elements, so that frames that are mixed up are seen.
#[must_use]
pub fn inputs_of_frames(inputs: &[Data], frames: u16) -> Vec<Data> {
    let moved = |data: &Data, frame: usize| match data {
        Data::I8(values) => {
            let mut values = values.clone();
            let by = if values.is_empty() { 0 } else { frame * MOVED % values.len() };
            values.rotate_left(by);
            Data::I8(values)
        }
        other => other.clone(),
    };
    let frames = 0..usize::from(frames.max(1));
    frames.flat_map(|frame| inputs.iter().map(move |data| moved(data, frame))).collect()
}

/// Elements that a frame's input is moved on by.
const MOVED: usize = 31;

/// What the reference interpreter gives for `inputs`, of one frame after the other.
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
    let mut all = Expected::default();
    for inputs in inputs.chunks(model.inputs.len().max(1)) {
        let Expected { layers, outputs } = of_frame(plan, model, inputs, stop)?;
        all.layers.extend(layers);
        all.outputs.extend(outputs);
    }
    Ok(all)
}

/// The model's outputs alone, of one frame after the other.
///
/// # Errors
/// As [`expected_until`].
pub fn expected_outputs(
    model: &Model,
    inputs: &[Data],
    stop: &Stop<'_>,
) -> Result<Vec<Vec<i8>>, RunError> {
    let mut outputs = Vec::new();
    for inputs in inputs.chunks(model.inputs.len().max(1)) {
        let made = int8::Interpreter::new(model)?.run_until(inputs, &mut |_, _| {}, stop)?;
        outputs.extend(made.iter().map(bytes));
    }
    Ok(outputs)
}

fn of_frame(
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
/// layers. A layer of which nothing was read differs in its first element.
#[must_use]
pub fn first_mismatch(
    plan: &Plan,
    expected: &Expected,
    found: &[(LayerOutput, Vec<Option<u8>>)],
) -> Option<Mismatch> {
    let seen_layers = layer_outputs(plan);
    let layers = plan.layers.iter().cycle();
    for (number, (layer, expected)) in (0u32..).zip(layers.zip(&expected.layers)) {
        if !seen_layers.iter().any(|output| output.layer == number) {
            continue;
        }
        let seen = found.iter().find(|(output, _)| output.layer == number);
        let bytes = seen.map_or(&[][..], |(_, bytes)| bytes.as_slice());
        let at = |element: usize| bytes.get(element).copied().flatten().map(u8::cast_signed);
        let missing = bytes.len() != expected.len() || bytes.iter().all(Option::is_none);
        let differs = |(element, value): &(usize, &i8)| {
            at(*element).map_or(bytes.len() <= *element, |found| found != **value)
        };
        let mut differing = expected.iter().enumerate().filter(differs);
        let first = differing.next().or_else(|| missing.then_some((0, &0)));
        if let Some((element, value)) = first {
            let tensor = layer.writes.first().and_then(|index| plan.tensors.get(*index as usize));
            let frame = number as usize / plan.layers.len().max(1);
            let of_frame =
                if frame > 0 { format!(" of frame {}", frame + 1) } else { String::new() };
            return Some(Mismatch {
                layer: number,
                layer_name: layer.name.clone(),
                tensor: tensor.map(|tensor| tensor.name.clone() + &of_frame).unwrap_or_default(),
                element: element as u64,
                expected: *value,
                found: at(element).unwrap_or_default(),
                differing: 1 + differing.count() as u64,
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels of four, in two pixels: the others were made in place by another layer.
    #[test]
    fn elements_that_nobody_read_are_none() {
        let output = LayerOutput {
            layer: 0,
            lane: 0,
            step: 0,
            tensor: 0,
            space: Space::Arena,
            offset: 100,
            bytes: 8,
            pitched: None,
        };
        let from = |start, bytes| Read { space: Space::Arena, start, bytes };
        let read = from(102, &[3, 4, 0, 0, 7, 8]);
        let expected = [None, None, Some(3), Some(4), Some(0), Some(0), Some(7), Some(8)];
        assert_eq!(output.elements(&read), expected);
        let moved = Read { space: Space::ExternalRam, start: 0, bytes: &[1; 8] };
        assert_eq!(output.elements(&moved), [Some(1); 8]);
        let before = output.elements(&from(98, &[0, 0, 1]));
        assert_eq!((before[0], before.iter().flatten().count()), (Some(1), 1));
        let pitched = LayerOutput { pitched: Some(([1, 2, 2], [8, 4])), ..output };
        assert_eq!(pitched.elements(&read), [None, None, Some(0), Some(0)]);
    }
}
