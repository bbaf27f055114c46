//! Operators whose results are parts of their operands put together.

use tilewright_model::{Op, TensorId};
use tilewright_tflite_schema as fb;

use super::slice::{self, Range};
use super::{axis, needed, unmoved};
use crate::tflite::importer::{Importer, Refused, unsupported};
use crate::tflite::verified_file::Place;

/// Most parts that one operator is taken apart into.
const MOST_PARTS: usize = 64;

/// A part of `input` along one dimension.
fn part<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    input: TensorId,
    along: usize,
    range: Range,
) -> Result<TensorId, Refused> {
    let mut ranges = slice::whole(importer.shape(input));
    ranges[along] = range;
    let kind = importer.kind(input);
    Ok(importer.part(place, slice::op(&ranges), vec![input], kind, &[])?)
}

/// The parts one behind the other, as a tensor that the file does not name.
fn joined<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    along: usize,
    parts: Vec<TensorId>,
) -> Result<TensorId, Refused> {
    if let [part] = parts.as_slice() {
        return Ok(*part);
    }
    let kind = importer.kind(parts[0]);
    Ok(importer.part(place, Op::Concat { axis: along }, parts, kind, &[])?)
}

/// `value` as the operator's result, under the dimensions that it has.
fn finish<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    value: TensorId,
) -> Result<(), Refused> {
    let dims = importer.shape(value).to_vec();
    unmoved(importer, place, 0, Op::Reshape, value, &dims)
}

pub(super) fn tile<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let times = importer.needed_ints(place, 1, "multiples")?;
    let mut value = importer.activated(place, 0)?;
    if times.len() != importer.shape(value).len() {
        return Err(place.bad(format!("multiples {times:?} of another rank")).into());
    }
    for (along, times) in times.into_iter().enumerate() {
        let times = usize::try_from(times).ok().filter(|times| (1..=MOST_PARTS).contains(times));
        let Some(times) = times else {
            return unsupported(format!("more than {MOST_PARTS} times, or not at all"));
        };
        value = joined(importer, place, along, vec![value; times])?;
    }
    finish(importer, place, value)
}

pub(super) fn reverse<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let given = importer.needed_ints(place, 1, "axes")?;
    let input = importer.activated(place, 0)?;
    let dims = importer.shape(input).to_vec();
    let mut ranges = slice::whole(&dims);
    for at in given {
        let at = axis(place, at, dims.len())?;
        ranges[at] = Range { begin: dims[at].saturating_sub(1), size: dims[at], stride: -1 };
    }
    unmoved(importer, place, 0, slice::op(&ranges), input, &[])
}

pub(super) fn mirror_pad<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_mirror_pad_options())?;
    // Whether the pixel at the border is left out.
    let left_out = usize::from(options.mode() == fb::MirrorPadMode::REFLECT);
    let pads = importer.needed_ints(place, 1, "amounts")?;
    let mut value = importer.activated(place, 0)?;
    let dims = importer.shape(value).to_vec();
    if dims.is_empty() {
        let reason = "the file leaves the shape of its operand out: convert the model again with \
                      fixed sizes of its inputs";
        return Err(place.bad(reason).into());
    }
    if pads.len() != 2 * dims.len() {
        return Err(place.bad(format!("amounts {pads:?} for {} dimensions", dims.len())).into());
    }
    for (along, (size, pads)) in dims.into_iter().zip(pads.chunks_exact(2)).enumerate() {
        let amount = |given: i64| {
            let most = size.saturating_sub(left_out);
            usize::try_from(given).ok().filter(|amount| *amount <= most).ok_or_else(|| {
                place.bad(format!("{given} mirrored elements of a dimension of {size}"))
            })
        };
        let (before, behind) = (amount(pads[0])?, amount(pads[1])?);
        let mut parts = Vec::new();
        if before > 0 {
            let range = Range { begin: before - 1 + left_out, size: before, stride: -1 };
            parts.push(part(importer, place, value, along, range)?);
        }
        parts.push(value);
        if behind > 0 {
            let range = Range { begin: size - 1 - left_out, size: behind, stride: -1 };
            parts.push(part(importer, place, value, along, range)?);
        }
        value = joined(importer, place, along, parts)?;
    }
    finish(importer, place, value)
}

/// Elements of one dimension, in runs of equal steps.
pub(super) fn gather<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    along: usize,
) -> Result<(), Refused> {
    let indices = importer.needed_ints(place, 1, "indices")?;
    let of_indices = importer.dims(place, 1)?;
    let input = importer.activated(place, 0)?;
    let mut dims = importer.shape(input).to_vec();
    let within = |index: &i64| usize::try_from(*index).ok().filter(|index| *index < dims[along]);
    let picks: Option<Vec<usize>> = indices.iter().map(within).collect();
    let Some(picks) = picks.filter(|picks| !picks.is_empty()) else {
        return Err(place.bad(format!("elements {indices:?} of {dims:?} along {along}")).into());
    };
    let mut runs: Vec<Range> = Vec::new();
    for index in picks {
        let last = runs.last_mut();
        match last.map(|run| (index.cast_signed() - run.begin.cast_signed(), run)) {
            Some((step, run)) if run.size == 1 && step != 0 => (run.size, run.stride) = (2, step),
            Some((step, run)) if run.size > 1 && step == run.stride * run.size.cast_signed() => {
                run.size += 1;
            }
            _ => runs.push(Range { begin: index, size: 1, stride: 1 }),
        }
    }
    if runs.len() > MOST_PARTS {
        return unsupported(format!("of more than {MOST_PARTS} runs of elements"));
    }
    let parts = runs
        .into_iter()
        .map(|run| part(importer, place, input, along, run))
        .collect::<Result<Vec<_>, _>>()?;
    let value = joined(importer, place, along, parts)?;
    dims.splice(along..=along, of_indices);
    unmoved(importer, place, 0, Op::Reshape, value, &dims)
}

/// Operands side by side in a new dimension.
pub(super) fn pack<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    along: usize,
) -> Result<(), Refused> {
    if place.inputs.len() > MOST_PARTS {
        return unsupported(format!("of more than {MOST_PARTS} operands"));
    }
    let operands = importer.all_activated(place)?;
    let mut parts = Vec::new();
    for operand in operands {
        let mut dims = importer.shape(operand).to_vec();
        dims.insert(along.min(dims.len()), 1);
        let kind = importer.kind(operand);
        parts.push(importer.part(place, Op::Reshape, vec![operand], kind, &dims)?);
    }
    let value = joined(importer, place, along, parts)?;
    finish(importer, place, value)
}
