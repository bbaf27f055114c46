//! Fully connected layers, and the weights and biases of all layers that have some.

use tilewright_model::{DType, Data, Op, TensorId};
use tilewright_tflite_schema as fb;

use super::{fused, needed};
use crate::tflite::importer::{Importer, Refused, Value, unsupported};
use crate::tflite::quantised;
use crate::tflite::verified_file::Place;

/// Input, weights and bias of a layer as tensors of the graph, from the operands at these places.
/// The input decides the arithmetic: weights of 8 bits under a float input are made real.
pub(super) fn operands<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    [input, weights, bias]: [usize; 3],
) -> Result<Vec<TensorId>, Refused> {
    let input = importer.activated(place, input)?;
    let is_float = importer.model.tensor(input).dtype == DType::F32;
    let mut operands = vec![input, self::weights(importer, place, weights, is_float)?];
    if importer.optional(place, bias).is_some() {
        operands.push(self::bias(importer, place, bias, is_float)?);
    }
    Ok(operands)
}

fn weights<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    position: usize,
    is_float: bool,
) -> Result<TensorId, Refused> {
    let stored = &importer.file.tensors[importer.operand(place, position)?];
    if let Value::Activated(_) | Value::Hidden = importer.value(place, position)? {
        return unsupported("its weights are computed");
    }
    let dims = importer.dims(place, position)?;
    let of_kind = || format!("weights of {}", stored.kind_name());
    if is_float {
        let Some(values) = importer.floats(place, position) else {
            return unsupported(of_kind());
        };
        return Ok(importer.constant(stored, &dims, Data::F32(values.to_vec()), None)?);
    }
    let Some((values, quantisation)) = quantised::weights(stored).map_err(|r| place.bad(r))? else {
        return unsupported(of_kind());
    };
    importer.model.short_products |= stored.kind == fb::TensorType::UINT8;
    Ok(importer.constant(stored, &dims, Data::I8(values), Some(quantisation))?)
}

fn bias<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    position: usize,
    is_float: bool,
) -> Result<TensorId, Refused> {
    let stored = &importer.file.tensors[importer.operand(place, position)?];
    let count: usize = importer.dims(place, position)?.iter().product();
    let data = if is_float {
        importer.floats(place, position).map(|values| Data::F32(values.to_vec()))
    } else {
        let values =
            importer.ints(place, position).filter(|_| stored.kind == fb::TensorType::INT32);
        values
            .and_then(|values| {
                values.into_iter().map(|value| i32::try_from(value).ok()).collect::<Option<_>>()
            })
            .map(Data::I32)
    };
    match data {
        // Some files have a bias of 1×1×1×C.
        Some(data) => Ok(importer.constant(stored, &[count], data, None)?),
        None => unsupported(format!("a bias of {}", stored.kind_name())),
    }
}

pub(super) fn fully_connected<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_fully_connected_options())?;
    if options.weights_format() != fb::FullyConnectedOptionsWeightsFormat::DEFAULT {
        return unsupported("its weights are shuffled");
    }
    let activation = fused(options.fused_activation_function())?;
    let op = Op::FullyConnected { activation };
    let mut inputs = operands(importer, place, [0, 1, 2])?;
    let dims = importer.shape(inputs[0]).to_vec();
    let &[outputs, taken] = importer.shape(inputs[1]) else {
        return Err(place.bad("its weights must have two dimensions").into());
    };
    let elements: usize = dims.iter().product();
    if taken == 0 || !elements.is_multiple_of(taken) {
        return Err(place.bad(format!("its input {dims:?} is not rows of {taken}")).into());
    }
    let rows = elements / taken;
    if dims != [rows, taken] {
        let kind = importer.kind(inputs[0]);
        inputs[0] = importer.part(place, Op::Reshape, vec![inputs[0]], kind, &[rows, taken])?;
    }
    let kept = dims.len() != 2 && options.keep_num_dims() && dims.last() == Some(&taken);
    if !kept {
        importer.emit(place, op, inputs)?;
        return Ok(());
    }
    let mut shape = dims;
    if let Some(last) = shape.last_mut() {
        *last = outputs;
    }
    // The result's quantisation is that of the layer; the reshape only gives it its dimensions.
    let kind = importer.result_kind(place, 0)?;
    let result = importer.part(place, op, inputs, kind, &[])?;
    importer.emit_shaped(place, 0, Op::Reshape, vec![result], &shape)?;
    Ok(())
}
