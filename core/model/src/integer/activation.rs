//! Ranges of results.

use super::{IntegerError, per_tensor, result};
use crate::graph::{Model, Node};
use crate::op::{Activation, Op};
use crate::tensor::Quantisation;

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
