//! Integer parameters of quantised operators: what the planner writes into plans and the int8
//! reference interpreter computes with. The arithmetic is TensorFlow Lite's with double rounding;
//! see thesis 2.3.2.3 and appendix A.1.

//!
//! Real multipliers are taken from 32-bit or 64-bit products of scales, whichever TensorFlow Lite
//! takes for the operator: the last bits of a multiplier decide ties.

mod activation;
mod elementwise;
mod filler;
mod fixed;
mod reduce;
mod resize;
mod response;
mod softmax;
mod table;
mod weighted;

use thiserror::Error;

use crate::graph::{Model, Node};
use crate::tensor::{Quantisation, Tensor};

pub use activation::{activation_range, clamp};
pub use elementwise::{ADD_LEFT_SHIFT, AddParams, PreluParams, add, mul, prelu, requantise};
pub use filler::filler;
pub use fixed::{
    multiply_by_quantised_multiplier, rounding_divide_by_power_of_two,
    saturating_rounding_doubling_high_mul,
};
pub use reduce::mean;
pub use resize::{BILINEAR_BITS, BilinearParams, bilinear, nearest};
pub use response::{ResponseParams, local_response};
pub use softmax::{LogSoftmaxParams, SOFTMAX_INTEGER_BITS, SoftmaxParams, log_softmax, softmax};
pub use table::{Table, concat, table};
pub use weighted::{Channel, channels};

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

/// The scale of an operand that is quantised per tensor.
fn operand_scale(model: &Model, node: &Node, index: usize) -> Result<f32, IntegerError> {
    Ok(per_tensor(operand(model, node, index)?)?.scale(0))
}

/// The scale of the result, which is quantised per tensor.
fn result_scale(model: &Model, node: &Node) -> Result<f32, IntegerError> {
    Ok(per_tensor(result(model, node)?)?.scale(0))
}

#[cfg(test)]
mod tests;
