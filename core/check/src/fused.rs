//! What a convolution and the max pool behind it ask of a step that computes both.

use crate::geometry::check_valid;
use crate::node::Meaning;
use crate::same;
use crate::shapes::shape;
use tilewright_model::integer;
use tilewright_model::{Model, Node, NodeId, Op as ModelOp, TensorId, Window};
use tilewright_plan::{Kernel, Op, PoolBehind, Tile};

/// What the nodes, a convolution and a max pool, ask of a step with this op and tile.
///
/// # Errors
/// Says why the two are not one step, or in what the op differs from them.
pub fn meaning(
    model: &Model,
    [conv, pool]: [NodeId; 2],
    op: &Op,
    tile: &Tile,
) -> Result<Meaning, String> {
    same("kernel", op.kernel(), Some(Kernel::ConvMaxPool))?;
    let conv = model.nodes.get(conv.0).ok_or("unknown node")?;
    let pool = model.nodes.get(pool.0).ok_or("unknown node")?;
    let (
        ModelOp::Conv { window, groups, .. },
        ModelOp::MaxPool { window: pool_window, .. },
        [input, weights, ..],
        [between],
        [output],
    ) = (&conv.op, &pool.op, conv.inputs.as_slice(), conv.outputs.as_slice(), &pool.outputs[..])
    else {
        return Err("its nodes are no convolution with a max pool behind it".to_owned());
    };
    check_between(model, conv, pool, *between)?;
    check_numbers(model, conv, pool, [*input, *between, *output], op)?;
    let size = shape(model, *between)?;
    check_pool(op, pool_window, size)?;
    same("groups", usize::from(op.groups), *groups)?;
    same("flags", op.flags, 0)?;
    same("window", op.window.map(usize::from), window.size)?;
    same("stride", op.stride.map(usize::from), window.stride)?;
    same("dilation", op.dilation.map(usize::from), window.dilation)?;
    same("padding", op.padding.map(usize::from), [window.padding.top, window.padding.left])?;
    check_valid(tile, shape(model, *input)?, |axis| {
        let made = sees(pool_window, axis, start(tile, axis)).start.min(size[axis])
            ..sees(pool_window, axis, last(tile, axis)).end.min(size[axis]);
        let end = made.end.max(made.start + 1) - 1;
        sees(window, axis, made.start).start..sees(window, axis, end).end
    })?;
    let all = (0, shape(model, *output)?[2]);
    if *groups != 1 && (u64::from(tile.channel_start), u64::from(tile.channels)) != all {
        return Err("makes a part of the channels, which its kernel cannot".to_owned());
    }
    let filter: usize = model.tensor(*weights).shape.dims().iter().skip(1).product();
    Ok(Meaning {
        inputs: vec![*input],
        output: *output,
        weights_per_channel: filter as u64,
        channel_start: u64::from(tile.channel_start),
        channels: u64::from(tile.channels),
        input_channels: None,
        part: None,
    })
}

/// Nobody but the pool sees the convolution's output, which is not stored.
fn check_between(model: &Model, conv: &Node, pool: &Node, between: TensorId) -> Result<(), String> {
    if pool.inputs.first() != Some(&between) {
        return Err(format!("'{}' does not read what '{}' makes", pool.name, conv.name));
    }
    let readers = model.nodes.iter().flat_map(|node| &node.inputs);
    if readers.filter(|id| **id == between).count() != 1 || model.outputs.contains(&between) {
        return Err(format!(
            "the output of '{}' is needed by others than '{}', but is not stored",
            conv.name, pool.name
        ));
    }
    Ok(())
}

/// Zero points, and the clamps one behind the other: a maximum of clamped values is the clamped
/// maximum, and so may be clamped again.
fn check_numbers(
    model: &Model,
    conv: &Node,
    pool: &Node,
    [input, between, output]: [TensorId; 3],
    op: &Op,
) -> Result<(), String> {
    let quantisation =
        |id: TensorId| model.tensor(id).quantisation.as_ref().ok_or("an operand is not quantised");
    if quantisation(between)? != quantisation(output)? {
        return Err("the pool changes the scale, which its kernel cannot".to_owned());
    }
    same("input zero point", i32::from(op.input_zero[0]), quantisation(input)?.zero())?;
    let weights = *conv.inputs.get(1).ok_or("no weights")?;
    same("weights' zero point", i32::from(op.input_zero[1]), quantisation(weights)?.zero())?;
    same("output zero point", i32::from(op.output_zero), quantisation(output)?.zero())?;
    let clamp = |node| integer::clamp(model, node).map_err(|e| e.to_string());
    let (first, second) = (clamp(conv)?, clamp(pool)?);
    let both = |value: i8| i16::from(value.max(second.0).min(second.1));
    same("clamp", (op.clamp_min, op.clamp_max), (both(first.0), both(first.1)))
}

/// The pool's window over a convolution's output of `size`.
fn check_pool(op: &Op, window: &Window, size: [u64; 3]) -> Result<(), String> {
    let pool = PoolBehind::of(op).ok_or("it has no pool")?;
    same("pool window", pool.window.map(usize::from), window.size)?;
    same("pool stride", pool.stride.map(usize::from), window.stride)?;
    same("pool dilation", [1, 1], window.dilation)?;
    let padding = [window.padding.top, window.padding.left];
    same("pool padding", pool.padding.map(usize::from), padding)?;
    same("size before the pool", pool.conv_size.map(u64::from), [size[0], size[1]])
}

fn start(tile: &Tile, axis: usize) -> u64 {
    u64::from(tile.output_start[axis])
}

fn last(tile: &Tile, axis: usize) -> u64 {
    start(tile, axis) + u64::from(tile.output_size[axis]).max(1) - 1
}

/// Rows or columns that a window sees at an output, as far as they lie behind the start.
fn sees(window: &Window, axis: usize, output: u64) -> std::ops::Range<u64> {
    let padding = [window.padding.top, window.padding.left][axis] as u64;
    let first = output * window.stride[axis] as u64;
    let end = first + (window.size[axis] as u64 - 1) * window.dilation[axis] as u64 + 1;
    first.saturating_sub(padding)..end.saturating_sub(padding)
}
