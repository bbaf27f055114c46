//! Operators that cut, split and rearrange activations.

use tilewright_model::Op;

use crate::FormatError;
use crate::numbers::signed;
use crate::onnx::attributes::Place;
use crate::onnx::importer::{Activated, Importer, Value, as_given, channels_last};

/// Elements of one ONNX dimension.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) begin: usize,
    pub(super) size: usize,
    pub(super) stride: isize,
}

pub(super) fn emit_slice(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    input: &Activated,
    ranges: &[Range],
) -> Result<Activated, FormatError> {
    let ordered: Vec<Range> = input.order.iter().map(|axis| ranges[*axis]).collect();
    let op = Op::Slice {
        begin: ordered.iter().map(|range| range.begin).collect(),
        size: ordered.iter().map(|range| range.size).collect(),
        stride: ordered.iter().map(|range| range.stride).collect(),
    };
    importer.emit(place, op, vec![input.tensor], input.order.clone())
}

pub(super) fn whole(dims: &[usize]) -> Vec<Range> {
    dims.iter().map(|size| Range { begin: 0, size: *size, stride: 1 }).collect()
}

/// A slice of an activation or a constant; steps may be negative.
pub(super) fn slice(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let input = importer.operand(place, 0)?;
    let dims = match &input {
        Value::Constant(constant) => constant.dims.clone(),
        Value::Activated(value) => importer.dims(value),
    };
    let list = |name: &str, index: usize| -> Result<Option<Vec<i64>>, FormatError> {
        match place.ints(name) {
            Some(given) => Ok(Some(given.to_vec())),
            None => importer.ints(place, index),
        }
    };
    let missing = || place.bad("its starts or ends are missing");
    let starts = list("starts", 1)?.ok_or_else(missing)?;
    let ends = list("ends", 2)?.ok_or_else(missing)?;
    let axes = list("axes", 3)?.unwrap_or_else(|| (0..signed(starts.len())).collect());
    let steps = list("steps", 4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(place.bad("starts, ends, axes and steps differ in number"));
    }
    let mut ranges = whole(&dims);
    for (at, axis) in axes.iter().enumerate() {
        let axis = place.axis(*axis, dims.len())?;
        ranges[axis] = match (range(dims[axis], starts[at], ends[at], steps[at]), &input) {
            (Some(range), _) => range,
            // A part of a shape may be empty.
            (None, Value::Constant(_)) => Range { begin: 0, size: 0, stride: 1 },
            (None, Value::Activated(_)) => {
                let [start, end, step] = [starts[at], ends[at], steps[at]];
                return Err(place.bad(format!("{start} to {end} by {step} of {}", dims[axis])));
            }
        };
    }
    match &input {
        Value::Activated(input) => {
            emit_slice(importer, place, input, &ranges).map(Value::Activated)
        }
        Value::Constant(constant) => {
            let ranges: Vec<_> =
                ranges.iter().map(|range| (range.begin, range.size, range.stride)).collect();
            super::folding::slice(importer, place, constant, &ranges)
        }
    }
}

/// An activation with parts of itself around it: mirrored at its first and last elements, or these
/// again and again. Amounts are in the order of its tensor.
pub(super) fn repeated(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    input: &Activated,
    amounts: &[(usize, usize)],
    edge: bool,
) -> Result<Value, FormatError> {
    /// Most copies of an element at one end.
    const MOST: usize = 64;
    let mut result = input.clone();
    for (axis, (before, behind)) in amounts.iter().copied().enumerate() {
        if (before, behind) == (0, 0) {
            continue;
        }
        let dims = importer.dims(&result);
        let along = input.order[axis];
        let size = dims[along];
        let most = if edge { MOST } else { size.saturating_sub(1) };
        if before.max(behind) > most || size == 0 {
            return Err(place.unsupported(format!(
                "{before} and {behind} elements around {size} are not supported"
            )));
        }
        let cut = |importer: &mut Importer<'_>, begin, size, stride| {
            let mut ranges = whole(&dims);
            ranges[along] = Range { begin, size, stride };
            emit_slice(importer, place, &result, &ranges).map(|part| part.tensor)
        };
        let mut parts = Vec::new();
        if edge && before > 0 {
            parts = vec![cut(importer, 0, 1, 1)?; before];
        } else if before > 0 {
            parts.push(cut(importer, before, before, -1)?);
        }
        parts.push(result.tensor);
        if edge && behind > 0 {
            let last = cut(importer, size - 1, 1, 1)?;
            parts.extend(std::iter::repeat_n(last, behind));
        } else if behind > 0 {
            parts.push(cut(importer, size - 2, behind, -1)?);
        }
        result = importer.emit(place, Op::Concat { axis }, parts, input.order.clone())?;
    }
    Ok(Value::Activated(result))
}

/// Rows and columns of an image from `first` on, as many as `sizes` says.
pub(super) fn part(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    input: &Activated,
    first: [usize; 2],
    sizes: Option<&[usize]>,
) -> Result<Value, FormatError> {
    let dims = importer.dims(input);
    let mut ranges = whole(&dims);
    for axis in 0..2 {
        let (begin, size) = (first[axis], sizes.and_then(|sizes| sizes.get(axis)).copied());
        let fits = |size: &usize| {
            let end = begin.checked_add(*size);
            *size > 0 && end.is_some_and(|end| end <= dims[axis + 2])
        };
        let size = size.filter(fits);
        let size = size.ok_or_else(|| place.bad(format!("{dims:?} cannot be cropped so")))?;
        ranges[axis + 2] = Range { begin, size, stride: 1 };
    }
    emit_slice(importer, place, input, &ranges).map(Value::Activated)
}

/// Elements from `start` to before `end`; nothing if there are none.
fn range(size: usize, start: i64, end: i64, step: i64) -> Option<Range> {
    let count = i64::try_from(size).ok()?;
    let from_front = |at: i64| if at < 0 { at.saturating_add(count) } else { at };
    let (first, last) = if step > 0 {
        (from_front(start).clamp(0, count), from_front(end).clamp(0, count))
    } else {
        let end = if end < -count { -1 } else { from_front(end) };
        (from_front(start).clamp(-1, count - 1), end.clamp(-1, count - 1))
    };
    let distance = if step > 0 { last - first } else { first - last };
    let steps = i64::try_from(step.unsigned_abs()).ok().filter(|steps| *steps > 0)?;
    if distance <= 0 {
        return None;
    }
    Some(Range {
        begin: usize::try_from(first).ok()?,
        size: usize::try_from((distance - 1) / steps + 1).ok()?,
        stride: isize::try_from(step).ok()?,
    })
}

pub(super) fn split(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let dims = importer.dims(&input);
    let axis = place.axis(place.int("axis", 0), dims.len())?;
    let parts = place.node.output.len().max(1);
    let given = match place.ints("split") {
        Some(given) => Some(given.to_vec()),
        None => importer.ints(place, 1)?,
    };
    let sizes: Vec<usize> = match given {
        Some(given) => given.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect(),
        None => {
            // The last part is smaller where they cannot be equal.
            let each = dims[axis].div_ceil(parts);
            (0..parts).map(|part| dims[axis].saturating_sub(part * each).min(each)).collect()
        }
    };
    let total = sizes.iter().try_fold(0usize, |sum, size| sum.checked_add(*size));
    if sizes.len() != parts || total != Some(dims[axis]) || sizes.contains(&0) {
        return Err(place.bad(format!("{dims:?} in parts of {sizes:?} along {axis}")));
    }
    let mut ranges = whole(&dims);
    ranges[axis].size = 0;
    let mut first = None;
    for (part, size) in sizes.iter().enumerate() {
        ranges[axis].begin += ranges[axis].size;
        ranges[axis].size = *size;
        let value = Value::Activated(emit_slice(importer, place, &input, &ranges)?);
        match part {
            0 => first = Some(value),
            _ => importer.define_result(place, part, value)?,
        }
    }
    first.ok_or_else(|| place.bad("it has no result"))
}

fn block(place: Place<'_>) -> Result<usize, FormatError> {
    let given = place.int("blocksize", 0);
    let size = usize::try_from(given).ok().filter(|size| (1..1 << 15).contains(size));
    size.ok_or_else(|| place.bad(format!("attribute blocksize is {given}")))
}

pub(super) fn space_to_depth(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    if let Some(mode) = place.text("mode")?.filter(|mode| *mode != "DCR") {
        return Err(place.unsupported(format!("mode {mode} is not supported")));
    }
    let op = Op::SpaceToDepth { block: block(place)? };
    images(importer, place, op)
}

/// In mode CRD, PyTorch's pixel shuffle, a channel's block lies together; in mode DCR the channels of
/// a pixel do.
pub(super) fn depth_to_space(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let block = block(place)?;
    let op = Op::DepthToSpace { block };
    match place.text("mode")?.unwrap_or("DCR") {
        "DCR" => return images(importer, place, op),
        "CRD" => {}
        mode => return Err(place.unsupported(format!("mode {mode} is not supported"))),
    }
    let input = importer.activated(place, 0)?;
    let [batch, channels, height, width] = *importer.dims(&input) else {
        return Err(place.unsupported("only images are supported"));
    };
    let area = block * block;
    if !channels.is_multiple_of(area) {
        return Err(place.bad(format!("{channels} channels in blocks of {area}")));
    }
    let tensor = importer.in_order(&input, &channels_last(4));
    let apart = [batch, height, width, channels / area, area];
    let apart = importer.reshape(place, tensor, &apart, as_given(5))?;
    let permutation = vec![0, 1, 2, 4, 3];
    let turned = Op::Transpose { permutation };
    let turned = importer.emit(place, turned, vec![apart.tensor], as_given(5))?;
    let order = channels_last(4);
    let whole = [batch, height, width, channels];
    let pixels = importer.reshape(place, turned.tensor, &whole, order.clone())?;
    importer.emit(place, op, vec![pixels.tensor], order).map(Value::Activated)
}

fn images(importer: &mut Importer<'_>, place: Place<'_>, op: Op) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let order = channels_last(input.order.len());
    let tensor = importer.in_order(&input, &order);
    importer.emit(place, op, vec![tensor], order).map(Value::Activated)
}

/// A mean over any dimensions.
pub(super) fn mean(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    input: &Activated,
    axes: Vec<usize>,
) -> Result<Value, FormatError> {
    let rank = input.order.len();
    let keep_dims = place.flag("keepdims", true)?;
    let tensor = importer.in_order(input, &as_given(rank));
    let left = if keep_dims { rank } else { rank - axes.len() };
    let op = Op::Mean { axes, keep_dims };
    importer.emit(place, op, vec![tensor], as_given(left)).map(Value::Activated)
}
