//! Products with constant matrices.

use std::rc::Rc;

use tilewright_model::{Activation, Op};

use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::constant::Constant;
use crate::onnx::importer::{Importer, Value, as_given};

/// Weights as rows of inputs for each output, times `factor`.
fn rows(
    place: Place<'_>,
    weights: &Rc<Constant>,
    transposed: bool,
    factor: f32,
) -> Result<([usize; 2], Vec<f32>), FormatError> {
    let ([first, second], Some(values)) = (weights.dims.as_slice(), weights.floats()) else {
        return Err(place.bad(format!("weights {:?} are no matrix of floats", weights.dims)));
    };
    let scaled = |value: f32| if factor == 1.0 { value } else { value * factor };
    if transposed {
        return Ok(([*first, *second], values.iter().map(|value| scaled(*value)).collect()));
    }
    let mut moved = Vec::with_capacity(values.len());
    for output in 0..*second {
        moved.extend((0..*first).map(|input| scaled(values[input * second + output])));
    }
    Ok(([*second, *first], moved))
}

pub(super) fn gemm(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    if place.flag("transA", false)? {
        return Err(place.bad("transA is not supported"));
    }
    let input = importer.activated(place, 0)?;
    let rank = importer.dims(&input).len();
    let weights = importer.constant(place, 1)?;
    let (shape, values) =
        rows(place, &weights, place.flag("transB", false)?, place.float("alpha", 1.0)?)?;
    let mut operands = vec![importer.in_order(&input, &as_given(rank))];
    // Under a factor the weights are not what their scales say.
    let name = if place.float("alpha", 1.0)? == 1.0 { "" } else { ".scaled" };
    operands.push(importer.weights(&format!("{}{name}", weights.name), &shape, values)?);
    if importer.optional(place, 2)?.is_some() {
        let bias = importer.constant(place, 2)?;
        let beta = place.float("beta", 1.0)?;
        let outputs = shape[0];
        let values = bias
            .floats()
            .filter(|values| values.len() == outputs || values.len() == 1)
            .ok_or_else(|| place.bad(format!("its bias must be {outputs} floats")))?;
        let values = (0..outputs).map(|i| values[i % values.len()] * beta).collect();
        operands.push(importer.weights(&bias.name, &[outputs], values)?);
    }
    let op = Op::FullyConnected { activation: Activation::None };
    importer.emit(place, op, operands, as_given(2)).map(Value::Activated)
}

/// N×…×I times a constant I×O.
pub(super) fn matmul(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let dims = importer.dims(&input);
    let weights = importer.constant(place, 1)?;
    let (shape, values) = rows(place, &weights, false, 1.0)?;
    let mut tensor = importer.in_order(&input, &as_given(dims.len()));
    let weights = importer.weights(&weights.name, &shape, values)?;
    let Some((taken, outer)) = dims.split_last() else {
        return Err(place.bad("its first operand is a scalar"));
    };
    if dims.len() != 2 {
        let flat = [outer.iter().product(), *taken];
        tensor = importer.reshape(place, tensor, &flat, as_given(2))?.tensor;
    }
    let op = Op::FullyConnected { activation: Activation::None };
    let product = importer.emit(place, op, vec![tensor, weights], as_given(2))?;
    if dims.len() == 2 {
        return Ok(Value::Activated(product));
    }
    let full: Vec<usize> = outer.iter().copied().chain([shape[0]]).collect();
    importer.reshape(place, product.tensor, &full, as_given(full.len())).map(Value::Activated)
}
