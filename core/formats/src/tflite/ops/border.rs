//! Quantisation and dequantisation, which stand at the graph's borders.

use tilewright_model::{DType, Op};

use crate::tflite::importer::{Importer, Refused, Value, unsupported};
use crate::tflite::verified_file::Place;

/// A constant becomes real; an activation stays as it is, and its readers see int8.
pub(super) fn dequantize<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let value = match importer.value(place, 0)? {
        value @ (Value::Activated(_) | Value::Hidden) => value,
        _ => match importer.floats(place, 0) {
            Some(values) => Value::Floats { dims: importer.dims(place, 0)?, values },
            None => return unsupported("of a constant without a scale"),
        },
    };
    Ok(importer.set(place, 0, value)?)
}

/// A constant that was stored without its zeros is read with them.
pub(super) fn densify<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let value = importer.value(place, 0)?;
    if let Value::Stored = value {
        let (from, to) = (importer.operand(place, 0)?, importer.result(place, 0)?);
        importer.aliases.insert(to, from);
    }
    Ok(importer.set(place, 0, value)?)
}

/// A float input of the model becomes an int8 one; other activations are quantised anew.
pub(super) fn quantize<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let input = importer.activated(place, 0)?;
    let (dtype, quantisation) = importer.result_kind(place, 0)?;
    if dtype != DType::I8 {
        return unsupported("to another type than int8");
    }
    let tensor = importer.model.tensor(input);
    if tensor.dtype == DType::F32 {
        let is_read = importer.model.nodes.iter().any(|node| node.inputs.contains(&input));
        if !importer.model.inputs.contains(&input) || is_read {
            return unsupported("of floats that the model computes");
        }
        let tensor = &mut importer.model.tensors[input.0];
        (tensor.dtype, tensor.quantisation) = (dtype, quantisation);
        return Ok(importer.set(place, 0, Value::Activated(input))?);
    }
    if tensor.quantisation == quantisation {
        return Ok(importer.set(place, 0, Value::Activated(input))?);
    }
    importer.emit(place, Op::Requantise, vec![input])?;
    Ok(())
}
