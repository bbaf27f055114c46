//! What a node of the model asks of a step, independently of the planner's lowering.

use std::ops::Range;

use crate::geometry::{between, check_valid, check_window};
use crate::same;
use crate::shapes::{aligned, dimension, shape};
use tilewright_model::integer::{self, Multiplier};
use tilewright_model::{Model, Node, NodeId, Op as ModelOp, ResizeMode, TensorId};
use tilewright_plan::{Io, Kernel, Op, Role, Tile, View};

/// The operands that a step should have.
pub struct Meaning {
    /// Activations that it reads, in the kernel's order.
    pub inputs: Vec<TensorId>,
    /// Tensor that it writes a part of.
    pub output: TensorId,
    /// Weights of each output channel.
    pub weights_per_channel: u64,
    /// First output channel of the step.
    pub channel_start: u64,
    /// Output channels of the step.
    pub channels: u64,
    /// Channels of the input that a step must see of which that is not all; nothing for other kernels.
    pub input_channels: Option<Range<u64>>,
    /// First row, column and channel of its operand's part in the output, if it is a concat's.
    pub part: Option<[u64; 3]>,
}

/// The kernel that a node asks for; nothing if there is none.
pub fn kernel(model: &Model, node: &Node) -> Option<Kernel> {
    Some(match &node.op {
        ModelOp::Conv { .. } => Kernel::Conv,
        // Rows of inputs are pixels, each of which the same filters see.
        ModelOp::FullyConnected { .. } if shape(model, *node.inputs.first()?).ok()?[1] > 1 => {
            Kernel::Conv
        }
        ModelOp::DepthwiseConv { .. } => Kernel::Depthwise,
        ModelOp::FullyConnected { .. } => Kernel::FullyConnected,
        ModelOp::TransposeConv { .. } => Kernel::TransposeConv,
        ModelOp::MaxPool { .. } => Kernel::MaxPool,
        ModelOp::AveragePool { .. } => Kernel::AveragePool,
        ModelOp::Mean { .. } => Kernel::Mean,
        ModelOp::Add { .. } => Kernel::Add,
        ModelOp::Sub { .. } => Kernel::Sub,
        ModelOp::Mul { .. } => Kernel::Mul,
        ModelOp::Maximum => Kernel::Maximum,
        ModelOp::Minimum => Kernel::Minimum,
        ModelOp::Prelu => Kernel::Prelu,
        ModelOp::Pad { .. } => Kernel::Pad,
        ModelOp::Concat { .. } => Kernel::Requantise,
        ModelOp::Activation(_) | ModelOp::Unary(_) | ModelOp::Requantise => Kernel::Lut,
        ModelOp::Slice { .. }
        | ModelOp::Transpose { .. }
        | ModelOp::SpaceToDepth { .. }
        | ModelOp::DepthToSpace { .. } => Kernel::Gather,
        ModelOp::Resize { mode: ResizeMode::Nearest, .. } => Kernel::ResizeNearest,
        ModelOp::Resize { mode: ResizeMode::Bilinear, .. } => Kernel::ResizeBilinear,
        ModelOp::Softmax => Kernel::Softmax,
        ModelOp::LogSoftmax => Kernel::LogSoftmax,
        ModelOp::LocalResponseNorm { .. } => Kernel::LocalResponse,
        ModelOp::ArgMax { .. } => Kernel::ArgMax,
        ModelOp::Reshape
        | ModelOp::Div { .. }
        | ModelOp::BatchNorm { .. }
        | ModelOp::Opaque { .. } => return None,
    })
}

/// What node `id` asks of a step with this op and tile.
///
/// # Errors
/// Says in what the op differs from the node.
pub fn meaning(model: &Model, id: NodeId, op: &Op, tile: &Tile) -> Result<Meaning, String> {
    let node = model.nodes.get(id.0).ok_or("unknown node")?;
    let output = *node.outputs.first().ok_or("the node has no output")?;
    let kernel = op.kernel().ok_or("unknown kernel")?;
    let expected = self::kernel(model, node).ok_or("the node has no kernel")?;
    same("kernel", kernel, expected)?;
    let mut part = None;
    let places: Vec<usize> = match &node.op {
        ModelOp::Concat { axis } => {
            let (operand, start) = concat_operand(model, node, *axis, tile)?;
            part = Some(start);
            vec![operand]
        }
        _ => {
            (0..kernel.roles().iter().filter(|role| matches!(role, Role::Input)).count()).collect()
        }
    };
    let inputs: Option<Vec<TensorId>> =
        places.iter().map(|place| node.inputs.get(*place).copied()).collect();
    let inputs = inputs.ok_or("the node has fewer operands")?;
    // Kernels take the channels of their boxes: a part of the channels has its weights in one run
    // only where they are outermost.
    let parts_allowed = match &node.op {
        ModelOp::Concat { .. }
        | ModelOp::FullyConnected { .. }
        | ModelOp::TransposeConv { .. }
        | ModelOp::Slice { .. }
        | ModelOp::Transpose { .. }
        | ModelOp::SpaceToDepth { .. }
        | ModelOp::DepthToSpace { .. } => true,
        ModelOp::Conv { .. } => op.groups == 1,
        _ => keeps_channels(model, node),
    };
    let all = (0, output_shape(model, node, output)?[2]);
    if !parts_allowed && (u64::from(tile.channel_start), u64::from(tile.channels)) != all {
        return Err("makes a part of the channels, which its kernel cannot".to_owned());
    }
    check_numbers(model, node, &inputs, output, op)?;
    check_geometry(model, node, &inputs, output, op, tile)?;
    let weights_per_channel = match node.inputs.get(1).map(|id| model.tensor(*id).shape.dims()) {
        Some([_, h, w, i]) if matches!(kernel, Kernel::Conv | Kernel::TransposeConv) => {
            (h * w * i) as u64
        }
        Some([_, h, w, _]) if kernel == Kernel::Depthwise => (h * w) as u64,
        Some([_, i]) if matches!(node.op, ModelOp::FullyConnected { .. }) => *i as u64,
        _ => 0,
    };
    Ok(Meaning {
        inputs,
        output,
        weights_per_channel,
        channel_start: u64::from(tile.channel_start),
        channels: u64::from(tile.channels),
        input_channels: input_channels(model, node, op, tile)?,
        part,
    })
}

/// Whether each channel of a node's result is made from the same channel of what it reads.
fn keeps_channels(model: &Model, node: &Node) -> bool {
    match &node.op {
        ModelOp::MaxPool { .. } | ModelOp::AveragePool { .. } => true,
        ModelOp::Activation(_) | ModelOp::Unary(_) | ModelOp::Requantise => true,
        ModelOp::Mean { axes, .. } => node.inputs.first().is_some_and(|input| {
            let mut places = axes.iter().map(|axis| dimension(model, *input, *axis));
            places.all(|place| matches!(place, Some(0 | 1)))
        }),
        _ => false,
    }
}

/// The channels of its input that a step must see: those of a convolution's groups that it makes, or its own.
fn input_channels(
    model: &Model,
    node: &Node,
    op: &Op,
    tile: &Tile,
) -> Result<Option<Range<u64>>, String> {
    if keeps_channels(model, node) {
        let first = u64::from(tile.channel_start);
        return Ok(Some(first..first + u64::from(tile.channels)));
    }
    let (groups, input) = match (&node.op, node.inputs.first()) {
        (ModelOp::Conv { groups, .. }, Some(input)) => (groups, input),
        (ModelOp::FullyConnected { .. }, Some(input)) => (&1, input),
        _ => return Ok(None),
    };
    let output = node.outputs.first().ok_or("the node has no output")?;
    let (inputs, outputs) = (shape(model, *input)?[2], shape(model, *output)?[2]);
    let groups = *groups as u64;
    if op.groups != 1 || groups <= 1 {
        return Ok(Some(0..inputs));
    }
    let each = outputs.checked_div(groups).filter(|each| *each > 0).ok_or("a group is empty")?;
    let (first, count) = (u64::from(tile.channel_start), u64::from(tile.channels));
    let group = first / each;
    if count == 0 || (first + count - 1) / each != group {
        return Err("makes channels of several groups as if they were one".to_owned());
    }
    let each = inputs / groups;
    Ok(Some(group * each..(group + 1) * each))
}

/// The shape by which a node's kernel numbers the elements of its output: dimensions that are taken
/// together stay as one element.
pub fn output_shape(model: &Model, node: &Node, output: TensorId) -> Result<[u64; 3], String> {
    let axes = match &node.op {
        ModelOp::Mean { axes, .. } => axes.clone(),
        ModelOp::ArgMax { axis, .. } => vec![*axis],
        _ if node.op.is_binary() || matches!(node.op, ModelOp::Prelu) => {
            return aligned(model, output);
        }
        _ => return shape(model, output).or_else(|_| flat(model, output)),
    };
    let input = *node.inputs.first().ok_or("the node has no operand")?;
    let mut size = shape(model, input)?;
    for axis in axes {
        if let Some(place) = dimension(model, input, axis) {
            size[place] = 1;
        }
    }
    if matches!(node.op, ModelOp::ArgMax { .. }) {
        size[2] *= 4;
    }
    Ok(size)
}

/// One row of all bytes, for operators that take elements one by one.
fn flat(model: &Model, id: TensorId) -> Result<[u64; 3], String> {
    Ok([1, 1, crate::shapes::bytes(model, id)])
}

/// Checks that boxes lie over each other as the kernel takes them.
///
/// # Errors
/// Says what is wrong.
pub fn check_boxes(
    model: &Model,
    node: &Node,
    meaning: &Meaning,
    kernel: Kernel,
    views: &[View],
    output: &View,
) -> Result<(), String> {
    let place = |view: &View| {
        let size = [u64::from(view.h), u64::from(view.w), u64::from(view.c)];
        ([i64::from(view.y0), i64::from(view.x0), 0], size)
    };
    let whole =
        |view: &View, id: TensorId| same("input box", place(view), ([0; 3], shape(model, id)?));
    let (out_first, out_size) = place(output);
    let inputs = kernel.roles().iter().zip(views).filter(|(role, _)| **role == Role::Input);
    for ((_, view), id) in inputs.zip(&meaning.inputs) {
        let (first, size) = place(view);
        match kernel {
            Kernel::Pad | Kernel::ResizeNearest => whole(view, *id)?,
            // A step of a concat pairs the elements of its operand and of that part of the output.
            Kernel::Requantise if meaning.part.is_some() => {
                let start = meaning.part.unwrap_or_default().map(|at| at as i64);
                let meant = [out_first[0] - start[0], out_first[1] - start[1], 0];
                same("first element of the input box", first, meant)?;
            }
            // Elementwise kernels pair the first elements of their boxes.
            Kernel::Requantise
            | Kernel::Lut
            | Kernel::Softmax
            | Kernel::LogSoftmax
            | Kernel::LocalResponse => {
                same("first element of the input box", first, out_first)?;
            }
            Kernel::Add
            | Kernel::Sub
            | Kernel::Mul
            | Kernel::Maximum
            | Kernel::Minimum
            | Kernel::Prelu => {
                let (tensor, made) = (aligned(model, *id)?, aligned(model, meaning.output)?);
                for axis in 0..3 {
                    let meant = if tensor[axis] == made[axis] {
                        (out_first[axis], out_size[axis])
                    } else {
                        (0, 1)
                    };
                    same("input box", (first[axis], size[axis]), meant)?;
                }
            }
            Kernel::Mean | Kernel::ArgMax => {
                let tensor = shape(model, *id)?;
                let together = match &node.op {
                    ModelOp::Mean { axes, .. } => axes.as_slice(),
                    ModelOp::ArgMax { axis, .. } => std::slice::from_ref(axis),
                    _ => return Err("the node takes no dimensions together".to_owned()),
                };
                // What is taken together must be whole.
                for axis in together.iter().filter_map(|axis| dimension(model, *id, *axis)) {
                    same("input box", (first[axis], size[axis]), (0, tensor[axis]))?;
                }
            }
            Kernel::Conv => {
                let seen = meaning.input_channels.clone().unwrap_or_default();
                same("number of input channels", size[2], seen.end - seen.start)?;
            }
            Kernel::Depthwise
            | Kernel::TransposeConv
            | Kernel::FullyConnected
            | Kernel::MaxPool
            | Kernel::AveragePool
            | Kernel::Gather
            | Kernel::ConvMaxPool
            | Kernel::ResizeBilinear => {}
        }
    }
    Ok(())
}

/// Checks what an input or output says of its scale, zero point and labels.
///
/// # Errors
/// Says what differs from the model.
pub fn check_io(io: &Io, model: &Model, id: TensorId) -> Result<(), String> {
    let tensor = model.tensor(id);
    let (scale, zero) = match &tensor.quantisation {
        Some(quantisation) => (quantisation.scale(0), quantisation.zero()),
        None if tensor.dtype == tilewright_model::DType::I32 => (1.0, 0),
        None => return Err("it is not quantised".to_owned()),
    };
    same("scale", io.scale.to_bits(), scale.to_bits())?;
    same("zero point", i32::from(io.zero), zero)?;
    let elements = tensor.shape.elements().unwrap_or(0);
    if !io.labels.is_empty() && io.labels.len() != elements {
        return Err("it has another number of labels than of elements".to_owned());
    }
    Ok(())
}

/// The operand of a concat in whose part of the output the tile lies, some of its rows, and the
/// first row, column and channel of that part.
///
/// # Errors
/// If there is none.
pub fn concat_operand(
    model: &Model,
    node: &Node,
    axis: usize,
    tile: &Tile,
) -> Result<(usize, [u64; 3]), String> {
    let output = node.outputs.first().ok_or("no output")?;
    let along = dimension(model, *output, axis).ok_or("concat along the batch")?;
    let place = [
        u64::from(tile.output_start[0]),
        u64::from(tile.output_start[1]),
        u64::from(tile.channel_start),
    ];
    let mut start = [0; 3];
    for (index, input) in node.inputs.iter().enumerate() {
        let size = shape(model, *input)?;
        let tile_size = [
            u64::from(tile.output_size[0]),
            u64::from(tile.output_size[1]),
            u64::from(tile.channels),
        ];
        let rows = place[0] >= start[0] && place[0] + tile_size[0] <= start[0] + size[0];
        if rows && start[1..] == place[1..] && size[1..] == tile_size[1..] {
            return Ok((index, start));
        }
        start[along] += size[along];
    }
    Err("no operand of the concat has this place".to_owned())
}

/// Windows, padding, groups, flags, and what of the input exists.
fn check_geometry(
    model: &Model,
    node: &Node,
    inputs: &[TensorId],
    output: TensorId,
    op: &Op,
    tile: &Tile,
) -> Result<(), String> {
    let input = *inputs.first().ok_or("no input")?;
    let size = || shape(model, input);
    if let Some(window) = node.op.window() {
        let transposed = matches!(node.op, ModelOp::TransposeConv { .. });
        check_window(op, tile, window, size()?, transposed)?;
    }
    let mut flags = 0;
    match &node.op {
        // One group, if the step makes channels of no other. Weights may lie transformed or without their zeros, which
        // the domain of its kernel allows and their block's length shows.
        ModelOp::Conv { .. } if op.groups == 1 => {
            flags = op.flags & (Op::TRANSFORMED | Op::SPARSE);
        }
        ModelOp::FullyConnected { .. } => {
            flags = op.flags & (Op::NATURAL | Op::SPARSE);
        }
        ModelOp::Conv { groups, .. } => same("groups", usize::from(op.groups), *groups)?,
        ModelOp::DepthwiseConv { multiplier, .. } => {
            same("channel multiplier", usize::from(op.groups), *multiplier)?;
        }
        ModelOp::AveragePool { count_padding, halves_up, .. } => {
            let set = [(*count_padding, Op::COUNT_PADDING), (*halves_up, Op::HALVES_UP)];
            flags = set.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum();
        }
        ModelOp::Mean { axes, .. } => flags = over(model, input, axes),
        ModelOp::ArgMax { axis, .. } => flags = over(model, input, &[*axis]),
        ModelOp::Pad { amounts, .. } => {
            let [_, (top, _), (left, _), _] = amounts.as_slice() else {
                return Err("padding of other than four dimensions".to_owned());
            };
            same("padding", op.padding.map(usize::from), [*top, *left])?;
        }
        ModelOp::Resize { mode: ResizeMode::Nearest, .. } => {
            let [rows, columns, _] = shape(model, output)?;
            same("output size", op.window.map(u64::from), [rows, columns])?;
        }
        ModelOp::Resize { mode: ResizeMode::Bilinear, .. } => {
            let size = size()?;
            check_valid(tile, size, |axis| between(op, tile, axis, size[axis]))?;
        }
        _ => {}
    }
    same("flags", op.flags, flags)
}

fn over(model: &Model, input: TensorId, axes: &[usize]) -> u16 {
    let bits = axes.iter().filter_map(|axis| dimension(model, input, *axis));
    bits.map(|place| Op::OVER[place]).sum()
}

/// Zero points, clamp and the kernel's own integers.
fn check_numbers(
    model: &Model,
    node: &Node,
    inputs: &[TensorId],
    output: TensorId,
    op: &Op,
) -> Result<(), String> {
    let fault = |e: integer::IntegerError| e.to_string();
    let zero = |id: TensorId| {
        let quantisation = model.tensor(id).quantisation.as_ref();
        quantisation.map(|q| q.zero()).ok_or("an operand is not quantised")
    };
    for (index, input) in inputs.iter().enumerate() {
        same("input zero point", i32::from(op.input_zero[index]), zero(*input)?)?;
    }
    if node.op.is_weighted() {
        let weights = *node.inputs.get(1).ok_or("no weights")?;
        same("weights' zero point", i32::from(op.input_zero[1]), zero(weights)?)?;
    }
    if !matches!(node.op, ModelOp::ArgMax { .. }) {
        let fills = matches!(node.op, ModelOp::Pad { .. });
        let wanted = if fills { i32::from(integer::filler(model, node)) } else { zero(output)? };
        same("output zero point", i32::from(op.output_zero), wanted)?;
        let (low, high) = integer::clamp(model, node).map_err(fault)?;
        same("clamp", (op.clamp_min, op.clamp_max), (i16::from(low), i16::from(high)))?;
    }
    let pairs = |factors: &[Multiplier]| -> Vec<i32> {
        factors.iter().flat_map(|factor| [factor.q31, factor.shift]).collect()
    };
    let expected: Vec<i32> = match &node.op {
        ModelOp::Pad { amounts, .. } => {
            let (before, _) = *amounts.last().ok_or("padding of a scalar")?;
            vec![i32::try_from(before).map_err(|_| "padding of too many channels".to_owned())?]
        }
        ModelOp::Add { .. } | ModelOp::Sub { .. } => {
            let p = integer::add(model, node).map_err(fault)?;
            pairs(&[p.first, p.second, p.output])
        }
        ModelOp::Mul { .. } => pairs(&[integer::mul(model, node).map_err(fault)?]),
        ModelOp::Mean { .. } => pairs(&[integer::mean(model, node).map_err(fault)?]),
        ModelOp::Prelu => {
            let p = integer::prelu(model, node).map_err(fault)?;
            pairs(&[p.positive, p.negative])
        }
        ModelOp::Concat { .. } => {
            let input = *inputs.first().ok_or("no input")?;
            pairs(&[integer::requantise(model, input, output).map_err(fault)?])
        }
        ModelOp::Softmax => {
            let p = integer::softmax(model, node).map_err(fault)?;
            vec![p.multiplier, p.left_shift, p.diff_min]
        }
        ModelOp::LogSoftmax => {
            let p = integer::log_softmax(model, node).map_err(fault)?;
            [pairs(&[p.scale]), vec![p.diff_min], pairs(&[p.reverse])].concat()
        }
        ModelOp::LocalResponseNorm { .. } => {
            let p = integer::local_response(model, node).map_err(fault)?;
            let [before, behind] = p.around.map(|count| i32::try_from(count).unwrap_or(i32::MAX));
            vec![before, behind, p.shift]
        }
        ModelOp::Resize { mode: ResizeMode::Bilinear, .. } => {
            let p = integer::bilinear(model, node).map_err(fault)?;
            vec![p.step[0], p.step[1], p.first[0], p.first[1]]
        }
        ModelOp::AveragePool { count_padding: true, window, uncounted, .. } => {
            let [rows, columns, _] = shape(model, inputs[0])?;
            let end = |length: u64, padding: usize, uncounted: usize| {
                length as i64 + padding as i64 - uncounted as i64
            };
            let rows = end(rows, window.padding.bottom, uncounted[0]);
            let columns = end(columns, window.padding.right, uncounted[1]);
            vec![rows as i32, columns as i32]
        }
        _ => Vec::new(),
    };
    same("scalars", &op.scalars[..expected.len()], &expected[..])
}
