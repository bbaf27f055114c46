//! Products with constant matrices.

use std::rc::Rc;

use tilewright_model::{Activation, Op, TensorId};

use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::constant::{Constant, Values};
use crate::onnx::importer::{Importer, Value, as_given};

/// Adds weights as rows of inputs for each output, times `factor`; their shape too.
fn rows(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    weights: &Constant,
    transposed: bool,
    factor: f32,
) -> Result<([usize; 2], TensorId), FormatError> {
    let [first, second] = *weights.dims.as_slice() else {
        let reason = format!("weights {:?}: only matrices are supported", weights.dims);
        return Err(place.unsupported(reason));
    };
    let (shape, seen) = if transposed {
        ([first, second], [1, 1, first * second])
    } else {
        ([second, first], [1, first, second])
    };
    if factor == 1.0 {
        return Ok((shape, importer.swapped(weights, &shape, seen)?));
    }
    super::folding::room(importer, place, &weights.dims)?;
    let values = weights.floats().ok_or_else(|| place.bad("its weights are no floats"))?;
    let scaled = Constant {
        // Under a factor the weights are not what their scales say.
        name: format!("{}.scaled", weights.name),
        dims: weights.dims.clone(),
        values: Values::Float(values.iter().map(|value| value * factor).collect()),
    };
    Ok((shape, importer.swapped(&scaled, &shape, seen)?))
}

pub(super) fn gemm(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let weights = match importer.operand(place, 1)? {
        Value::Constant(weights) => weights,
        Value::Activated(second) => {
            return super::opaque::product(importer, place, &input, &second);
        }
    };
    let rank = input.order.len();
    let turned = rank == 2 && place.flag("transA", false)?;
    let (transposed, factor) = (place.flag("transB", false)?, place.float("alpha", 1.0)?);
    let order = if turned { vec![1, 0] } else { as_given(rank) };
    let mut operands = vec![importer.in_order(&input, &order)];
    let (shape, weights) = rows(importer, place, &weights, transposed, factor)?;
    operands.push(weights);
    let bias = match importer.optional(place, 2)? {
        None => None,
        Some(_) => Some(importer.constant(place, 2)?),
    };
    let beta = place.float("beta", 1.0)?;
    let outputs = shape[0];
    let op = Op::FullyConnected { activation: Activation::None };
    let Some(bias) = bias else {
        return importer.emit(place, op, operands, as_given(2)).map(Value::Activated);
    };
    let values = bias.floats().ok_or_else(|| place.bad("its bias is no floats"))?;
    let scaled: Vec<f32> = values.iter().map(|value| value * beta).collect();
    // The same for all rows: one number, or one for each output.
    if values.len() == 1 || bias.dims.last() == Some(&outputs) && values.len() == outputs {
        let each = (0..outputs).map(|i| scaled[i % scaled.len()]).collect();
        operands.push(importer.weights(&bias.name, &[outputs], each)?);
        return importer.emit(place, op, operands, as_given(2)).map(Value::Activated);
    }
    // One that differs from row to row.
    let product = importer.emit(place, op, operands, as_given(2))?;
    let bias = importer.weights(&bias.name, &bias.dims, scaled)?;
    let sum = Op::Add { activation: Activation::None };
    importer.emit(place, sum, vec![product.tensor, bias], as_given(2)).map(Value::Activated)
}

/// A product with a constant matrix, on either side; of activations it is only looked at.
pub(super) fn matmul(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let (input, weights, turned) = match (importer.operand(place, 0)?, importer.operand(place, 1)?)
    {
        (Value::Activated(input), Value::Constant(weights)) => (input, weights, false),
        (Value::Constant(weights), Value::Activated(input)) => (input, weights, true),
        (Value::Activated(first), Value::Activated(second)) => {
            return super::opaque::product(importer, place, &first, &second);
        }
        (Value::Constant(_), Value::Constant(_)) => {
            return Err(place.bad("a constant stands where an activation must"));
        }
    };
    // A vector is a matrix of one row or column, which the result does not have.
    let (weights, is_vector) = match *weights.dims.as_slice() {
        [count] => {
            let dims = if turned { vec![1, count] } else { vec![count, 1] };
            (Rc::new(Constant { dims, ..Constant::clone(&weights) }), true)
        }
        _ => (weights, false),
    };
    let op = Op::FullyConnected { activation: Activation::None };
    let dims = importer.dims(&input);
    // W·x is the transpose of xᵀ·Wᵀ; a vector is its own.
    let mut order = as_given(dims.len());
    if turned && dims.len() > 1 {
        order[dims.len() - 2..].reverse();
    }
    let dims: Vec<usize> = order.iter().map(|axis| dims[*axis]).collect();
    let Some((taken, outer)) = dims.split_last() else {
        return Err(place.bad("its first operand is a scalar"));
    };
    let mut tensor = importer.in_order(&input, &order);
    let (shape, weights) = rows(importer, place, &weights, turned, 1.0)?;
    if dims.len() != 2 {
        let flat = [outer.iter().product(), *taken];
        tensor = importer.reshape(place, tensor, &flat, as_given(2))?.tensor;
    }
    if dims.len() == 2 && !is_vector {
        return importer.emit(place, op, vec![tensor, weights], order).map(Value::Activated);
    }
    let product = importer.emit(place, op, vec![tensor, weights], as_given(2))?;
    if is_vector {
        if outer.is_empty() {
            return Err(place.unsupported("its result is a scalar"));
        }
        let order = as_given(outer.len());
        return importer.reshape(place, product.tensor, outer, order).map(Value::Activated);
    }
    let full: Vec<usize> = outer.iter().copied().chain([shape[0]]).collect();
    importer.reshape(place, product.tensor, &full, order).map(Value::Activated)
}
