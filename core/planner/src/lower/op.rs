//! Op records: geometry and quantisation of nodes.

use super::{place_of, shape, unsupported};
use crate::PlanError;
use crate::narrow::narrow;
use tilewright_model::integer::{self, IntegerError, Multiplier};
use tilewright_model::{Model, Node, Op as ModelOp, ResizeMode, TensorId, Window};
use tilewright_plan::{Kernel, Op, PoolBehind};

/// The record of a node for a step with these operands: of a concat one of several.
///
/// # Errors
/// If a number does not fit its field, or quantisation has no integer form.
pub fn op(
    model: &Model,
    node: &Node,
    kernel: Kernel,
    inputs: &[TensorId],
    output: TensorId,
) -> Result<Op, PlanError> {
    let integer_error =
        |source: IntegerError| PlanError::Integer { node: node.name.clone(), source };
    let input = *inputs.first().ok_or_else(|| unsupported(node, "no operand"))?;
    // Kernels with weights have one input in memory; their second zero point is the weights'.
    let second = if node.op.is_weighted() { node.inputs.get(1) } else { inputs.get(1) };
    let mut op = Op {
        kernel: kernel as u16,
        window: [1, 1],
        stride: [1, 1],
        dilation: [1, 1],
        groups: 1,
        input_zero: [zero(model, input), second.map_or(0, |id| zero(model, *id))],
        output_zero: zero(model, output),
        clamp_min: -128,
        clamp_max: 127,
        ..Op::default()
    };
    if kernel.spec().result_bytes == 1 {
        let (low, high) = integer::clamp(model, node).map_err(integer_error)?;
        (op.clamp_min, op.clamp_max) = (i16::from(low), i16::from(high));
    }
    if let Some(window) = node.op.window() {
        set_window(node, window, &mut op)?;
    }
    if let ModelOp::AveragePool { halves_up: true, .. } = node.op {
        op.flags = Op::HALVES_UP;
    }
    let scalars = match &node.op {
        ModelOp::Conv { groups, .. } => {
            op.groups = small(node, *groups, "groups")?;
            Vec::new()
        }
        ModelOp::DepthwiseConv { multiplier, .. } => {
            op.groups = small(node, *multiplier, "channel multiplier")?;
            Vec::new()
        }
        ModelOp::AveragePool { window, count_padding: true, uncounted, .. } => {
            op.flags |= Op::COUNT_PADDING;
            let [h, w, _] = shape(model, input)?;
            let behind = [window.padding.bottom, window.padding.right];
            let mut ends = Vec::new();
            for ((length, behind), uncounted) in [h, w].into_iter().zip(behind).zip(uncounted) {
                let counted = behind.saturating_sub(*uncounted);
                ends.push(
                    i32::from(narrow::<u16>(length)) + i32::from(small(node, counted, "padding")?),
                );
            }
            ends
        }
        ModelOp::Add { .. } | ModelOp::Sub { .. } => {
            let p = integer::add(model, node).map_err(integer_error)?;
            numbers(&[p.first, p.second, p.output])
        }
        ModelOp::Mul { .. } => numbers(&[integer::mul(model, node).map_err(integer_error)?]),
        ModelOp::Prelu => {
            let p = integer::prelu(model, node).map_err(integer_error)?;
            numbers(&[p.positive, p.negative])
        }
        ModelOp::Concat { .. } => {
            numbers(&[integer::requantise(model, input, output).map_err(integer_error)?])
        }
        ModelOp::Mean { axes, .. } => {
            op.flags = over(model, input, axes);
            numbers(&[integer::mean(model, node).map_err(integer_error)?])
        }
        ModelOp::ArgMax { axis, .. } => {
            op.flags = over(model, input, &[*axis]);
            Vec::new()
        }
        ModelOp::Softmax => {
            let p = integer::softmax(model, node).map_err(integer_error)?;
            vec![p.multiplier, p.left_shift, p.diff_min]
        }
        ModelOp::LogSoftmax => {
            let p = integer::log_softmax(model, node).map_err(integer_error)?;
            vec![p.scale.q31, p.scale.shift, p.diff_min, p.reverse.q31, p.reverse.shift]
        }
        ModelOp::LocalResponseNorm { .. } => {
            let p = integer::local_response(model, node).map_err(integer_error)?;
            let [before, behind] = p.around;
            let most = |around: usize| i32::try_from(around).unwrap_or(i32::MAX);
            vec![most(before), most(behind), p.shift]
        }
        ModelOp::Resize { mode: ResizeMode::Bilinear, .. } => {
            let p = integer::bilinear(model, node).map_err(integer_error)?;
            [p.step, p.first].concat()
        }
        ModelOp::Resize { mode: ResizeMode::Nearest, .. } => {
            let [h, w, _] = shape(model, output)?;
            op.window = [narrow(h), narrow(w)];
            Vec::new()
        }
        ModelOp::Pad { amounts, .. } => {
            // The kernel fills with the zero point that it is given.
            op.output_zero = i16::from(integer::filler(model, node));
            let [(0, 0), (top, _), (left, _), (before, _)] = amounts.as_slice() else {
                return Err(unsupported(node, "padding of other than height, width and channels"));
            };
            op.padding = [small(node, *top, "padding")?, small(node, *left, "padding")?];
            vec![i32::from(small(node, *before, "padding")?)]
        }
        _ => Vec::new(),
    };
    for (slot, scalar) in op.scalars.iter_mut().zip(scalars) {
        *slot = scalar;
    }
    Ok(op)
}

/// Adds to the record of a convolution the max pool that is computed with it.
///
/// # Errors
/// If a number does not fit its field, or a clamp has no integer form.
pub fn pool_behind(
    model: &Model,
    conv: &Node,
    pool: &Node,
    record: &mut Op,
) -> Result<(), PlanError> {
    let integer_error =
        |source: IntegerError| PlanError::Integer { node: pool.name.clone(), source };
    let (low, high) = integer::clamp(model, pool).map_err(integer_error)?;
    let both = |value: i16| value.clamp(i16::from(low), i16::from(high));
    (record.clamp_min, record.clamp_max) = (both(record.clamp_min), both(record.clamp_max));
    let between = *conv.outputs.first().ok_or_else(|| unsupported(conv, "no output"))?;
    let [h, w, _] = shape(model, between)?;
    let mut of_pool = Op::default();
    let window = pool.op.window().ok_or_else(|| unsupported(pool, "no window"))?;
    set_window(pool, window, &mut of_pool)?;
    let Op { window, stride, padding, .. } = of_pool;
    let behind = PoolBehind { window, stride, padding, conv_size: [narrow(h), narrow(w)] };
    record.scalars[..4].copy_from_slice(&behind.scalars());
    Ok(())
}

/// Zero point of a tensor.
pub fn zero(model: &Model, id: TensorId) -> i16 {
    let zero = model.tensor(id).quantisation.as_ref().map_or(0, |q| q.zero());
    i8::try_from(zero.clamp(-128, 127)).map_or(0, i16::from)
}

fn numbers(multipliers: &[Multiplier]) -> Vec<i32> {
    multipliers.iter().flat_map(|m| [m.q31, m.shift]).collect()
}

/// Flags for the dimensions that are taken together.
fn over(model: &Model, input: TensorId, axes: &[usize]) -> u16 {
    let rank = model.tensor(input).shape.rank();
    let places = axes.iter().filter_map(|axis| place_of(rank, *axis));
    places.fold(0, |flags, place| flags | Op::OVER[place])
}

fn set_window(node: &Node, window: &Window, op: &mut Op) -> Result<(), PlanError> {
    for axis in 0..2 {
        op.window[axis] = small(node, window.size[axis], "window")?;
        op.stride[axis] = small(node, window.stride[axis], "stride")?;
        op.dilation[axis] = small(node, window.dilation[axis], "dilation")?;
    }
    let padding = [window.padding.top, window.padding.left];
    op.padding = [small(node, padding[0], "padding")?, small(node, padding[1], "padding")?];
    Ok(())
}

fn small(node: &Node, value: usize, what: &str) -> Result<u16, PlanError> {
    u16::try_from(value).map_err(|_| unsupported(node, format!("{what} of {value}")))
}
