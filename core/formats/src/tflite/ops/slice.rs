//! Operators that take parts of a tensor.

use std::rc::Rc;

use tilewright_model::{Op, TensorId};

use super::{axis, needed, unmoved};
use crate::numbers::signed;
use crate::tflite::importer::{Importer, Refused, Value};
use crate::tflite::verified_file::Place;

/// One dimension's elements: the first, how many, and the step.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) begin: usize,
    pub(super) size: usize,
    pub(super) stride: isize,
}

/// Most entries of a strided slice: TensorFlow Lite takes tensors of five dimensions.
const MOST_ENTRIES: usize = 8;

pub(super) fn op(ranges: &[Range]) -> Op {
    Op::Slice {
        begin: ranges.iter().map(|range| range.begin).collect(),
        size: ranges.iter().map(|range| range.size).collect(),
        stride: ranges.iter().map(|range| range.stride).collect(),
    }
}

pub(super) fn whole(dims: &[usize]) -> Vec<Range> {
    dims.iter().map(|size| Range { begin: 0, size: *size, stride: 1 }).collect()
}

/// A part of `input` as result `position`, under other dimensions where `dims` gives some.
fn part<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    position: usize,
    input: TensorId,
    ranges: &[Range],
    dims: Option<&[usize]>,
) -> Result<(), Refused> {
    let Some(dims) = dims else {
        return unmoved(importer, place, position, op(ranges), input, &[]);
    };
    let kind = importer.kind(input);
    let slice = importer.part(place, op(ranges), vec![input], kind, &[])?;
    unmoved(importer, place, position, Op::Reshape, slice, dims)
}

pub(super) fn slice<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let dims = importer.dims(place, 0)?;
    let begins = importer.needed_ints(place, 1, "begin")?;
    let sizes = importer.needed_ints(place, 2, "size")?;
    if begins.len() != dims.len() || sizes.len() != dims.len() {
        return Err(place.bad(format!("a slice {begins:?}, {sizes:?} of {dims:?}")).into());
    }
    let mut ranges = whole(&dims);
    for (at, range) in ranges.iter_mut().enumerate() {
        let outside = || place.bad(format!("a slice {begins:?}, {sizes:?} of {dims:?}"));
        let begin = usize::try_from(begins[at]).map_err(|_| outside())?;
        let rest = dims[at].checked_sub(begin).ok_or_else(outside)?;
        let size = match sizes[at] {
            -1 => Some(rest),
            size => usize::try_from(size).ok().filter(|size| *size <= rest),
        };
        *range = Range { begin, size: size.ok_or_else(outside)?, stride: 1 };
    }
    let input = importer.activated(place, 0)?;
    part(importer, place, 0, input, &ranges, None)
}

/// Elements of a dimension of `size` that begin, end and stride choose; nothing chosen is no range.
fn strided(size: usize, begin: Option<i64>, end: Option<i64>, stride: i64) -> Option<Range> {
    let count = signed(size);
    let from_front = |value: i64| if value < 0 { value.saturating_add(count) } else { value };
    let (low, high) = if stride > 0 { (0, count) } else { (-1, count - 1) };
    let first = begin.map_or(if stride > 0 { 0 } else { count - 1 }, from_front).clamp(low, high);
    let last = end.map_or(if stride > 0 { count } else { -1 }, from_front).clamp(low, high);
    let distance = if stride > 0 { last - first } else { first - last };
    let steps = i64::try_from(stride.unsigned_abs()).ok()?;
    let taken = if distance <= 0 { 0 } else { (distance - 1) / steps + 1 };
    Some(Range {
        begin: usize::try_from(first).ok()?,
        size: usize::try_from(taken).ok().filter(|taken| *taken > 0)?,
        stride: isize::try_from(stride).ok()?,
    })
}

pub(super) fn strided_slice<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_strided_slice_options())?;
    let dims = importer.dims(place, 0)?;
    let begins = importer.needed_ints(place, 1, "begin")?;
    let ends = importer.needed_ints(place, 2, "end")?;
    let strides = importer.needed_ints(place, 3, "stride")?;
    let given = begins.len();
    let bad = |what| place.bad(format!("{begins:?} to {ends:?} by {strides:?} of {dims:?}{what}"));
    if ends.len() != given || strides.len() != given || given > MOST_ENTRIES {
        return Err(bad("").into());
    }
    let in_mask = |mask: i32, entry: usize| mask >> entry & 1 != 0;
    let is_ellipsis = |entry: usize| in_mask(options.ellipsis_mask(), entry);
    let is_new = |entry: usize| in_mask(options.new_axis_mask(), entry);
    let chosen = (0..given).filter(|entry| !is_ellipsis(*entry) && !is_new(*entry)).count();
    let rest = dims.len().checked_sub(chosen).ok_or_else(|| bad(""))?;
    let mut ranges = whole(&dims);
    let mut shape = Vec::new();
    let mut at = 0;
    for entry in 0..given {
        if is_ellipsis(entry) {
            shape.extend(dims.iter().skip(at).take(rest));
            at += rest;
            continue;
        }
        if is_new(entry) {
            shape.push(1);
            continue;
        }
        let size = *dims.get(at).ok_or_else(|| bad(""))?;
        let is_set = |mask: i32| in_mask(mask, entry);
        let shrinks = is_set(options.shrink_axis_mask());
        let begin = (!is_set(options.begin_mask())).then_some(begins[entry]);
        let end = (!is_set(options.end_mask())).then_some(ends[entry]);
        let range = if shrinks {
            let first = begins[entry];
            let first = if first < 0 { first.saturating_add(signed(size)) } else { first };
            let first = usize::try_from(first).ok().filter(|first| *first < size);
            first.map(|begin| Range { begin, size: 1, stride: 1 })
        } else {
            Some(strides[entry])
                .filter(|stride| *stride != 0)
                .and_then(|stride| strided(size, begin, end, stride))
        };
        ranges[at] = range.ok_or_else(|| bad(" is empty"))?;
        if !shrinks {
            shape.push(ranges[at].size);
        }
        at += 1;
    }
    shape.extend(ranges.iter().skip(at).map(|range| range.size));
    if let (Some(values), [range]) = (importer.ints(place, 0), ranges.as_slice()) {
        let position = |step: usize| range.begin.cast_signed() + step.cast_signed() * range.stride;
        let taken: Vec<i64> = (0..range.size)
            .filter_map(|step| values.get(usize::try_from(position(step)).ok()?).copied())
            .collect();
        importer.set(place, 0, Value::Ints { dims: shape, values: Rc::from(taken) })?;
        return Ok(());
    }
    let input = importer.activated(place, 0)?;
    let is_same = shape.iter().eq(ranges.iter().map(|range| &range.size));
    let reshaped = (!is_same).then_some(shape.as_slice());
    part(importer, place, 0, input, &ranges, reshaped)
}

fn split_into<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    operand: usize,
    along: usize,
    sizes: &[usize],
) -> Result<(), Refused> {
    let dims = importer.dims(place, operand)?;
    let total = sizes.iter().try_fold(0usize, |sum, size| sum.checked_add(*size));
    if total != Some(dims[along]) || sizes.len() != place.outputs.len() || sizes.contains(&0) {
        return Err(place.bad(format!("{dims:?} in parts of {sizes:?} along {along}")).into());
    }
    let input = importer.activated(place, operand)?;
    let mut ranges = whole(&dims);
    ranges[along].size = 0;
    for (position, size) in sizes.iter().enumerate() {
        ranges[along].begin += ranges[along].size;
        ranges[along].size = *size;
        part(importer, place, position, input, &ranges, None)?;
    }
    Ok(())
}

pub(super) fn split<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let dims = importer.dims(place, 1)?;
    let [given] = *importer.needed_ints(place, 0, "axis")? else {
        return Err(place.bad("its axis must be one number").into());
    };
    let along = axis(place, given, dims.len())?;
    let parts = place.outputs.len();
    let size = dims[along].checked_div(parts).unwrap_or(0);
    split_into(importer, place, 1, along, &vec![size; parts])
}

pub(super) fn split_v<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let dims = importer.dims(place, 0)?;
    let given = importer.needed_ints(place, 1, "sizes")?;
    let [at] = *importer.needed_ints(place, 2, "axis")? else {
        return Err(place.bad("its axis must be one number").into());
    };
    let along = axis(place, at, dims.len())?;
    let known: usize =
        given.iter().filter_map(|size| usize::try_from(*size).ok()).fold(0, usize::saturating_add);
    let rest = dims[along].saturating_sub(known);
    let sizes: Vec<usize> =
        given.iter().map(|size| usize::try_from(*size).unwrap_or(rest)).collect();
    split_into(importer, place, 0, along, &sizes)
}

pub(super) fn unpack<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_unpack_options())?;
    let dims = importer.dims(place, 0)?;
    let along = axis(place, i64::from(options.axis()), dims.len())?;
    if dims[along] != place.outputs.len() {
        return Err(place.bad(format!("{} results of {dims:?}", place.outputs.len())).into());
    }
    let mut rest = dims.clone();
    rest.remove(along);
    let input = importer.activated(place, 0)?;
    let mut ranges = whole(&dims);
    for position in 0..place.outputs.len() {
        ranges[along] = Range { begin: position, size: 1, stride: 1 };
        part(importer, place, position, input, &ranges, Some(&rest))?;
    }
    Ok(())
}
