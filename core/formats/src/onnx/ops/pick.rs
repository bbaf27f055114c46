//! Elements of a dimension in any order, and as often as wanted.

use tilewright_model::Op;

use super::spatial::{Range, emit_slice, whole};
use super::{elementwise, folding};
use crate::onnx::attributes::Place;
use crate::onnx::importer::{Activated, Importer, Value};
use crate::{FormatError, elements};

/// Most parts that one operator is put together from.
const MOST_PARTS: usize = 64;

/// Elements `picks` along an ONNX axis: runs at equal distances, one behind the other.
pub(super) fn picked(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    input: &Activated,
    axis: usize,
    picks: &[usize],
) -> Result<Activated, FormatError> {
    let dims = importer.dims(input);
    if picks.iter().copied().eq(0..dims[axis]) {
        return Ok(input.clone());
    }
    let mut runs: Vec<Range> = Vec::new();
    for pick in picks.iter().copied() {
        let last = runs.last_mut();
        match last.map(|run| (pick.cast_signed() - run.begin.cast_signed(), run)) {
            Some((step, run)) if run.size == 1 && step != 0 => (run.size, run.stride) = (2, step),
            Some((step, run)) if run.size > 1 && step == run.stride * run.size.cast_signed() => {
                run.size += 1;
            }
            _ => runs.push(Range { begin: pick, size: 1, stride: 1 }),
        }
    }
    if runs.is_empty() {
        return Err(place.bad(format!("no elements of {dims:?} along {axis}")));
    }
    if runs.len() > MOST_PARTS {
        let reason = format!("more than {MOST_PARTS} runs of elements are not supported");
        return Err(place.unsupported(reason));
    }
    let mut parts = Vec::with_capacity(runs.len());
    for run in runs {
        let mut ranges = whole(&dims);
        ranges[axis] = run;
        parts.push(emit_slice(importer, place, input, &ranges)?);
    }
    match parts.as_slice() {
        [part] => Ok(part.clone()),
        _ => {
            let position = input.order.iter().position(|other| *other == axis).unwrap_or_default();
            let parts = parts.iter().map(|part| part.tensor).collect();
            importer.emit(place, Op::Concat { axis: position }, parts, input.order.clone())
        }
    }
}

/// Elements of a dimension of an activation: one, which may leave the dimension out, or a list.
pub(super) fn gather(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    input: &Activated,
    axis: usize,
    picks: &[usize],
    shape: &[usize],
) -> Result<Value, FormatError> {
    if shape.len() > 1 {
        return Err(place.unsupported("indices of several dimensions are not supported"));
    }
    let dims = importer.dims(input);
    let part = picked(importer, place, input, axis, picks)?;
    if shape.len() == 1 {
        return Ok(Value::Activated(part));
    }
    // Elements stay where they are: the order of the dimensions that are left is kept.
    let left: Vec<usize> = part.order.iter().copied().filter(|other| *other != axis).collect();
    let sizes: Vec<usize> = left.iter().map(|other| dims[*other]).collect();
    let order = left.iter().map(|other| other - usize::from(*other > axis)).collect();
    importer.reshape(place, part.tensor, &sizes, order).map(Value::Activated)
}

fn dims_of(importer: &Importer<'_>, value: &Value) -> Vec<usize> {
    match value {
        Value::Constant(constant) => constant.dims.clone(),
        Value::Activated(value) => importer.dims(value),
    }
}

/// Constant sizes of operand 1.
fn sizes(importer: &Importer<'_>, place: Place<'_>, what: &str) -> Result<Vec<usize>, FormatError> {
    let given = importer.ints(place, 1)?.ok_or_else(|| place.bad(format!("{what} are missing")))?;
    let size = |size: &i64| usize::try_from(*size).ok().filter(|size| *size > 0);
    let sizes: Option<Vec<usize>> = given.iter().map(size).collect();
    sizes.ok_or_else(|| place.unsupported(format!("{what} {given:?} leave nothing")))
}

/// The operand again and again along each dimension.
pub(super) fn tile(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let value = importer.operand(place, 0)?;
    let dims = dims_of(importer, &value);
    let times = sizes(importer, place, "repeats")?;
    if times.len() != dims.len() {
        return Err(place.bad(format!("repeats {times:?} of {dims:?}")));
    }
    match value {
        Value::Activated(value) => repeated(importer, place, value, &times).map(Value::Activated),
        Value::Constant(constant) => {
            let size = |(size, times): (&usize, &usize)| size.saturating_mul(*times);
            let whole: Vec<usize> = dims.iter().zip(&times).map(size).collect();
            elements(place.name(), &whole, importer.limits)?;
            folding::tile(importer, place, &constant, whole)
        }
    }
}

/// The operand as often as the dimensions need that it broadcasts to.
pub(super) fn expand(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let value = importer.operand(place, 0)?;
    let dims = dims_of(importer, &value);
    let target = sizes(importer, place, "dimensions")?;
    let whole = folding::joined(&dims, &target)
        .ok_or_else(|| place.bad(format!("{dims:?} does not broadcast to {target:?}")))?;
    elements(place.name(), &whole, importer.limits)?;
    match value {
        Value::Constant(constant) => folding::expand(importer, place, &constant, whole),
        Value::Activated(value) => {
            let value = elementwise::of_rank(importer, place, value, whole.len())?;
            let dims = importer.dims(&value);
            let times: Vec<usize> = dims
                .iter()
                .zip(&whole)
                .map(|(from, to)| if from == to { 1 } else { *to })
                .collect();
            repeated(importer, place, value, &times).map(Value::Activated)
        }
    }
}

fn repeated(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    mut value: Activated,
    times: &[usize],
) -> Result<Activated, FormatError> {
    if times.iter().any(|times| *times > MOST_PARTS) {
        let reason = format!("more than {MOST_PARTS} times are not supported");
        return Err(place.unsupported(reason));
    }
    let order = value.order.clone();
    for (position, axis) in order.iter().enumerate() {
        if times[*axis] > 1 {
            let parts = vec![value.tensor; times[*axis]];
            value = importer.emit(place, Op::Concat { axis: position }, parts, order.clone())?;
        }
    }
    Ok(value)
}
