//! Constants, and the arithmetic on shapes that exporters write instead of them.

use std::rc::Rc;

use crate::numbers::{integer, signed};
use crate::onnx::messages::tensor_proto::DataType;

use crate::onnx::attributes::Place;
use crate::onnx::constant::{Constant, Values};
use crate::onnx::importer::{Importer, Value, integers};
use crate::{FormatError, elements};

fn result_name(place: Place<'_>) -> String {
    place.node.output.first().cloned().unwrap_or_default()
}

pub(super) fn constant(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let name = result_name(place);
    let (dims, values) = if let Some(attribute) = place.attribute("value") {
        let mut proto = attribute.t.clone().ok_or_else(|| place.bad("its value is no tensor"))?;
        proto.name.clone_from(&name);
        importer.note_type(&name, proto.data_type);
        let constant = Constant::read(proto, None, importer.file, importer.limits)?;
        (constant.dims, constant.values)
    } else if let Some(attribute) = place.attribute("value_float") {
        (vec![], Values::Float(vec![attribute.f]))
    } else if let Some(attribute) = place.attribute("value_floats") {
        (vec![attribute.floats.len()], Values::Float(attribute.floats.clone()))
    } else if let Some(attribute) = place.attribute("value_int") {
        (vec![], Values::Int(vec![attribute.i]))
    } else if let Some(attribute) = place.attribute("value_ints") {
        (vec![attribute.ints.len()], Values::Int(attribute.ints.clone()))
    } else {
        return Err(place.bad("it has no value of a supported kind"));
    };
    let constant = Constant { name, dims, values };
    importer.count(constant.len())?;
    Ok(Value::Constant(Rc::new(constant)))
}

pub(super) fn constant_of_shape(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let name = result_name(place);
    let sizes = importer.ints(place, 0)?.unwrap_or_default();
    let dims: Vec<usize> = sizes
        .iter()
        .map(|size| usize::try_from(*size).ok())
        .collect::<Option<_>>()
        .ok_or_else(|| place.bad(format!("shape {sizes:?}")))?;
    let count = elements(&name, &dims, importer.limits)?;
    let filler = match place.attribute("value").and_then(|attribute| attribute.t.clone()) {
        None => Values::Float(vec![0.0]),
        Some(proto) => Constant::read(proto, None, importer.file, importer.limits)?.values,
    };
    let values = match filler {
        Values::Float(filler) if filler.len() == 1 && filler[0].is_finite() => {
            let filled = importer.count_filled(count)?;
            let constant = Constant::filled(name, dims, count, filler[0], filled);
            return Ok(Value::Constant(Rc::new(constant)));
        }
        Values::Int(filler) if filler.len() == 1 => {
            super::folding::room(importer, place, &dims)?;
            Values::Int(vec![filler[0]; count])
        }
        _ => return Err(place.bad("its value must be one finite element")),
    };
    super::folding::result(importer, place, dims, values)
}

pub(super) fn shape(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let dims = match importer.operand(place, 0)? {
        Value::Constant(constant) => constant.dims.clone(),
        Value::Activated(value) => importer.dims(&value),
    };
    let sizes: Vec<i64> = dims.iter().map(|dim| signed(*dim)).collect();
    let (start, end) = bounds(place.int("start", 0), place.int("end", i64::MAX), sizes.len());
    let sizes = sizes.get(start..end).unwrap_or_default().to_vec();
    Ok(integers(&result_name(place), vec![sizes.len()], sizes))
}

/// Bounds counted from the back where negative, and cut to the length.
fn bounds(start: i64, end: i64, length: usize) -> (usize, usize) {
    let bound = |at: i64| {
        let from_front = if at < 0 { at.saturating_add(signed(length)) } else { at };
        usize::try_from(from_front.max(0)).map_or(length, |at| at.min(length))
    };
    (bound(start), bound(end))
}

/// Elements of a dimension.
pub(super) fn gather(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let data = importer.operand(place, 0)?;
    let indices = importer.constant(place, 1)?;
    let dims = match &data {
        Value::Constant(constant) => constant.dims.clone(),
        Value::Activated(value) => importer.dims(value),
    };
    let axis = place.axis(place.int("axis", 0), dims.len())?;
    let picks = indices.ints().ok_or_else(|| place.bad("its indices are no integers"))?;
    let picks = picks
        .iter()
        .map(|pick| place.axis(*pick, dims[axis]))
        .collect::<Result<Vec<usize>, FormatError>>()?;
    match data {
        Value::Constant(data) => {
            super::folding::gather(importer, place, &data, axis, &picks, &indices.dims)
        }
        Value::Activated(value) => {
            super::pick::gather(importer, place, &value, axis, &picks, &indices.dims)
        }
    }
}

pub(super) fn cast(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let to = i32::try_from(place.int("to", 0)).ok().and_then(|to| DataType::try_from(to).ok());
    let value = importer.operand(place, 0)?;
    match (&value, to) {
        (
            Value::Activated(_),
            Some(DataType::Float | DataType::Float16 | DataType::Bfloat16 | DataType::Double),
        ) => Ok(value),
        (Value::Activated(_), Some(DataType::Int64 | DataType::Int32))
            if importer.is_whole(place) =>
        {
            Ok(value)
        }
        (Value::Constant(constant), Some(DataType::Int64 | DataType::Int32))
            if constant.ints().is_some() =>
        {
            Ok(value)
        }
        (Value::Constant(constant), Some(DataType::Int64 | DataType::Int32)) => {
            let floats = constant.floats().ok_or_else(|| place.bad("it cannot be read"))?;
            let values = Values::Int(floats.iter().map(|value| integer(*value)).collect());
            super::folding::result(importer, place, constant.dims.clone(), values)
        }
        (
            Value::Constant(constant),
            Some(DataType::Float | DataType::Float16 | DataType::Double),
        ) => {
            let values = match &constant.values {
                Values::Int(values) => {
                    Values::Float(values.iter().map(|value| *value as f32).collect())
                }
                floats => floats.clone(),
            };
            Ok(Value::Constant(Rc::new(Constant { values, ..Constant::clone(constant) })))
        }
        (Value::Constant(constant), Some(DataType::Bool)) => {
            let holds: Vec<i64> = match (constant.ints(), constant.floats()) {
                (Some(ints), _) => ints.iter().map(|value| i64::from(*value != 0)).collect(),
                (_, Some(floats)) => floats.iter().map(|value| i64::from(*value != 0.0)).collect(),
                _ => return Err(place.bad("it cannot be read")),
            };
            super::folding::result(importer, place, constant.dims.clone(), Values::Int(holds))
        }
        (Value::Activated(_), Some(_)) => importer.cast(place),
        _ => {
            Err(place.unsupported("only casts to the type that the graph has anyway are supported"))
        }
    }
}
