//! Products with constant matrices.

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
        return Err(place.bad(format!("weights {:?} are no matrix", weights.dims)));
    };
    let (shape, seen) = if transposed {
        ([first, second], [1, 1, first * second])
    } else {
        ([second, first], [1, first, second])
    };
    if factor == 1.0 {
        return Ok((shape, importer.swapped(weights, &shape, seen)?));
    }
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
    if place.flag("transA", false)? {
        return Err(place.bad("transA is not supported"));
    }
    let input = importer.activated(place, 0)?;
    let rank = importer.dims(&input).len();
    let weights = importer.constant(place, 1)?;
    let (transposed, factor) = (place.flag("transB", false)?, place.float("alpha", 1.0)?);
    let mut operands = vec![importer.in_order(&input, &as_given(rank))];
    let (shape, weights) = rows(importer, place, &weights, transposed, factor)?;
    operands.push(weights);
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
    let mut tensor = importer.in_order(&input, &as_given(dims.len()));
    let (shape, weights) = rows(importer, place, &weights, false, 1.0)?;
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
