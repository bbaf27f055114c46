//! Quantised graphs. A graph of QuantizeLinear and DequantizeLinear is imported as the float graph
//! between them, whose tensors state the quantisation; operators on integers (QLinearConv ...) as
//! their float operators. What is stated becomes int8 after the passes.

use std::rc::Rc;

use tilewright_model::{Op, Quantisation};

use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::constant::{Constant, Values};
use crate::onnx::importer::{Activated, Importer, Value};
use crate::onnx::messages::NodeProto;

/// Scale and zero point of an activation, from two operands; uint8 is shifted to int8.
fn per_tensor(
    importer: &Importer<'_>,
    place: Place<'_>,
    [scale, zero]: [usize; 2],
) -> Result<Quantisation, FormatError> {
    let scales = importer.constant(place, scale)?;
    let scale = match scales.floats() {
        Some([scale]) if scale.is_finite() && *scale > 0.0 => *scale,
        Some([scale]) => return Err(place.bad(format!("its scale is {scale}"))),
        _ => return Err(place.unsupported("an activation must have one scale")),
    };
    let zero = match importer.optional(place, zero)? {
        // Without a zero point the type is uint8.
        None => -128,
        Some(Value::Constant(zeros)) => match zeros.ints() {
            Some([zero]) if importer.is_unsigned(&zeros.name) => *zero - 128,
            Some([zero]) => *zero,
            _ => return Err(place.bad("an activation must have one zero point")),
        },
        Some(Value::Activated(_)) => {
            return Err(place.unsupported("its zero point must be constant"));
        }
    };
    let zero = i32::try_from(zero).ok().filter(|zero| (-128..=127).contains(zero));
    let zero = zero.ok_or_else(|| place.unsupported("its zero point is outside 8 bits"))?;
    Ok(Quantisation::per_tensor(scale, zero))
}

/// The activation under a quantisation: itself where it states none or this one.
fn stating(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    value: Activated,
    quantisation: Quantisation,
) -> Result<Value, FormatError> {
    let stated = &mut importer.model.tensors[value.tensor.0].quantisation;
    match stated {
        None => *stated = Some(quantisation),
        Some(stated) if *stated == quantisation => {}
        Some(_) => {
            let order = value.order.clone();
            let requantised = importer.emit(place, Op::Requantise, vec![value.tensor], order)?;
            importer.model.tensors[requantised.tensor.0].quantisation = Some(quantisation);
            return Ok(Value::Activated(requantised));
        }
    }
    Ok(Value::Activated(value))
}

pub(super) fn quantize(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    match importer.operand(place, 0)? {
        Value::Activated(value) => {
            let quantisation = per_tensor(importer, place, [1, 2])?;
            stating(importer, place, value, quantisation)
        }
        Value::Constant(_) => Err(place.unsupported("quantising constants is not supported")),
    }
}

pub(super) fn dequantize(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    match importer.operand(place, 0)? {
        Value::Activated(value) => {
            let quantisation = per_tensor(importer, place, [1, 2])?;
            stating(importer, place, value, quantisation)
        }
        Value::Constant(constant) => {
            let axis = place.int("axis", 1);
            let name = place.node.output.first().cloned().unwrap_or_default();
            real(importer, place, &constant, name, axis, [1, 2])
        }
    }
}

/// The zero point of 8 bits, nearest to 0, that makes int8 of steps between these; they include 0.
fn common_zero((low, high): (i64, i64)) -> Option<i32> {
    let zeros = low.checked_add(128)?.checked_neg()?..=127i64.checked_sub(high)?;
    let zero = (!zeros.is_empty()).then(|| 0.clamp(*zeros.start(), *zeros.end()))?;
    i8::try_from(zero).ok().map(i32::from)
}

/// A constant of integers as reals; the importer notes the scales of those that are weights.
fn real(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    constant: &Constant,
    name: String,
    axis: i64,
    [scale, zero]: [usize; 2],
) -> Result<Value, FormatError> {
    let values = constant.ints().ok_or_else(|| place.bad("its operand holds no integers"))?;
    let scales = importer.constant(place, scale)?;
    let scales = scales.floats().ok_or_else(|| place.bad("its scales are no floats"))?.to_vec();
    if scales.iter().any(|scale| !scale.is_finite() || *scale <= 0.0) {
        return Err(place.bad("a scale is not positive and finite"));
    }
    let zeros = match importer.ints(place, zero)? {
        None => vec![0; scales.len()],
        Some(zeros) if zeros.len() == scales.len() => zeros,
        Some(zeros) => {
            return Err(place.bad(format!("{} zero points, {} scales", zeros.len(), scales.len())));
        }
    };
    let inner: usize = match scales.len() {
        1 => values.len().max(1),
        count => {
            let axis = place.axis(axis, constant.dims.len())?;
            if constant.dims[axis] != count {
                return Err(place.bad(format!("{count} scales for {:?}", constant.dims)));
            }
            constant.dims[axis + 1..].iter().product::<usize>().max(1)
        }
    };
    let slice = |position: usize| position / inner % scales.len();
    let steps: Vec<i64> = values
        .iter()
        .enumerate()
        .map(|(position, value)| value.saturating_sub(zeros[slice(position)]))
        .collect();
    importer.count(steps.len())?;
    let ends = steps.iter().fold((0, 0), |(low, high), step| (*step.min(&low), *step.max(&high)));
    match common_zero(ends) {
        Some(zero) => importer.note_scales(&name, scales.clone(), zero),
        None if values.iter().all(|value| (-128..=255).contains(value)) => {
            let (low, high) = ends;
            importer.model.notes.push(format!(
                "Weights '{}' are rounded to int8 anew: they are {low} to {high} steps from their \
                 zero points, of which each channel has its own, and one for all would not do.",
                constant.name
            ));
        }
        None => {}
    }
    let reals =
        steps.iter().enumerate().map(|(at, step)| *step as f32 * scales[slice(at)]).collect();
    let (dims, values) = (constant.dims.clone(), Values::Float(reals));
    Ok(Value::Constant(Rc::new(Constant { name, dims, values })))
}

/// Where an operator on integers has its parts: for each operand the value, its scale and its zero
/// point; then scale and zero point of the result.
struct Parts {
    op: &'static str,
    operands: Vec<[usize; 3]>,
    result: [usize; 2],
    bias: Option<usize>,
    /// The dimension of constants that several scales run along.
    axis: i64,
}

/// An operator of one operand, or of two.
fn parts(op: &'static str, operands: usize, bias: Option<usize>, axis: i64) -> Parts {
    let end = 3 * operands;
    // A bias in the middle moves the result back by one.
    let result = if bias == Some(end) { end + 1 } else { end };
    Parts { op, operands: triples(0, end), result: [result, result + 1], bias, axis }
}

/// Value, scale and zero point by turns, from `start` up to `end`.
fn triples(start: usize, end: usize) -> Vec<[usize; 3]> {
    (start..end).step_by(3).map(|at| [at, at + 1, at + 2]).collect()
}

fn known(node: &NodeProto) -> Option<Parts> {
    Some(match node.op_type.as_str() {
        "QLinearConv" => parts("Conv", 2, Some(8), 0),
        "QLinearMatMul" => parts("MatMul", 2, None, -1),
        "QGemm" => parts("Gemm", 2, Some(6), 0),
        "QLinearAdd" => parts("Add", 2, None, 0),
        "QLinearMul" => parts("Mul", 2, None, 0),
        "QLinearAveragePool" => parts("AveragePool", 1, None, 0),
        "QLinearConcat" => Parts {
            op: "Concat",
            operands: triples(2, node.input.len()),
            result: [0, 1],
            bias: None,
            axis: 0,
        },
        "QLinearGlobalAveragePool" => parts("GlobalAveragePool", 1, None, 0),
        "QLinearLeakyRelu" => parts("LeakyRelu", 1, None, 0),
        "QLinearSigmoid" => parts("Sigmoid", 1, None, 0),
        "QLinearSoftmax" => parts("Softmax", 1, None, 0),
        _ => return None,
    })
}

/// An operator on integers, as the float operator between what it states.
pub(super) fn linear(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let Some(parts) = known(place.node) else {
        return Err(place.bad("this operator is not supported"));
    };
    if place.flag("channels_last", false)? {
        return Err(place.unsupported("channels last are not supported"));
    }
    let mut node = NodeProto {
        name: place.node.name.clone(),
        op_type: parts.op.to_owned(),
        output: place.node.output.clone(),
        attribute: place.node.attribute.clone(),
        ..NodeProto::default()
    };
    for (index, [value, scale, zero]) in parts.operands.iter().enumerate() {
        let name = format!("{}.operand{index}", place.name());
        let operand = match importer.operand(place, *value)? {
            Value::Activated(value) => {
                let quantisation = per_tensor(importer, place, [*scale, *zero])?;
                stating(importer, place, value, quantisation)?
            }
            Value::Constant(constant) => {
                real(importer, place, &constant, name.clone(), parts.axis, [*scale, *zero])?
            }
        };
        importer.define(name.clone(), operand);
        node.input.push(name);
    }
    if let Some(bias) = parts.bias
        && importer.optional(place, bias)?.is_some()
    {
        let name = format!("{}.bias", place.name());
        let value = bias_of(importer, place, bias, name.clone())?;
        importer.define(name.clone(), value);
        node.input.push(name);
    }
    let inner = Place { node: &node, ..place };
    match super::import(importer, inner)? {
        Value::Activated(value) => {
            let quantisation = per_tensor(importer, place, parts.result)?;
            stating(importer, place, value, quantisation)
        }
        Value::Constant(_) => Err(place.bad("all its operands are constant")),
    }
}

/// A bias of 32 bits, whose scale is that of input and weights together.
fn bias_of(
    importer: &Importer<'_>,
    place: Place<'_>,
    index: usize,
    name: String,
) -> Result<Value, FormatError> {
    let constant = importer.constant(place, index)?;
    let values = constant.ints().ok_or_else(|| place.bad("its bias is no integers"))?;
    let (input, weights) = (importer.constant(place, 1)?, importer.constant(place, 4)?);
    let (Some([input]), Some(weights)) = (input.floats(), weights.floats()) else {
        return Err(place.bad("its scales are no floats"));
    };
    let scale = |at: usize| weights[if weights.len() == 1 { 0 } else { at }];
    if weights.len() != 1 && weights.len() != values.len() {
        return Err(place.bad(format!("{} scales, a bias of {}", weights.len(), values.len())));
    }
    let reals =
        values.iter().enumerate().map(|(at, value)| *value as f32 * (input * scale(at))).collect();
    let (dims, values) = (vec![values.len()], Values::Float(reals));
    Ok(Value::Constant(Rc::new(Constant { name, dims, values })))
}
