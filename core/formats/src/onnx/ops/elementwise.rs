//! Operators on single elements, and softmax.

use std::rc::Rc;

use tilewright_model::{Activation, Op, Unary};

use super::{folding, requantised};
use crate::onnx::attributes::Place;
use crate::onnx::constant::Constant;
use crate::onnx::importer::{Activated, Importer, Value, as_given, channels_last};
use crate::{FormatError, elements};

fn activation(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    activation: Activation,
) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let op = Op::Activation(activation);
    importer.emit(place, op, vec![input.tensor], input.order).map(Value::Activated)
}

pub(super) fn relu(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    activation(importer, place, Activation::Relu)
}

pub(super) fn clip(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let bound = |index: usize, name: &str, default: f32| -> Result<f32, FormatError> {
        if place.attribute(name).is_some() || importer.optional(place, index)?.is_none() {
            return place.float(name, default);
        }
        let constant = importer.constant(place, index)?;
        match constant.floats() {
            Some([value]) => Ok(*value),
            _ => Err(place.unsupported(format!("operand {index} must be one float"))),
        }
    };
    let low = bound(1, "min", f32::NEG_INFINITY)?;
    let high = bound(2, "max", f32::INFINITY)?;
    if let Some(clipped) = requantised::clip(importer, place, [low, high])? {
        return Ok(clipped);
    }
    if low == 0.0 && high == 6.0 {
        activation(importer, place, Activation::Relu6)
    } else if low == 0.0 && high >= f32::MAX {
        activation(importer, place, Activation::Relu)
    } else if low <= f32::MIN && high >= f32::MAX {
        activation(importer, place, Activation::None)
    } else if low == -1.0 && high == 1.0 {
        activation(importer, place, Activation::ReluN1To1)
    } else {
        super::functions::apply(importer, place, Unary::Clip { low, high })
    }
}

pub(super) fn batch_normalization(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    if place.flag("training_mode", false)? {
        return Err(place.unsupported("training_mode is not supported"));
    }
    let input = importer.activated(place, 0)?;
    let rank = importer.dims(&input).len();
    let order = channels_last(rank);
    let mut operands = vec![importer.in_order(&input, &order)];
    for index in 1..5 {
        let constant = importer.constant(place, index)?;
        let values =
            constant.floats().ok_or_else(|| place.bad(format!("operand {index} is no floats")))?;
        operands.push(importer.weights(&constant.name, &constant.dims, values.to_vec())?);
    }
    let epsilon = place.float("epsilon", 1e-5)?;
    importer.emit(place, Op::BatchNorm { epsilon }, operands, order).map(Value::Activated)
}

/// What `x ∘ constant` does to x: x · scale + offset.
type Affine = fn(f32) -> (f32, f32);

pub(super) fn add(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    binary(importer, place, |c| (1.0, c), Some(|c| (1.0, c)), true)
}

pub(super) fn sub(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    binary(importer, place, |c| (1.0, -c), Some(|c| (-1.0, c)), false)
}

pub(super) fn mul(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    binary(importer, place, |c| (c, 0.0), Some(|c| (c, 0.0)), false)
}

pub(super) fn div(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let quotient = binary(importer, place, |c| (1.0 / c, 0.0), None, false)?;
    match quotient {
        Value::Activated(quotient) if importer.is_whole(place) => {
            requantised::rounded_down(importer, place, &quotient)
        }
        quotient => Ok(quotient),
    }
}

/// `behind` is for a constant second operand, `before` for a constant first.
fn binary(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    behind: Affine,
    before: Option<Affine>,
    adds: bool,
) -> Result<Value, FormatError> {
    // Versions before 7 broadcast along a stated axis.
    if place.flag("broadcast", false)? && place.attribute("axis").is_some() {
        return Err(
            place.unsupported("broadcasting along an axis is of a version before 7: convert it")
        );
    }
    let pair = (importer.operand(place, 0)?, importer.operand(place, 1)?);
    let pair = match pair {
        (Value::Activated(_), Value::Activated(_)) | (Value::Constant(_), Value::Constant(_)) => {
            pair
        }
        pair if importer.is_whole(place) => requantised::in_floats(importer, place, pair)?,
        pair => pair,
    };
    let (value, constant, affine) = match pair {
        (Value::Activated(first), Value::Activated(second)) if adds => {
            return add_activations(importer, place, &first, &second).map(Value::Activated);
        }
        (Value::Activated(_), Value::Activated(_)) => return general(importer, place),
        (Value::Activated(value), Value::Constant(constant)) => (value, constant, Some(behind)),
        (Value::Constant(constant), Value::Activated(value)) => (value, constant, before),
        (Value::Constant(first), Value::Constant(second)) => {
            return folding::arithmetic(importer, place, &first, &second);
        }
    };
    let dims = importer.dims(&value);
    let (Some(values), Some(affine)) = (constant.floats(), affine) else {
        return general(importer, place);
    };
    if let Some(axis) = channel_axis(&constant, &dims, &value.order) {
        return per_channel(importer, place, &value, &constant.name, axis, |channel| {
            affine(values[channel % values.len().max(1)])
        });
    }
    if place.node.op_type != "Add" || constant.dims.len() > dims.len() {
        return general(importer, place);
    }
    if !broadcasts(&constant.dims, &dims) {
        return general(importer, place);
    }
    elements(&constant.name, &dims, importer.limits)?;
    let whole = folding::broadcast(values, &constant.dims, &dims);
    let tensor = importer.weights(&constant.name, &dims, whole)?;
    let whole = Activated { tensor, order: as_given(dims.len()) };
    add_activations(importer, place, &value, &whole).map(Value::Activated)
}

fn add_activations(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    first: &Activated,
    second: &Activated,
) -> Result<Activated, FormatError> {
    let op = Op::Add { activation: Activation::None };
    joined(importer, place, op, first.clone(), second.clone())
}

/// An operator on two activations that broadcast.
fn joined(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    op: Op,
    first: Activated,
    second: Activated,
) -> Result<Activated, FormatError> {
    let rank = first.order.len().max(second.order.len());
    let first = of_rank(importer, place, first, rank)?;
    let second = of_rank(importer, place, second, rank)?;
    let tensor = importer.in_order(&second, &first.order);
    importer.emit(place, op, vec![first.tensor, tensor], first.order)
}

/// The activation with dimensions of one element in front, as broadcasting has it.
pub(super) fn of_rank(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    value: Activated,
    rank: usize,
) -> Result<Activated, FormatError> {
    let dims = importer.dims(&value);
    let Some(missing) = rank.checked_sub(dims.len()).filter(|missing| *missing > 0) else {
        return Ok(value);
    };
    let tensor = importer.in_order(&value, &as_given(dims.len()));
    let shape: Vec<usize> = std::iter::repeat_n(1, missing).chain(dims).collect();
    importer.reshape(place, tensor, &shape, as_given(rank))
}

/// An operator on two values, activations or constants.
fn general(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let activation = Activation::None;
    let op = match place.node.op_type.as_str() {
        "Add" => Op::Add { activation },
        "Sub" => Op::Sub { activation },
        "Mul" => Op::Mul { activation },
        "Div" => Op::Div { activation },
        "Max" => Op::Maximum,
        "Min" => Op::Minimum,
        _ => Op::Prelu,
    };
    let mut value = importer.activated(place, 0)?;
    if place.node.input.len() > 2 && !matches!(op, Op::Maximum | Op::Minimum) {
        return Err(place.bad(format!("{} operands", place.node.input.len())));
    }
    for index in 1..place.node.input.len() {
        let next = importer.activated(place, index)?;
        value = joined(importer, place, op.clone(), value, next)?;
    }
    Ok(Value::Activated(value))
}

/// The larger or the smaller of its operands.
pub(super) fn extreme(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    if let [Value::Constant(first), Value::Constant(second)] = importer.operands(place)?.as_slice()
    {
        return folding::arithmetic(importer, place, first, second);
    }
    general(importer, place)
}

pub(super) fn prelu(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let operands = (importer.operand(place, 0)?, importer.operand(place, 1)?);
    if let (Value::Activated(input), Value::Constant(slopes)) = operands {
        let dims = importer.dims(&input);
        // Old files give one slope for each channel without the dimensions behind.
        if place.opset < 7 && dims.len() > 2 && slopes.dims == [dims[1]] {
            let mut slopes = Constant::clone(&slopes);
            slopes.dims.resize(dims.len() - 1, 1);
            let name = format!("{}.slopes", place.name());
            importer.define(name.clone(), Value::Constant(Rc::new(slopes)));
            let mut node = place.node.clone();
            node.input[1] = name;
            return general(importer, Place { node: &node, ..place });
        }
    }
    general(importer, place)
}

/// The ONNX axis along which alone the constant varies when broadcast to `dims`; for a scalar that
/// of the innermost dimension of the tensor. Nothing if it varies along more or cannot broadcast.
pub(super) fn channel_axis(constant: &Constant, dims: &[usize], order: &[usize]) -> Option<usize> {
    if constant.len() == 1 && constant.dims.len() <= dims.len() {
        return order.last().copied();
    }
    let offset = dims.len().checked_sub(constant.dims.len())?;
    let mut varying = constant.dims.iter().enumerate().filter(|(_, dim)| **dim != 1);
    let (axis, dim) = varying.next()?;
    (varying.next().is_none() && dims[axis + offset] == *dim).then_some(axis + offset)
}

/// x · scale + offset for each channel along an ONNX axis: a batch normalisation without
/// statistics, which passes fold.
pub(super) fn per_channel(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    value: &Activated,
    name: &str,
    axis: usize,
    affine: impl Fn(usize) -> (f32, f32),
) -> Result<Value, FormatError> {
    let channels = importer.dims(value)[axis];
    folding::room(importer, place, &[4, channels])?;
    let mut order: Vec<usize> = value.order.iter().copied().filter(|a| *a != axis).collect();
    order.push(axis);
    let mut operands = vec![importer.in_order(value, &order)];
    let (scales, offsets): (Vec<f32>, Vec<f32>) = (0..channels).map(affine).unzip();
    for (suffix, values) in [
        ("scale", scales),
        ("offset", offsets),
        ("mean", vec![0.0; channels]),
        ("variance", vec![1.0; channels]),
    ] {
        let name = format!("{name}.{suffix}");
        operands.push(importer.weights(&name, &[channels], values)?);
    }
    let op = Op::BatchNorm { epsilon: 0.0 };
    importer.emit(place, op, operands, order).map(Value::Activated)
}

/// Whether dimensions `from` broadcast to dimensions `to`.
fn broadcasts(from: &[usize], to: &[usize]) -> bool {
    let Some(offset) = to.len().checked_sub(from.len()) else { return false };
    from.iter().zip(&to[offset..]).all(|(have, want)| *have == 1 || have == want)
}

pub(super) fn sum(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let mut total = importer.activated(place, 0)?;
    if place.node.input.len() == 1 {
        return Ok(Value::Activated(total));
    }
    for index in 1..place.node.input.len() {
        let next = importer.activated(place, index)?;
        total = add_activations(importer, place, &total, &next)?;
    }
    Ok(Value::Activated(total))
}

/// The sum of the operands over their number.
pub(super) fn mean(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let total = sum(importer, place)?;
    let factor = 1.0 / place.node.input.len() as f32;
    match &total {
        Value::Activated(value) if factor != 1.0 => {
            let axis = *value.order.last().ok_or_else(|| place.unsupported("a mean of scalars"))?;
            per_channel(importer, place, value, place.name(), axis, |_| (factor, 0.0))
        }
        _ => Ok(total),
    }
}

pub(super) fn softmax(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    over_rows(importer, place, &Op::Softmax)
}

pub(super) fn log_softmax(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    over_rows(importer, place, &Op::LogSoftmax)
}

fn over_rows(importer: &mut Importer<'_>, place: Place<'_>, op: &Op) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let dims = importer.dims(&input);
    let flattens = place.opset < 13;
    let axis = place.axis(place.int("axis", if flattens { 1 } else { -1 }), dims.len())?;
    // Before version 13 all dimensions from the axis on took part together.
    let alone = !flattens || dims[axis + 1..].iter().all(|dim| *dim == 1);
    if alone {
        let mut order: Vec<usize> = input.order.iter().copied().filter(|a| *a != axis).collect();
        order.push(axis);
        let tensor = importer.in_order(&input, &order);
        return importer.emit(place, op.clone(), vec![tensor], order).map(Value::Activated);
    }
    let order = as_given(dims.len());
    let tensor = importer.in_order(&input, &order);
    let flat = [dims[..axis].iter().product(), dims[axis..].iter().product()];
    let rows = importer.reshape(place, tensor, &flat, as_given(2))?;
    let shares = importer.emit(place, op.clone(), vec![rows.tensor], as_given(2))?;
    importer.reshape(place, shares.tensor, &dims, order).map(Value::Activated)
}
