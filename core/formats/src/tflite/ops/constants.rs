//! Operators on shapes, which are computed here: their operands are constant.

use std::rc::Rc;

use tilewright_tflite_schema as fb;

use super::{arrange, axis, needed};
use crate::numbers::{integer, signed};
use crate::tflite::importer::{Importer, Refused, Value, unsupported};
use crate::tflite::verified_file::Place;

fn set<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    dims: Vec<usize>,
    values: Vec<i64>,
) -> Result<(), Refused> {
    Ok(importer.set(place, 0, Value::Ints { dims, values: Rc::from(values) })?)
}

pub(super) fn shape<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let dims = importer.dims(place, 0)?;
    let values: Vec<i64> = dims.iter().map(|dim| signed(*dim)).collect();
    set(importer, place, vec![values.len()], values)
}

pub(super) fn cast<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let dims = importer.dims(place, 0)?;
    let result = place.outputs.first().ok_or_else(|| place.bad("it has no result"))?;
    let kind = importer.file.tensors[*result].kind;
    let to_float = kind == fb::TensorType::FLOAT32;
    if let Some(values) = importer.ints(place, 0) {
        if to_float {
            let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            return Ok(importer.set(place, 0, Value::Floats { dims, values: Rc::from(values) })?);
        }
        return set(importer, place, dims, values);
    }
    let Some(values) = importer.floats(place, 0) else {
        return unsupported("of other than constants");
    };
    if to_float {
        return Ok(importer.set(place, 0, Value::Floats { dims, values })?);
    }
    set(importer, place, dims, values.iter().map(|value| integer(*value)).collect())
}

pub(super) fn pack<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_pack_options())?;
    let first = importer.dims(place, 0)?;
    let along = axis(place, i64::from(options.axis()), first.len() + 1)?;
    if (0..place.inputs.len()).any(|position| importer.ints(place, position).is_none()) {
        return arrange::pack(importer, place, along);
    }
    let mut values = Vec::new();
    for position in 0..place.inputs.len() {
        if importer.dims(place, position)? != first || (along != 0 && first.len() > 1) {
            return unsupported("of more than numbers and rows");
        }
        values.extend(importer.needed_ints(place, position, "operands")?);
    }
    let mut dims = first;
    dims.insert(along, place.inputs.len());
    if along == 1 {
        let columns = dims[0];
        let rows = place.inputs.len();
        values = (0..columns * rows).map(|i| values[i % rows * columns + i / rows]).collect();
    }
    set(importer, place, dims, values)
}

/// Elements of a shape, or of an activation.
pub(super) fn gather<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = place.operator.builtin_options_as_gather_options();
    if options.is_some_and(|options| options.batch_dims() != 0) {
        return unsupported("with batches of indices");
    }
    let rank = importer.dims(place, 0)?.len();
    let along = axis(place, options.map_or(0, |options| i64::from(options.axis())), rank)?;
    let Some(values) = importer.ints(place, 0) else {
        return arrange::gather(importer, place, along);
    };
    let indices = importer.needed_ints(place, 1, "indices")?;
    if rank != 1 {
        return unsupported("of more than one dimension");
    }
    let dims = importer.dims(place, 1)?;
    let taken = indices
        .iter()
        .map(|index| usize::try_from(*index).ok().and_then(|index| values.get(index)).copied())
        .collect::<Option<Vec<i64>>>()
        .ok_or_else(|| place.bad(format!("elements {indices:?} of {}", values.len())))?;
    set(importer, place, dims, taken)
}
