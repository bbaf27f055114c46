//! Operators on pairs of values, and changes of scale.

use super::{IntegerError, Multiplier, bad, multiplier, operand_scale, per_tensor, result_scale};
use crate::graph::{Model, Node, TensorId};
use crate::op::Op;

/// Bits by which both operands of an addition are shifted left before they are rescaled.
pub const ADD_LEFT_SHIFT: u32 = 20;

/// Multipliers of an addition or subtraction. Operands are shifted left by [`ADD_LEFT_SHIFT`] first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddParams {
    /// First input's scale over twice the larger input scale.
    pub first: Multiplier,
    /// Second input's scale over twice the larger input scale.
    pub second: Multiplier,
    /// Twice the larger input scale over 2^20 output scales.
    pub output: Multiplier,
}

/// Multipliers of a PReLU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PreluParams {
    /// Of values from zero up: input scale over output scale.
    pub positive: Multiplier,
    /// Of products of negative values with slopes: both scales over the output scale.
    pub negative: Multiplier,
}

/// Parameters of an addition or subtraction.
///
/// # Errors
/// If the node is another operator, an operand is not quantised per tensor, or the output's scale
/// is so small that the output multiplier reaches 1.
pub fn add(model: &Model, node: &Node) -> Result<AddParams, IntegerError> {
    if !matches!(node.op, Op::Add { .. } | Op::Sub { .. }) {
        return Err(bad(node, "is no addition or subtraction"));
    }
    let first = f64::from(operand_scale(model, node, 0)?);
    let second = f64::from(operand_scale(model, node, 1)?);
    let output = f64::from(result_scale(model, node)?);
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

/// Multiplier of a multiplication: both input scales over the output scale, in 32-bit floats.
///
/// # Errors
/// If the node is another operator, an operand is not quantised per tensor, or the multiplier is
/// out of range.
pub fn mul(model: &Model, node: &Node) -> Result<Multiplier, IntegerError> {
    if !matches!(node.op, Op::Mul { .. }) {
        return Err(bad(node, "is no multiplication"));
    }
    let product = operand_scale(model, node, 0)? * operand_scale(model, node, 1)?;
    multiplier(f64::from(product / result_scale(model, node)?))
}

/// Parameters of a PReLU, from 32-bit products of scales.
///
/// # Errors
/// If the node is another operator, an operand is not quantised per tensor, or a multiplier is out
/// of range.
pub fn prelu(model: &Model, node: &Node) -> Result<PreluParams, IntegerError> {
    if !matches!(node.op, Op::Prelu) {
        return Err(bad(node, "is no PReLU"));
    }
    let (input, output) = (operand_scale(model, node, 0)?, result_scale(model, node)?);
    let slopes = operand_scale(model, node, 1)?;
    Ok(PreluParams {
        positive: multiplier(f64::from(input / output))?,
        negative: multiplier(f64::from(input * slopes / output))?,
    })
}

/// Multiplier that takes values of `input` to values of `output`, as an activation by itself or a
/// concatenation does: input scale / output scale, in 32-bit floats.
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
    multiplier(f64::from(input.scale(0) / output.scale(0)))
}
