//! Integer parameters of quantised operators: what the planner writes into plans and the int8
//! reference interpreter computes with. The arithmetic is TensorFlow Lite's with double rounding;
//! see thesis 2.3.2.3 and appendix A.1.

mod fixed;

use thiserror::Error;

use crate::graph::{Model, Node, TensorId};
use crate::op::{Activation, Op};
use crate::tensor::{Quantisation, Tensor};

pub use fixed::{
    multiply_by_quantised_multiplier, rounding_divide_by_power_of_two,
    saturating_rounding_doubling_high_mul,
};

/// Bits by which both operands of an addition are shifted left before they are rescaled.
pub const ADD_LEFT_SHIFT: u32 = 20;

/// Integer bits of the fixed-point argument of softmax's exponential.
pub const SOFTMAX_INTEGER_BITS: u32 = 5;

/// Why a node has no integer parameters.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum IntegerError {
    /// A real multiplier is negative, not finite or too large for 31 bits.
    #[error("a real multiplier of {value} cannot be expressed with 32-bit integers")]
    Multiplier {
        /// The multiplier, in decimals.
        value: String,
    },
    /// A tensor has no quantisation, or one per channel where one per tensor is needed.
    #[error("tensor '{tensor}' is not quantised as its operator needs: {reason}")]
    Quantisation {
        /// The tensor.
        tensor: String,
        /// What is missing.
        reason: &'static str,
    },
    /// The node lacks an operand or is not an operator of the kind asked for.
    #[error("node '{node}': {reason}")]
    Node {
        /// The node.
        node: String,
        /// What is wrong.
        reason: &'static str,
    },
}

/// A positive real number as `q31 × 2^(shift − 31)`; `q31` is in `[2^30, 2^31)`, or zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Multiplier {
    /// Significand with 31 fractional bits.
    pub q31: i32,
    /// Power of two; above zero shifts left before the multiplication, below zero right after.
    pub shift: i32,
}

impl Multiplier {
    /// `value` times this multiplier, rounded twice as TensorFlow Lite does.
    #[must_use]
    pub const fn apply(self, value: i32) -> i32 {
        multiply_by_quantised_multiplier(value, self.q31, self.shift)
    }
}

/// What one output channel of a convolution or fully connected layer adds and scales by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Channel {
    /// Bias at the scale input × weights; 0 if the node has none.
    pub bias: i32,
    /// As [`Multiplier::q31`].
    pub multiplier: i32,
    /// As [`Multiplier::shift`].
    pub shift: i32,
}

/// Multipliers of an addition. Operands are shifted left by [`ADD_LEFT_SHIFT`] first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddParams {
    /// First input's scale over twice the larger input scale.
    pub first: Multiplier,
    /// Second input's scale over twice the larger input scale.
    pub second: Multiplier,
    /// Twice the larger input scale over 2^20 output scales.
    pub output: Multiplier,
}

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

/// The real number as a multiplier. Below 2^-32 the result is zero.
///
/// # Errors
/// If `real` is negative, not finite, or at least 2^31.
pub fn multiplier(real: f64) -> Result<Multiplier, IntegerError> {
    if !real.is_finite() || !(0.0..2_147_483_648.0).contains(&real) {
        return Err(IntegerError::Multiplier { value: real.to_string() });
    }
    if real == 0.0 {
        return Ok(Multiplier::default());
    }
    let (significand, mut shift) = libm::frexp(real);
    let mut q31 = libm::round(significand * 2_147_483_648.0) as i64;
    if q31 == 1 << 31 {
        q31 /= 2;
        shift += 1;
    }
    if shift < -31 {
        return Ok(Multiplier::default());
    }
    if shift > 31 {
        return Err(IntegerError::Multiplier { value: real.to_string() });
    }
    Ok(Multiplier { q31: q31 as i32, shift })
}

/// Bias and multiplier of each output channel of a convolution, depthwise convolution or fully
/// connected node: real multiplier = input scale × weight scale / output scale, in 64-bit floats.
///
/// # Errors
/// If the node is another operator, an operand is missing or not quantised, the bias is no 32-bit
/// constant of the right length, or a multiplier is out of range.
pub fn channels(model: &Model, node: &Node) -> Result<Vec<Channel>, IntegerError> {
    let axis = match node.op {
        Op::Conv { .. } | Op::FullyConnected { .. } => 0,
        Op::DepthwiseConv { .. } => 3,
        _ => return Err(bad(node, "is neither convolution nor fully connected")),
    };
    let input = per_tensor(operand(model, node, 0)?)?;
    let weights = operand(model, node, 1)?;
    let output = per_tensor(result(model, node)?)?;
    let count = *weights
        .shape
        .dims()
        .get(axis)
        .ok_or_else(|| bad(node, "its weights have too few dimensions"))?;
    let scales = quantisation(weights)?;
    if scales.axis.is_some_and(|along| along != axis) {
        return Err(bad(node, "its weights are quantised along another dimension"));
    }
    if scales.zeros.iter().any(|zero| *zero != 0) {
        return Err(bad(node, "its weights are not quantised symmetrically"));
    }
    let bias = match node.inputs.get(2) {
        None => None,
        Some(_) => {
            let values = operand(model, node, 2)?.source.as_ref().and_then(|source| source.data());
            let values = values
                .and_then(|data| data.as_i32())
                .filter(|values| values.len() == count)
                .ok_or_else(|| bad(node, "its bias is no 32-bit constant for each channel"))?;
            Some(values)
        }
    };
    (0..count)
        .map(|channel| {
            let product = f64::from(input.scale(0)) * f64::from(scales.scale(channel));
            let Multiplier { q31, shift } = multiplier(product / f64::from(output.scale(0)))?;
            let bias = bias.map_or(0, |values| values[channel]);
            Ok(Channel { bias, multiplier: q31, shift })
        })
        .collect()
}

/// Parameters of an addition.
///
/// # Errors
/// If the node is another operator, an operand is not quantised per tensor, or the output's scale
/// is so small that the output multiplier reaches 1.
pub fn add(model: &Model, node: &Node) -> Result<AddParams, IntegerError> {
    if !matches!(node.op, Op::Add { .. }) {
        return Err(bad(node, "is no addition"));
    }
    let scale = |tensor: &Tensor| per_tensor(tensor).map(|q| f64::from(q.scale(0)));
    let first = scale(operand(model, node, 0)?)?;
    let second = scale(operand(model, node, 1)?)?;
    let output = scale(result(model, node)?)?;
    let twice_max = 2.0 * first.max(second);
    let below_one = |real: f64| {
        let multiplier = multiplier(real)?;
        if multiplier.shift > 0 {
            return Err(bad(node, "its output's scale is too small for its inputs'"));
        }
        Ok(multiplier)
    };
    Ok(AddParams {
        first: below_one(first / twice_max)?,
        second: below_one(second / twice_max)?,
        output: below_one(twice_max / (f64::from(1u32 << ADD_LEFT_SHIFT) * output))?,
    })
}

/// Multiplier that takes values of `input` to values of `output`: input scale / output scale.
///
/// # Errors
/// If a tensor is not quantised per tensor or the ratio is out of range.
pub fn requantise(
    model: &Model,
    input: TensorId,
    output: TensorId,
) -> Result<Multiplier, IntegerError> {
    let input = per_tensor(model.tensor(input))?;
    let output = per_tensor(model.tensor(output))?;
    multiplier(f64::from(input.scale(0)) / f64::from(output.scale(0)))
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
    let input = f64::from(per_tensor(operand(model, node, 0)?)?.scale(0));
    let output = per_tensor(result(model, node)?)?;
    if output.scale(0) != 1.0 / 256.0 || output.zero() != -128 {
        return Err(bad(node, "its output's quantisation is not scale 1/256, zero -128"));
    }
    let fraction_bits = 31 - SOFTMAX_INTEGER_BITS;
    let real = (input * f64::from(1u32 << fraction_bits)).min(2_147_483_647.0);
    if real <= 1.0 {
        return Err(IntegerError::Multiplier { value: real.to_string() });
    }
    let Multiplier { q31, shift } = multiplier(real)?;
    let radius = f64::from((1u32 << SOFTMAX_INTEGER_BITS) - 1) * f64::from(1u32 << fraction_bits);
    let radius = libm::floor(radius / (1u64 << shift) as f64);
    Ok(SoftmaxParams { multiplier: q31, left_shift: shift, diff_min: -(radius as i32) })
}

/// Smallest and largest value that the node's output may take, from its activation (fused, or the
/// node itself) and its output's quantisation.
///
/// # Errors
/// If the output is missing or not quantised per tensor.
pub fn clamp(model: &Model, node: &Node) -> Result<(i8, i8), IntegerError> {
    let quantisation = per_tensor(result(model, node)?)?;
    let activation = match node.op {
        Op::Activation(activation) => activation,
        ref op => op.activation().unwrap_or_default(),
    };
    Ok(activation_range(activation, quantisation))
}

/// Range of int8 values that `activation` allows under a per-tensor quantisation.
#[must_use]
pub fn activation_range(activation: Activation, quantisation: &Quantisation) -> (i8, i8) {
    let quantise = |real: f32| {
        let steps = libm::roundf(real / quantisation.scale(0)) as i32;
        quantisation.zero().saturating_add(steps).clamp(-128, 127) as i8
    };
    match activation {
        Activation::None => (i8::MIN, i8::MAX),
        Activation::Relu => (quantise(0.0), i8::MAX),
        Activation::Relu6 => (quantise(0.0), quantise(6.0)),
        Activation::ReluN1To1 => (quantise(-1.0), quantise(1.0)),
    }
}

fn bad(node: &Node, reason: &'static str) -> IntegerError {
    IntegerError::Node { node: node.name.clone(), reason }
}

fn operand<'m>(model: &'m Model, node: &Node, index: usize) -> Result<&'m Tensor, IntegerError> {
    node.inputs
        .get(index)
        .and_then(|id| model.tensors.get(id.0))
        .ok_or_else(|| bad(node, "an operand is missing"))
}

fn result<'m>(model: &'m Model, node: &Node) -> Result<&'m Tensor, IntegerError> {
    node.outputs
        .first()
        .and_then(|id| model.tensors.get(id.0))
        .ok_or_else(|| bad(node, "its output is missing"))
}

fn quantisation(tensor: &Tensor) -> Result<&Quantisation, IntegerError> {
    tensor.quantisation.as_ref().ok_or_else(|| IntegerError::Quantisation {
        tensor: tensor.name.clone(),
        reason: "it has no scale",
    })
}

fn per_tensor(tensor: &Tensor) -> Result<&Quantisation, IntegerError> {
    let quantisation = quantisation(tensor)?;
    if quantisation.axis.is_some() {
        return Err(IntegerError::Quantisation {
            tensor: tensor.name.clone(),
            reason: "it has a scale per channel",
        });
    }
    Ok(quantisation)
}

#[cfg(test)]
mod tests;
