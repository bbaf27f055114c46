//! What a node of the model asks of a step, independently of the planner's lowering.

use tilewright_model::integer;
use tilewright_model::{Model, Node, NodeId, Op as ModelOp, TensorId, Window};
use tilewright_plan::{Io, Kernel, Op, Role, Tile, View};

/// The operands that a step should have.
pub struct Meaning {
    /// Activations that it reads, in the kernel's order.
    pub inputs: Vec<TensorId>,
    /// Tensor that it writes a part of.
    pub output: TensorId,
    /// Bytes of weights for each output channel.
    pub weights_per_channel: u64,
    /// First output channel of the step.
    pub channel_start: u64,
    /// Output channels of the step.
    pub channels: u64,
    /// Whether the step makes a part of its output from a whole input: concat.
    pub is_part: bool,
}

/// The tensor whose bytes a tensor names: reshapes resolved.
pub fn roots(model: &Model) -> Vec<TensorId> {
    let mut roots: Vec<TensorId> = (0..model.tensors.len()).map(TensorId).collect();
    for node in model.nodes.iter().filter(|node| matches!(node.op, ModelOp::Reshape)) {
        if let (Some(input), Some(output)) = (node.inputs.first(), node.outputs.first()) {
            roots[output.0] = roots[input.0];
        }
    }
    roots
}

/// Height, width, channels.
pub fn shape(model: &Model, id: TensorId) -> Result<[u64; 3], String> {
    let tensor = model.tensor(id);
    let shape = tensor.shape.hwc().map(|dims| dims.map(|dim| dim as u64));
    shape.ok_or_else(|| format!("tensor '{}' has no height, width and channels", tensor.name))
}

/// What node `id` asks of a step with this op and tile.
///
/// # Errors
/// Says in what the op differs from the node.
pub fn meaning(model: &Model, id: NodeId, op: &Op, tile: &Tile) -> Result<Meaning, String> {
    let node = model.nodes.get(id.0).ok_or("unknown node")?;
    let output = *node.outputs.first().ok_or("the node has no output")?;
    let first = *node.inputs.first().ok_or("the node has no operand")?;
    let mut inputs = vec![first];
    let kernel = op.kernel().ok_or("unknown kernel")?;
    let (expected, window) = match &node.op {
        ModelOp::Conv { window, groups, .. } => {
            same("groups", usize::from(op.groups), *groups)?;
            (Kernel::Conv, Some(window))
        }
        ModelOp::DepthwiseConv { window, multiplier, .. } => {
            same("channel multiplier", usize::from(op.groups), *multiplier)?;
            (Kernel::Depthwise, Some(window))
        }
        ModelOp::FullyConnected { .. } => (Kernel::FullyConnected, None),
        ModelOp::MaxPool { window, .. } => (Kernel::MaxPool, Some(window)),
        ModelOp::AveragePool { window, .. } => (Kernel::AveragePool, Some(window)),
        ModelOp::Add { .. } => {
            inputs.push(*node.inputs.get(1).ok_or("an addition with one operand")?);
            (Kernel::Add, None)
        }
        ModelOp::Pad { amounts } => {
            let [_, (top, _), (left, _), _] = amounts.as_slice() else {
                return Err("padding of other than four dimensions".to_owned());
            };
            same("padding", op.padding.map(usize::from), [*top, *left])?;
            (Kernel::Pad, None)
        }
        ModelOp::Concat { axis } => {
            inputs = vec![concat_operand(model, node, *axis, tile)?];
            (Kernel::Requantise, None)
        }
        ModelOp::Activation(_) => (Kernel::Requantise, None),
        ModelOp::Softmax => (Kernel::Softmax, None),
        _ => return Err("the node has no kernel".to_owned()),
    };
    same("kernel", kernel, expected)?;
    // Kernels take the channels of their boxes: a part of the channels has its weights in one run
    // only where they are outermost.
    let parts_allowed = match &node.op {
        ModelOp::Concat { .. } | ModelOp::FullyConnected { .. } => true,
        ModelOp::Conv { groups, .. } => *groups == 1,
        _ => false,
    };
    let all = (0, shape(model, output)?[2]);
    if !parts_allowed && (u64::from(tile.channel_start), u64::from(tile.channels)) != all {
        return Err("makes a part of the channels, which its kernel cannot".to_owned());
    }
    if let Some(window) = window {
        check_window(model, first, op, tile, window)?;
    }
    check_quantisation(model, node, &inputs, output, op)?;
    let weights_per_channel = match node.inputs.get(1).map(|id| model.tensor(*id).shape.dims()) {
        Some([_, h, w, i]) if kernel == Kernel::Conv => (h * w * i) as u64,
        Some([_, h, w, _]) if kernel == Kernel::Depthwise => (h * w) as u64,
        Some([_, i]) if kernel == Kernel::FullyConnected => *i as u64,
        _ => 0,
    };
    Ok(Meaning {
        inputs,
        output,
        weights_per_channel,
        channel_start: u64::from(tile.channel_start),
        channels: u64::from(tile.channels),
        is_part: matches!(node.op, ModelOp::Concat { .. }),
    })
}

/// Checks that boxes lie over each other as the kernel takes them: elementwise kernels pair the
/// first elements of their boxes, and a pad takes its whole input.
///
/// # Errors
/// Says what is wrong.
pub fn check_boxes(
    model: &Model,
    meaning: &Meaning,
    kernel: Kernel,
    views: &[View],
    output: &View,
) -> Result<(), String> {
    let origin = |view: &View| (view.y0, view.x0);
    let whole = |view: &View, id: TensorId| {
        let shape = shape(model, id)?;
        let size = [u64::from(view.h), u64::from(view.w), u64::from(view.c)];
        same("input box", (origin(view), size), ((0, 0), shape))
    };
    let inputs = kernel.roles().iter().zip(views).filter(|(role, _)| **role == Role::Input);
    for ((_, view), id) in inputs.zip(&meaning.inputs) {
        match kernel {
            Kernel::Pad => whole(view, *id)?,
            Kernel::Requantise if meaning.is_part => whole(view, *id)?,
            Kernel::Add | Kernel::Requantise | Kernel::Softmax => {
                same("first element of the input box", origin(view), origin(output))?;
            }
            Kernel::Conv
            | Kernel::Depthwise
            | Kernel::FullyConnected
            | Kernel::MaxPool
            | Kernel::AveragePool => {}
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
    let quantisation = tensor.quantisation.as_ref().ok_or("it is not quantised")?;
    same("scale", io.scale.to_bits(), quantisation.scale(0).to_bits())?;
    same("zero point", i32::from(io.zero), quantisation.zero())?;
    let elements = tensor.shape.elements().unwrap_or(0);
    if !io.labels.is_empty() && io.labels.len() != elements {
        return Err("it has another number of labels than of elements".to_owned());
    }
    Ok(())
}

/// The operand of a concat whose place in the output is the tile.
fn concat_operand(
    model: &Model,
    node: &Node,
    axis: usize,
    tile: &Tile,
) -> Result<TensorId, String> {
    let output = node.outputs.first().ok_or("no output")?;
    let from_last = model.tensor(*output).shape.rank().checked_sub(axis);
    let dimension = match from_last {
        Some(1) => 2,
        Some(2) => 1,
        Some(3) => 0,
        _ => return Err("concat along the batch".to_owned()),
    };
    let place = [
        u64::from(tile.output_start[0]),
        u64::from(tile.output_start[1]),
        u64::from(tile.channel_start),
    ];
    let mut start = [0; 3];
    for input in &node.inputs {
        let size = shape(model, *input)?;
        let tile_size = [
            u64::from(tile.output_size[0]),
            u64::from(tile.output_size[1]),
            u64::from(tile.channels),
        ];
        if start == place && size == tile_size {
            return Ok(*input);
        }
        start[dimension] += size[dimension];
    }
    Err("no operand of the concat has this place".to_owned())
}

fn check_window(
    model: &Model,
    input: TensorId,
    op: &Op,
    tile: &Tile,
    window: &Window,
) -> Result<(), String> {
    same("window", op.window.map(usize::from), window.size)?;
    same("stride", op.stride.map(usize::from), window.stride)?;
    same("dilation", op.dilation.map(usize::from), window.dilation)?;
    let padding = [window.padding.top, window.padding.left];
    same("padding", op.padding.map(usize::from), padding)?;
    // All input that exists and that the tile's windows touch must count as existing.
    let shape = shape(model, input)?;
    for (axis, length) in shape.into_iter().take(2).enumerate() {
        let first = u64::from(tile.output_start[axis]) * u64::from(op.stride[axis]);
        let last = (u64::from(tile.output_start[axis]) + u64::from(tile.output_size[axis]) - 1)
            * u64::from(op.stride[axis])
            + (u64::from(op.window[axis]) - 1) * u64::from(op.dilation[axis]);
        let padding = u64::from(op.padding[axis]);
        let needed = first.saturating_sub(padding).min(length)
            ..(last + 1).saturating_sub(padding).min(length);
        let valid = u64::from(tile.valid_start[axis]);
        let valid = valid..valid + u64::from(tile.valid_size[axis]);
        if !needed.is_empty() && (needed.start < valid.start || needed.end > valid.end) {
            return Err("input that exists is treated as padding".to_owned());
        }
        if valid.end > length {
            return Err("padding is treated as input that exists".to_owned());
        }
    }
    Ok(())
}

fn check_quantisation(
    model: &Model,
    node: &Node,
    inputs: &[TensorId],
    output: TensorId,
    op: &Op,
) -> Result<(), String> {
    let zero = |id: TensorId| {
        let quantisation = model.tensor(id).quantisation.as_ref();
        quantisation.map(|q| q.zero()).ok_or("an operand is not quantised")
    };
    for (index, input) in inputs.iter().enumerate() {
        same("input zero point", i32::from(op.input_zero[index]), zero(*input)?)?;
    }
    same("output zero point", i32::from(op.output_zero), zero(output)?)?;
    let (low, high) = integer::clamp(model, node).map_err(|e| e.to_string())?;
    same("clamp", (op.clamp_min, op.clamp_max), (i16::from(low), i16::from(high)))?;
    let expected: Vec<i32> = match &node.op {
        ModelOp::Add { .. } => {
            let p = integer::add(model, node).map_err(|e| e.to_string())?;
            [p.first, p.second, p.output].iter().flat_map(|m| [m.q31, m.shift]).collect()
        }
        ModelOp::Concat { .. } | ModelOp::Activation(_) => {
            let input = *inputs.first().ok_or("no input")?;
            let p = integer::requantise(model, input, output).map_err(|e| e.to_string())?;
            vec![p.q31, p.shift]
        }
        ModelOp::Softmax => {
            let p = integer::softmax(model, node).map_err(|e| e.to_string())?;
            vec![p.multiplier, p.left_shift, p.diff_min]
        }
        _ => Vec::new(),
    };
    same("scalars", &op.scalars[..expected.len()], &expected[..])
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what} is {found:?}, but the node says {expected:?}"))
}
