//! Operators that compute each element by itself.

use tilewright_model::{Activation, DType, Op, Unary};
use tilewright_tflite_schema as fb;

use super::{fused, needed};
use crate::tflite::importer::{Importer, Refused, unsupported};
use crate::tflite::verified_file::Place;

pub(super) fn unary<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    function: Unary,
) -> Result<(), Refused> {
    let input = importer.activated(place, 0)?;
    importer.emit(place, Op::Unary(function), vec![input])?;
    Ok(())
}

pub(super) fn leaky_relu<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_leaky_relu_options())?;
    unary(importer, place, Unary::LeakyRelu { alpha: options.alpha() })
}

pub(super) fn gelu<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let options = place.operator.builtin_options_as_gelu_options();
    let approximate = options.is_some_and(|options| options.approximate());
    unary(importer, place, Unary::Gelu { approximate })
}

fn binary<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>, op: Op) -> Result<(), Refused> {
    if place.inputs.len() != 2 {
        return Err(place.bad(format!("{} operands", place.inputs.len())).into());
    }
    let inputs = importer.all_activated(place)?;
    importer.emit(place, op, inputs)?;
    Ok(())
}

/// The activation of options that files may leave out.
fn activation(function: Option<fb::ActivationFunctionType>) -> Result<Activation, Refused> {
    fused(function.unwrap_or(fb::ActivationFunctionType::NONE))
}

pub(super) fn add<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let options = place.operator.builtin_options_as_add_options();
    let activation = activation(options.map(|options| options.fused_activation_function()))?;
    binary(importer, place, Op::Add { activation })
}

pub(super) fn sub<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let options = place.operator.builtin_options_as_sub_options();
    let activation = activation(options.map(|options| options.fused_activation_function()))?;
    binary(importer, place, Op::Sub { activation })
}

pub(super) fn mul<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let options = place.operator.builtin_options_as_mul_options();
    let activation = activation(options.map(|options| options.fused_activation_function()))?;
    binary(importer, place, Op::Mul { activation })
}

pub(super) fn div<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    if !importer.is_float(place) {
        return unsupported("of quantised values");
    }
    let options = place.operator.builtin_options_as_div_options();
    let activation = activation(options.map(|options| options.fused_activation_function()))?;
    binary(importer, place, Op::Div { activation })
}

/// In floats alone: a difference and its square.
pub(super) fn squared_difference<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    if !importer.is_float(place) {
        return unsupported("of quantised values");
    }
    let inputs = importer.all_activated(place)?;
    let op = Op::Sub { activation: Activation::None };
    let difference = importer.part(place, op, inputs, (DType::F32, None), &[])?;
    importer.emit(place, Op::Unary(Unary::Square), vec![difference])?;
    Ok(())
}

pub(super) fn maximum<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    binary(importer, place, Op::Maximum)
}

pub(super) fn minimum<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    binary(importer, place, Op::Minimum)
}

pub(super) fn prelu<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    binary(importer, place, Op::Prelu)
}

fn clip<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    activation: Activation,
) -> Result<(), Refused> {
    let input = importer.activated(place, 0)?;
    importer.emit(place, Op::Activation(activation), vec![input])?;
    Ok(())
}

pub(super) fn relu<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    clip(importer, place, Activation::Relu)
}

pub(super) fn relu6<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    clip(importer, place, Activation::Relu6)
}

pub(super) fn relu_n1_to_1<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    clip(importer, place, Activation::ReluN1To1)
}
