//! Shapes and element types that each operator demands of its operands and gives its result.
//!
//! Shapes come from here and not from tract, whose inference panics on some files; sizes are checked before anything is allocated.

mod layout;
mod window;

use crate::graph::{Model, Node};
use crate::op::Op;
use crate::shape::Shape;
use crate::tensor::{DType, Tensor};

/// Shape of the node's only result, after checking operands and attributes. Where the operator
/// leaves sizes open (reshape, resize, transposed convolution, opaque), they are those of the
/// output tensor.
///
/// # Errors
/// What contradicts the operator, as a phrase.
pub fn result_shape(model: &Model, node: &Node) -> Result<Shape, String> {
    let operands: Vec<&Tensor> = node
        .inputs
        .iter()
        .map(|id| model.tensors.get(id.0).ok_or("an operand does not exist"))
        .collect::<Result<_, _>>()?;
    let [output] = node.outputs.as_slice() else {
        return Err(format!("{} results instead of one", node.outputs.len()));
    };
    let output = model.tensors.get(output.0).ok_or("its result does not exist")?;
    arity(&node.op, operands.len())?;
    dtypes(&node.op, &operands, output)?;
    let first = operands.first().map_or(&[][..], |tensor| tensor.shape.dims());
    let second = operands.get(1).map_or(&[][..], |tensor| tensor.shape.dims());
    if node.op.is_weighted()
        && let Some(bias) = operands.get(2)
    {
        let axis = if matches!(node.op, Op::DepthwiseConv { .. }) { second.len() } else { 1 };
        let channels = axis.checked_sub(1).and_then(|axis| second.get(axis)).copied();
        if channels.is_none_or(|channels| bias.shape.dims() != [channels]) {
            return Err(format!(
                "bias of shape {} for weights of {}",
                bias.shape, operands[1].shape
            ));
        }
    }
    let stated = output.shape.dims();
    let dims = match &node.op {
        Op::Conv { window, groups, .. } => window::convolution(first, second, window, *groups)?,
        Op::DepthwiseConv { window, multiplier, .. } => {
            window::depthwise(first, second, window, *multiplier)?
        }
        Op::TransposeConv { window, .. } => {
            window::transposed_convolution(first, second, stated, window)?
        }
        Op::FullyConnected { .. } => match (first, second) {
            ([batch, inputs], [outputs, taken]) if inputs == taken => vec![*batch, *outputs],
            _ => return Err(mismatch(&operands)),
        },
        Op::AveragePool { window, uncounted, .. }
            if uncounted[0] > window.padding.bottom || uncounted[1] > window.padding.right =>
        {
            return Err("more of its padding does not count than there is".to_owned());
        }
        Op::MaxPool { window, .. } | Op::AveragePool { window, .. } => window::pool(first, window)?,
        Op::Mean { axes, keep_dims } => layout::reduced(first, axes, *keep_dims)?,
        Op::ArgMax { axis, keep_dims } => layout::reduced(first, &[*axis], *keep_dims)?,
        Op::Add { .. }
        | Op::Sub { .. }
        | Op::Mul { .. }
        | Op::Div { .. }
        | Op::Maximum
        | Op::Minimum => layout::broadcast(first, second).ok_or_else(|| mismatch(&operands))?,
        Op::Prelu => match layout::broadcast(first, second) {
            Some(dims) if dims == first => dims,
            _ => return Err(mismatch(&operands)),
        },
        Op::Pad { filler, .. } if filler.is_nan() => {
            return Err("its filler is no number".to_owned());
        }
        Op::Pad { amounts, .. } => layout::padded(first, amounts)?,
        Op::Concat { axis } => layout::concatenated(&operands, *axis)?,
        Op::Reshape => {
            if operands[0].shape.elements() != output.shape.elements() {
                return Err(format!("{} elements become {}", operands[0].shape, output.shape));
            }
            stated.to_vec()
        }
        Op::Transpose { permutation } => layout::transposed(first, permutation)?,
        Op::Slice { begin, size, stride } => layout::sliced(first, begin, size, stride)?,
        Op::SpaceToDepth { block } => layout::space_to_depth(first, *block)?,
        Op::DepthToSpace { block } => layout::depth_to_space(first, *block)?,
        Op::Resize { places, .. } => layout::resized(first, stated, places.as_ref())?,
        Op::BatchNorm { epsilon } => {
            let channels = first.last().copied().ok_or("its input is a scalar")?;
            if operands[1..].iter().any(|tensor| tensor.shape.dims() != [channels]) {
                return Err(mismatch(&operands));
            }
            check_number("epsilon", *epsilon, *epsilon >= 0.0)?;
            first.to_vec()
        }
        Op::Softmax | Op::LogSoftmax if first.is_empty() => {
            return Err("its input is a scalar".to_owned());
        }
        Op::LocalResponseNorm { size, alpha, beta, bias } => {
            if *size == 0 || first.is_empty() {
                return Err("it has no channels to sum".to_owned());
            }
            check_number("alpha", *alpha, *alpha >= 0.0)?;
            check_number("beta", *beta, true)?;
            check_number("bias", *bias, *bias >= 0.0)?;
            first.to_vec()
        }
        Op::Unary(unary) if !unary.is_valid() => {
            return Err("a parameter is no number, or its bounds are in the wrong order".to_owned());
        }
        Op::Activation(_) | Op::Unary(_) | Op::Requantise | Op::Softmax | Op::LogSoftmax => {
            first.to_vec()
        }
        Op::Opaque { .. } => stated.to_vec(),
    };
    let shape = Shape::new(dims);
    shape.elements().ok_or("the result's size overflows")?;
    Ok(shape)
}

fn arity(op: &Op, count: usize) -> Result<(), String> {
    let allowed = match op {
        op if op.is_weighted() => 2..=3,
        op if op.is_binary() => 2..=2,
        Op::Prelu => 2..=2,
        Op::Concat { .. } => 1..=usize::MAX,
        Op::Opaque { .. } => 0..=usize::MAX,
        Op::BatchNorm { .. } => 5..=5,
        _ => 1..=1,
    };
    if allowed.contains(&count) { Ok(()) } else { Err(format!("{count} operands")) }
}

fn dtypes(op: &Op, operands: &[&Tensor], output: &Tensor) -> Result<(), String> {
    let expected = match op {
        Op::Opaque { .. } => return Ok(()),
        Op::ArgMax { .. } if output.dtype != DType::I32 => {
            return Err(format!("its result is {} instead of int32", output.dtype.name()));
        }
        Op::ArgMax { .. } => operands.first().map_or(DType::F32, |operand| operand.dtype),
        _ => output.dtype,
    };
    if expected == DType::I32 && (!op.only_moves() || matches!(op, Op::Resize { .. })) {
        return Err("does not work on 32-bit integers".to_owned());
    }
    if !expected.has_values() && !matches!(op, Op::Reshape) {
        return Err(format!("does not work on {}", expected.name()));
    }
    for (index, operand) in operands.iter().enumerate() {
        let is_bias = op.is_weighted() && index == 2;
        let wanted = if is_bias && expected == DType::I8 { DType::I32 } else { expected };
        if operand.dtype != wanted {
            return Err(format!(
                "operand '{}' is {} where {} is needed",
                operand.name,
                operand.dtype.name(),
                wanted.name()
            ));
        }
    }
    if expected == DType::I8 && matches!(op, Op::BatchNorm { .. } | Op::Div { .. }) {
        return Err("has no int8 form".to_owned());
    }
    Ok(())
}

fn check_number(name: &str, value: f32, holds: bool) -> Result<(), String> {
    if value.is_finite() && holds { Ok(()) } else { Err(format!("its {name} is {value}")) }
}

fn mismatch(operands: &[&Tensor]) -> String {
    let shapes: Vec<String> = operands.iter().map(|tensor| tensor.shape.to_string()).collect();
    format!("operands of shapes {} do not fit each other", shapes.join(", "))
}
