//! Local response normalisation in integers. TensorFlow Lite has it in float only; this definition
//! is ours.
//!
//! The sum S of squared differences from the input's zero point is exact in 32 bits. The factor
//! F(S) = input scale / output scale · (bias + alpha / size · input scale² · S)^−beta comes from
//! a table with linear interpolation: sums below 16 have an entry each; above, each power of two
//! has 16 entries. A result is the value's difference from the zero point times the interpolated
//! factor, rounded twice as everywhere.

use super::{IntegerError, Multiplier, bad, multiplier, operand, operand_scale, result_scale};
use crate::graph::{Model, Node};
use crate::op::Op;

/// Entries for each power of two, and below the first one.
const ENTRIES: u32 = 16;
const ENTRY_BITS: u32 = 4;

/// Parameters of an int8 local response normalisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseParams {
    /// Channels before and behind a value that count.
    pub around: [usize; 2],
    /// Significands of the factors, 0 to 2^31 − 1.
    pub factors: Vec<i32>,
    /// Power of two of all factors, as [`Multiplier::shift`].
    pub shift: i32,
}

impl ResponseParams {
    /// The factor for a sum of squares that the operator can have.
    #[must_use]
    pub fn factor(&self, sum: u32) -> Multiplier {
        let (index, rest, bits) = place(sum);
        let entry = |index: usize| {
            let last = self.factors.len().saturating_sub(1);
            self.factors.get(index.min(last)).copied().map_or(0, i64::from)
        };
        let difference = entry(index + 1) - entry(index);
        let q31 = entry(index) + ((difference * i64::from(rest)) >> bits);
        Multiplier { q31: q31 as i32, shift: self.shift }
    }
}

/// The table entry at or below a sum, how far the sum lies above it, and the logarithm of the
/// distance to the next entry.
const fn place(sum: u32) -> (usize, u32, u32) {
    if sum < ENTRIES {
        return (sum as usize, 0, 0);
    }
    let bits = sum.ilog2() - ENTRY_BITS;
    let index = ENTRIES * bits + (sum >> bits);
    (index as usize, sum & ((1 << bits) - 1), bits)
}

/// The sum at a table entry.
const fn sum_at(index: usize) -> u64 {
    let index = index as u64;
    let entries = ENTRIES as u64;
    if index < 2 * entries {
        return index;
    }
    (entries + index % entries) << (index / entries - 1)
}

/// Parameters of a local response normalisation.
///
/// # Errors
/// If the node is another operator, its tensors are not quantised per tensor, more than 2^16
/// channels are summed, or its factors grow with the sum, are infinite or out of range.
pub fn local_response(model: &Model, node: &Node) -> Result<ResponseParams, IntegerError> {
    let Op::LocalResponseNorm { size, alpha, beta, bias } = node.op else {
        return Err(bad(node, "is no local response normalisation"));
    };
    let (input, output) = (operand_scale(model, node, 0)?, result_scale(model, node)?);
    let channels = operand(model, node, 0)?.shape.dims().last().copied().unwrap_or(0);
    let most = size.min(channels);
    if most > 1 << 16 || size == 0 {
        return Err(bad(node, "sums too many channels"));
    }
    let (input, output) = (f64::from(input), f64::from(output));
    let slope = f64::from(alpha) / size as f64 * input * input;
    let factor = |sum: u64| {
        let base = f64::from(bias) + slope * sum as f64;
        input / output * libm::pow(base, -f64::from(beta))
    };
    let largest = factor(0);
    if !largest.is_finite() || largest <= 0.0 || beta < 0.0 || alpha < 0.0 {
        return Err(bad(node, "its factors are infinite or grow with the sum"));
    }
    let Multiplier { shift, .. } = multiplier(largest)?;
    let (last, ..) = place((most as u32).saturating_mul(255 * 255));
    let factors = (0..=last + 1)
        .map(|index| {
            let significand = libm::ldexp(factor(sum_at(index)), 31 - shift);
            libm::round(significand).min(2_147_483_647.0) as i32
        })
        .collect();
    Ok(ResponseParams { around: [(size - 1) / 2, size - 1 - (size - 1) / 2], factors, shift })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_lie_where_sums_look() {
        for sum in (0..1 << 12).chain([u32::MAX, 65_025 * 5, 1 << 31]) {
            let (index, rest, bits) = place(sum);
            assert_eq!(sum_at(index) + u64::from(rest), u64::from(sum));
            assert_eq!(sum_at(index + 1) - sum_at(index), 1 << bits, "{sum}");
        }
    }
}
