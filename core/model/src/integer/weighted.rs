//! Convolutions and fully connected layers.

use super::{IntegerError, Multiplier, bad, multiplier, operand, per_tensor, quantisation, result};
use crate::graph::{Model, Node};
use crate::op::Op;

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

/// Bias and multiplier of each output channel of a convolution of any kind or a fully
/// connected node: real multiplier = input scale × weight scale / output scale. The product is one
/// of 64-bit floats; with one scale for all weights of 32-bit ones for a fully connected node, and
/// in models with [`Model::short_products`].
///
/// # Errors
/// If the node is another operator, an operand is missing or not quantised, the bias is no 32-bit
/// constant of the right length, or a multiplier is out of range.
pub fn channels(model: &Model, node: &Node) -> Result<Vec<Channel>, IntegerError> {
    let axis = match node.op {
        Op::Conv { .. } | Op::TransposeConv { .. } | Op::FullyConnected { .. } => 0,
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
    let zero = scales.zero();
    if i8::try_from(zero).is_err() || scales.zeros.iter().any(|other| *other != zero) {
        return Err(bad(node, "its weights have another zero point than one of 8 bits for all"));
    }
    let bias = match node.inputs.get(2) {
        None => None,
        Some(_) => {
            let values = operand(model, node, 2)?.source.as_ref().map(|source| source.values());
            let values = values
                .filter(|data| data.as_i32().is_some_and(|values| values.len() == count))
                .ok_or_else(|| bad(node, "its bias is no 32-bit constant for each channel"))?;
            Some(values)
        }
    };
    let bias = bias.as_ref().and_then(|data| data.as_i32());
    let may_be_short = model.short_products || matches!(node.op, Op::FullyConnected { .. });
    let short_product = may_be_short && scales.axis.is_none();
    (0..count)
        .map(|channel| {
            let (input, weight) = (input.scale(0), scales.scale(channel));
            let product = match short_product {
                true => f64::from(input * weight),
                false => f64::from(input) * f64::from(weight),
            };
            let Multiplier { q31, shift } = multiplier(product / f64::from(output.scale(0)))?;
            let bias = bias.and_then(|values| values.get(channel)).copied().unwrap_or(0);
            Ok(Channel { bias, multiplier: q31, shift })
        })
        .collect()
}
