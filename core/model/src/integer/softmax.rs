//! Softmax and its logarithm.

use super::{IntegerError, Multiplier, bad, multiplier, operand_scale, per_tensor, result};
use crate::graph::{Model, Node};
use crate::op::Op;

/// Integer bits of the fixed-point argument of softmax's exponential.
pub const SOFTMAX_INTEGER_BITS: u32 = 5;

/// Parameters of an int8 softmax with beta 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SoftmaxParams {
    /// Scales differences from the largest input to [`SOFTMAX_INTEGER_BITS`] integer bits.
    pub multiplier: i32,
    /// Left shift that goes with it, 0 or more.
    pub left_shift: i32,
    /// Differences below this, which is negative, contribute nothing.
    pub diff_min: i32,
}

/// Parameters of an int8 log-softmax.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogSoftmaxParams {
    /// Makes a difference of inputs a number with [`SOFTMAX_INTEGER_BITS`] integer bits.
    pub scale: Multiplier,
    /// Takes such a number back to a difference of inputs.
    pub reverse: Multiplier,
    /// Differences below this, which is negative, contribute nothing.
    pub diff_min: i32,
}

/// Parameters of a softmax with beta 1. The output's quantisation must be scale 1/256, zero −128.
///
/// # Errors
/// If the node is another operator, its tensors are not quantised so, or the input's scale is so
/// small (2^-26 and below) that TensorFlow Lite refuses it.
pub fn softmax(model: &Model, node: &Node) -> Result<SoftmaxParams, IntegerError> {
    if !matches!(node.op, Op::Softmax) {
        return Err(bad(node, "is no softmax"));
    }
    let output = per_tensor(result(model, node)?)?;
    if output.scale(0) != 1.0 / 256.0 || output.zero() != -128 {
        return Err(bad(node, "its output's quantisation is not scale 1/256, zero -128"));
    }
    let (scale, diff_min) = difference(operand_scale(model, node, 0)?)?;
    Ok(SoftmaxParams { multiplier: scale.q31, left_shift: scale.shift, diff_min })
}

/// Parameters of a log-softmax. The output's quantisation must be scale 1/16, zero 127.
///
/// # Errors
/// As [`softmax`].
pub fn log_softmax(model: &Model, node: &Node) -> Result<LogSoftmaxParams, IntegerError> {
    if !matches!(node.op, Op::LogSoftmax) {
        return Err(bad(node, "is no log-softmax"));
    }
    let output = per_tensor(result(model, node)?)?;
    if output.scale(0) != 1.0 / 16.0 || output.zero() != 127 {
        return Err(bad(node, "its output's quantisation is not scale 1/16, zero 127"));
    }
    let (scale, diff_min) = difference(operand_scale(model, node, 0)?)?;
    let reverse = libm::ldexp(1.0, 31 - scale.shift) / f64::from(scale.q31);
    Ok(LogSoftmaxParams { scale, reverse: multiplier(reverse)?, diff_min })
}

/// The multiplier that makes differences of inputs fixed-point numbers, and the smallest difference
/// that counts.
fn difference(input: f32) -> Result<(Multiplier, i32), IntegerError> {
    let input = f64::from(input);
    let fraction_bits = 31 - SOFTMAX_INTEGER_BITS;
    let real = (input * f64::from(1u32 << fraction_bits)).min(2_147_483_647.0);
    if real <= 1.0 {
        return Err(IntegerError::Multiplier { value: real.to_string() });
    }
    let scale = multiplier(real)?;
    let radius = f64::from((1u32 << SOFTMAX_INTEGER_BITS) - 1) * f64::from(1u32 << fraction_bits);
    let radius = libm::floor(radius / (1u64 << scale.shift) as f64);
    Ok((scale, -(radius as i32)))
}
