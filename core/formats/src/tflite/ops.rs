//! One function for each operator type of the file.

mod arrange;
mod border;
mod constants;
mod convolve;
mod dense;
mod pointwise;
mod reduce;
mod shape;
mod slice;

use tilewright_model::{Activation, Op, TensorId, Unary};
use tilewright_tflite_schema::{self as fb, BuiltinOperator as Code};

use super::importer::{Importer, Refused, unsupported};
use super::variables;
use super::verified_file::Place;
use crate::FormatError;
use crate::numbers::signed;

type Import = for<'a> fn(&mut Importer<'_, 'a>, &Place<'a>) -> Result<(), Refused>;

/// Operators of one operand and a function of one value.
const FUNCTIONS: &[(Code, Unary)] = &[
    (Code::ABS, Unary::Abs),
    (Code::CEIL, Unary::Ceil),
    (Code::COS, Unary::Cos),
    (Code::ELU, Unary::Elu { alpha: 1.0 }),
    (Code::EXP, Unary::Exp),
    (Code::FLOOR, Unary::Floor),
    (Code::HARD_SWISH, Unary::HardSwish),
    (Code::LOG, Unary::Log),
    (Code::LOGISTIC, Unary::Sigmoid),
    (Code::NEG, Unary::Neg),
    (Code::RELU_0_TO_1, Unary::Clip { low: 0.0, high: 1.0 }),
    (Code::ROUND, Unary::Round),
    (Code::RSQRT, Unary::Rsqrt),
    (Code::SIGN, Unary::Sign),
    (Code::SIN, Unary::Sin),
    (Code::SQRT, Unary::Sqrt),
    (Code::SQUARE, Unary::Square),
    (Code::TANH, Unary::Tanh),
];

const OPERATORS: &[(Code, Import)] = &[
    (Code::ADD, pointwise::add),
    (Code::ARG_MAX, reduce::arg_max),
    (Code::ASSIGN_VARIABLE, variables::assign),
    (Code::AVERAGE_POOL_2D, convolve::average_pool),
    (Code::CALL_ONCE, variables::call_once),
    (Code::CAST, constants::cast),
    (Code::CONCATENATION, shape::concatenation),
    (Code::CONV_2D, convolve::conv),
    (Code::DENSIFY, border::densify),
    (Code::DEPTHWISE_CONV_2D, convolve::depthwise),
    (Code::DEPTH_TO_SPACE, shape::depth_to_space),
    (Code::DEQUANTIZE, border::dequantize),
    (Code::DIV, pointwise::div),
    (Code::EXPAND_DIMS, shape::expand_dims),
    (Code::FULLY_CONNECTED, dense::fully_connected),
    (Code::GATHER, constants::gather),
    (Code::GELU, pointwise::gelu),
    (Code::LEAKY_RELU, pointwise::leaky_relu),
    (Code::LOCAL_RESPONSE_NORMALIZATION, reduce::local_response),
    (Code::LOG_SOFTMAX, reduce::log_softmax),
    (Code::MAXIMUM, pointwise::maximum),
    (Code::MAX_POOL_2D, convolve::max_pool),
    (Code::MEAN, reduce::mean),
    (Code::MINIMUM, pointwise::minimum),
    (Code::MIRROR_PAD, arrange::mirror_pad),
    (Code::MUL, pointwise::mul),
    (Code::PACK, constants::pack),
    (Code::PAD, shape::pad),
    (Code::PADV2, shape::pad),
    (Code::PRELU, pointwise::prelu),
    (Code::QUANTIZE, border::quantize),
    (Code::READ_VARIABLE, variables::read),
    (Code::RELU, pointwise::relu),
    (Code::RELU6, pointwise::relu6),
    (Code::RELU_N1_TO_1, pointwise::relu_n1_to_1),
    (Code::RESHAPE, shape::reshape),
    (Code::RESIZE_BILINEAR, shape::resize_bilinear),
    (Code::RESIZE_NEAREST_NEIGHBOR, shape::resize_nearest),
    (Code::REVERSE_V2, arrange::reverse),
    (Code::SHAPE, constants::shape),
    (Code::SLICE, slice::slice),
    (Code::SOFTMAX, reduce::softmax),
    (Code::SPACE_TO_DEPTH, shape::space_to_depth),
    (Code::SPLIT, slice::split),
    (Code::SPLIT_V, slice::split_v),
    (Code::SQUEEZE, shape::squeeze),
    (Code::STRIDED_SLICE, slice::strided_slice),
    (Code::SQUARED_DIFFERENCE, pointwise::squared_difference),
    (Code::SUB, pointwise::sub),
    (Code::SUM, reduce::sum),
    (Code::TILE, arrange::tile),
    (Code::TRANSPOSE, shape::transpose),
    (Code::TRANSPOSE_CONV, convolve::transpose_conv),
    (Code::UNPACK, slice::unpack),
    (Code::VAR_HANDLE, variables::handle),
];

pub(super) fn import<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let function = FUNCTIONS.iter().find(|(known, _)| *known == place.code);
    let known = OPERATORS.iter().find(|(known, _)| *known == place.code);
    if (function.is_some() || known.is_some())
        && let Some(reason) = importer.foreign(place)
    {
        return unsupported(reason);
    }
    match (function, known) {
        (Some((_, function)), _) => pointwise::unary(importer, place, *function),
        (None, Some((_, import))) => import(importer, place),
        (None, None) => unsupported(""),
    }
}

/// The activation fused into an operator.
fn fused(function: fb::ActivationFunctionType) -> Result<Activation, Refused> {
    match function {
        fb::ActivationFunctionType::NONE => Ok(Activation::None),
        fb::ActivationFunctionType::RELU => Ok(Activation::Relu),
        fb::ActivationFunctionType::RELU6 => Ok(Activation::Relu6),
        fb::ActivationFunctionType::RELU_N1_TO_1 => Ok(Activation::ReluN1To1),
        other => unsupported(format!("fused {}", other.variant_name().unwrap_or("activation"))),
    }
}

/// Options that an operator must have.
fn needed<T>(place: &Place<'_>, options: Option<T>) -> Result<T, FormatError> {
    options.ok_or_else(|| place.bad("its options are missing, or another operator's"))
}

/// A size of the file, from 1 to 32767, so that products of two fit 32 bits.
fn size(place: &Place<'_>, what: &str, value: i32) -> Result<usize, FormatError> {
    usize::try_from(value)
        .ok()
        .filter(|size| (1..1 << 15).contains(size))
        .ok_or_else(|| place.bad(format!("its {what} is {value}, not within 1 to 32767")))
}

/// An axis counted from the back where negative.
fn axis(place: &Place<'_>, axis: i64, rank: usize) -> Result<usize, FormatError> {
    let from_front = if axis < 0 { axis.checked_add(signed(rank)) } else { Some(axis) };
    from_front
        .and_then(|axis| usize::try_from(axis).ok())
        .filter(|axis| *axis < rank)
        .ok_or_else(|| place.bad(format!("axis {axis} of a tensor of rank {rank}")))
}

/// Operators that only move values need one quantisation on both sides; files whose scales differ
/// by rounding have it.
fn unmoved<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    position: usize,
    op: Op,
    input: TensorId,
    dims: &[usize],
) -> Result<(), Refused> {
    let from = importer.model.tensor(input).quantisation.clone();
    if let (Some(from), Ok((_, Some(to)))) = (&from, importer.result_kind(place, position))
        && (from.zero() != to.zero() || (from.scale(0) - to.scale(0)).abs() > 1e-6)
    {
        return unsupported("its result is quantised otherwise than its operand");
    }
    let output = importer.emit_shaped(place, position, op, vec![input], dims)?;
    importer.model.tensors[output.0].quantisation = from;
    Ok(())
}
