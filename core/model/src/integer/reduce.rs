//! Means over whole dimensions.

use super::{IntegerError, Multiplier, bad, multiplier, operand, operand_scale, result_scale};
use crate::graph::{Model, Node};
use crate::op::Op;

/// Multiplier of a mean's sum of differences from the zero point: input scale over output scale,
/// as a multiplier, divided by the number of values and rounded down.
///
/// # Errors
/// If the node is another operator, its operand or result is not quantised per tensor, or the
/// multiplier is out of range.
pub fn mean(model: &Model, node: &Node) -> Result<Multiplier, IntegerError> {
    let Op::Mean { axes, .. } = &node.op else { return Err(bad(node, "is no mean")) };
    let dims = operand(model, node, 0)?.shape.dims();
    let count: usize = axes.iter().filter_map(|axis| dims.get(*axis)).product();
    if count == 0 || count > i32::MAX as usize {
        return Err(bad(node, "its sums have no or too many values"));
    }
    let ratio = f64::from(operand_scale(model, node, 0)?) / f64::from(result_scale(model, node)?);
    let Multiplier { q31, shift } = multiplier(ratio)?;
    // As many bits as keep the quotient's precision, but no right shift of more than 31.
    let bits = (count.ilog2() as i32).min(31 + shift);
    let q31 = (i64::from(q31) << bits) / count as i64;
    Ok(Multiplier { q31: q31 as i32, shift: shift - bits })
}
