//! Networks of integers as their exporters write them: products and sums of whole numbers, which a
//! factor, a summand and a quotient take back to 8 bits. They become the float graph that they mean,
//! which our quantiser makes int8; what a quotient rounds is rounded by TensorFlow Lite's rules then.

use std::rc::Rc;

use tilewright_model::{Op, Unary};

use super::elementwise::{channel_axis, per_channel};
use super::opaque;
use crate::FormatError;
use crate::numbers::single;
use crate::onnx::attributes::Place;
use crate::onnx::constant::{Constant, Values};
use crate::onnx::importer::{Activated, Importer, Value};

/// Most steps of a result of 8 bits.
const STEPS: f64 = 255.0;

const NOTE: &str = "Its integers are imported as the numbers that they stand for and quantised anew: \
                    results may differ by a step from those of the exporter's own arithmetic.";

fn note(importer: &mut Importer<'_>) {
    if !importer.model.notes.iter().any(|note| note == NOTE) {
        importer.model.notes.push(NOTE.to_owned());
    }
}

/// Constants of integers as floats, beside an activation.
pub(super) fn in_floats(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    pair: (Value, Value),
) -> Result<(Value, Value), FormatError> {
    let mut in_floats = |value: Value| -> Result<Value, FormatError> {
        match value {
            Value::Constant(constant) => {
                let values = Values::Float(numbers(place, &constant)?);
                importer.count_computed(constant.len())?;
                let constant = Constant { values, ..Constant::clone(&constant) };
                Ok(Value::Constant(Rc::new(constant)))
            }
            value @ Value::Activated(_) => Ok(value),
        }
    };
    Ok((in_floats(pair.0)?, in_floats(pair.1)?))
}

/// A constant's numbers, of whichever type.
fn numbers(place: Place<'_>, constant: &Constant) -> Result<Vec<f32>, FormatError> {
    match (constant.ints(), constant.floats()) {
        (Some(ints), _) => Ok(ints.iter().map(|value| *value as f32).collect()),
        (_, Some(floats)) => Ok(floats.to_vec()),
        _ => Err(place.bad("a constant cannot be read")),
    }
}

/// A quotient of integers.
pub(super) fn rounded_down(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    quotient: &Activated,
) -> Result<Value, FormatError> {
    let op = Op::Unary(Unary::Floor);
    let rounded = importer.emit(place, op, vec![quotient.tensor], quotient.order.clone())?;
    note(importer);
    Ok(Value::Activated(rounded))
}

/// A clip to whole numbers of 8 bits of what is rounded down: on average that takes half a step, which is
/// left out of what is before. Quantising rounds instead. Nothing for other clips.
pub(super) fn clip(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    [low, high]: [f32; 2],
) -> Result<Option<Value>, FormatError> {
    let Some(Value::Activated(input)) = importer.optional(place, 0)? else { return Ok(None) };
    let is_of_8_bits = low.fract() == 0.0 && high.fract() == 0.0 && f64::from(high - low) <= STEPS;
    let maker = importer.model.nodes.iter().rev().find(|node| node.outputs == [input.tensor]);
    let Some(maker) = maker.filter(|_| is_of_8_bits) else { return Ok(None) };
    let (Op::Unary(Unary::Floor), [real]) = (&maker.op, maker.inputs.as_slice()) else {
        return Ok(None);
    };
    let real = Activated { tensor: *real, order: input.order };
    let channels = real.order.last().copied();
    let channels = channels.ok_or_else(|| place.unsupported("of a scalar"))?;
    let lowered = per_channel(importer, place, &real, place.name(), channels, |_| (1.0, -0.5))?;
    note(importer);
    clipped(importer, place, lowered, [low, high]).map(Some)
}

fn clipped(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    value: Value,
    [low, high]: [f32; 2],
) -> Result<Value, FormatError> {
    let Value::Activated(input) = value else { return Ok(value) };
    let op = Op::Unary(Unary::Clip { low, high });
    importer.emit(place, op, vec![input.tensor], input.order).map(Value::Activated)
}

/// `(x · factor + summand) / divisor`, rounded to nearest and cut to as many steps as it says, from zero
/// or from the negative half of them: factor and summand are constants along the channels.
pub(super) fn requant_shift(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let constants = (importer.operand(place, 1), importer.operand(place, 2));
    let (Ok(Value::Constant(factor)), Ok(Value::Constant(summand))) = constants else {
        return opaque::like_its_operand(importer, place);
    };
    let divisor = number(importer, place, &["div"])?;
    let levels = number(importer, place, &["n_levels", "n_levels_out"])?;
    let is_signed = number(importer, place, &["signed"])? != 0.0;
    if !(divisor.is_finite() && divisor > 0.0 && (2.0..=STEPS + 1.0).contains(&levels)) {
        return opaque::like_its_operand(importer, place);
    }
    let (low, high) =
        if is_signed { (-levels / 2.0, levels / 2.0 - 1.0) } else { (0.0, levels - 1.0) };
    let dims = importer.dims(&input);
    let axis = |constant: &Constant| match constant.len() {
        1 => Some(None),
        _ => channel_axis(constant, &dims, &input.order).map(Some),
    };
    let axis = match (axis(&factor), axis(&summand)) {
        (Some(first), Some(second)) if first == second || second.is_none() => first,
        (Some(None), Some(second)) => second,
        // Along other dimensions than one, nothing here computes it.
        _ => return opaque::like_its_operand(importer, place),
    };
    let axis = axis.or_else(|| input.order.last().copied());
    let axis = axis.ok_or_else(|| place.unsupported("of a scalar"))?;
    let (factors, summands) = (numbers(place, &factor)?, numbers(place, &summand)?);
    let at = |values: &[f32], channel: usize| f64::from(values[channel % values.len()]) / divisor;
    let affine = |channel: usize| (single(at(&factors, channel)), single(at(&summands, channel)));
    let real = per_channel(importer, place, &input, place.name(), axis, affine)?;
    note(importer);
    clipped(importer, place, real, [low, high].map(single))
}

/// The first of these attributes that the node has: a number, or a tensor of one.
fn number(importer: &Importer<'_>, place: Place<'_>, names: &[&str]) -> Result<f64, FormatError> {
    let missing = || place.bad(format!("attribute {} is missing", names[0]));
    let attribute = names.iter().find_map(|name| place.attribute(name)).ok_or_else(missing)?;
    let Some(tensor) = attribute.t.clone() else {
        return Ok(if attribute.f == 0.0 { attribute.i as f64 } else { f64::from(attribute.f) });
    };
    let constant = Constant::read(tensor, None, importer.file, importer.limits)?;
    match numbers(place, &constant)?.as_slice() {
        [number] => Ok(f64::from(*number)),
        values => Err(place.bad(format!("attribute {} holds {} numbers", names[0], values.len()))),
    }
}
