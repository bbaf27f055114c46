//! Requantisation in six instructions, bit for bit as [`crate::requantise`] describes it.
//!
//! The doubled accumulator times the multiplier, rounded to its high half, is SMMLAR's product. What
//! the shift behind it rounds with, half a unit less one where the product is negative, and the
//! zero point times the unit are added by the same instruction. The sign may be the accumulator's:
//! where it is negative and the product rounds to 0, half a unit less one still ends in 0.

use super::multiply::high_product_sum;
use super::saturate::{saturate, shift_right};
use crate::requantise::Multiplier;

/// Requantises four registers: multiplier in `r2`, shift in `r3`, rounding in `r12`; spoils `lr`.
#[cfg(armv7e_m)]
macro_rules! requantise {
    ($double:literal, $shift:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            requantise!(@each $double, ", #1", $a, $b, $c, $d),
            requantise!(@high $a),
            requantise!(@high $b),
            requantise!(@high $c),
            requantise!(@high $d),
            requantise!(@each $shift, ", r3", $a, $b, $c, $d),
            requantise!(@saturate $a),
            requantise!(@saturate $b),
            requantise!(@saturate $c),
            requantise!(@saturate $d),
        )
    };
    (@each $what:literal, $by:literal, $a:literal, $b:literal, $c:literal, $d:literal) => {
        concat!(
            $what, $a, ", ", $a, $by, "\n",
            $what, $b, ", ", $b, $by, "\n",
            $what, $c, ", ", $c, $by, "\n",
            $what, $d, ", ", $d, $by, "\n",
        )
    };
    // A doubled sum has its sign still.
    (@high $register:literal) => {
        concat!(
            "add.w lr, r12, ", $register, ", asr #31\n",
            "smmlar ", $register, ", ", $register, ", r2, lr\n",
        )
    };
    (@saturate $register:literal) => {
        concat!("ssat ", $register, ", #8, ", $register, ", asr #1\n")
    };
}

/// A factor and an output zero point for values within ±[`Fast::LIMIT`] and results that are
/// clamped to int8's whole range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fast {
    /// The factor's Q31 significand, not negative.
    pub multiplier: i32,
    /// Bits to shift right, 1..=22.
    pub right: i32,
    /// Half a unit of the shift, and the zero point in such units.
    pub rounding: i32,
}

impl Fast {
    /// Values must be nearer to zero.
    pub const LIMIT: i32 = 1 << 30;

    /// The largest shift: zero point and product together stay within 32 bits.
    const LARGEST_SHIFT: i32 = 22;

    /// Prepares a factor; nothing if it needs [`Multiplier::apply`].
    #[must_use]
    pub const fn of(factor: Multiplier, zero: i8) -> Option<Self> {
        let right = factor.shift.wrapping_neg();
        if factor.multiplier < 0 || right < 1 || right > Self::LARGEST_SHIFT {
            return None;
        }
        let rounding = (1 << (right - 1)) + ((zero as i32) << right);
        Some(Self { multiplier: factor.multiplier, right, rounding })
    }

    /// The output of a value: times the factor, zero point added, within int8.
    #[inline(always)]
    #[must_use]
    pub fn apply(&self, value: i32) -> i32 {
        let rounding = self.rounding.wrapping_add(value >> 31);
        let sum = high_product_sum(value.wrapping_shl(1), self.multiplier, rounding);
        saturate(shift_right(sum, self.right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expected(factor: Multiplier, zero: i8, value: i32) -> i32 {
        (factor.apply(value) + i32::from(zero)).clamp(-128, 127)
    }

    /// Values whose products lie near a half of the unit that the shift drops.
    fn near_halves(factor: Multiplier) -> impl Iterator<Item = i32> {
        let unit = 1i64 << -factor.shift;
        (-300..300i64)
            .flat_map(move |result| {
                let middle = ((2 * result + 1) * unit / 2) << 31;
                let value = middle / i64::from(factor.multiplier.max(1));
                (-2..3).map(move |near| value + near)
            })
            .filter(|value| value.abs() < i64::from(Fast::LIMIT))
            .map(|value| value as i32)
    }

    #[test]
    fn small_values_and_limits_of_every_shift() {
        let multipliers = [1 << 30, (1 << 30) + 1, 0x5a82_799a, i32::MAX - 1, i32::MAX, 1, 0];
        for right in 1..=22 {
            for multiplier in multipliers {
                let factor = Multiplier { multiplier, shift: -right };
                for zero in [i8::MIN, -1, 0, 1, i8::MAX] {
                    let fast = Fast::of(factor, zero).unwrap();
                    let ends = [1 - Fast::LIMIT, Fast::LIMIT - 1];
                    for value in (-1024..=1024).chain(ends).chain(near_halves(factor)) {
                        let bytes = (fast.apply(value), expected(factor, zero, value));
                        assert_eq!(bytes.0, bytes.1, "{value} · {factor:?} + {zero}");
                    }
                }
            }
        }
    }

    #[test]
    fn other_factors_are_left_to_the_reference() {
        for (multiplier, shift) in [(1 << 30, 0), (1 << 30, 1), (1 << 30, -23), (-1, -3)] {
            assert_eq!(Fast::of(Multiplier { multiplier, shift }, 0), None);
        }
        assert_eq!(Fast::of(Multiplier { multiplier: 1, shift: i32::MIN }, 0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16384))]

        #[test]
        fn bytes_are_the_references(
            value in (0u32..=30).prop_flat_map(|bits| 1 - (1i32 << bits)..1i32 << bits),
            multiplier in prop_oneof![0..=i32::MAX, (1 << 30)..=i32::MAX],
            shift in -22..=-1,
            zero in any::<i8>(),
        ) {
            let factor = Multiplier { multiplier, shift };
            let fast = Fast::of(factor, zero).unwrap();
            prop_assert_eq!(fast.apply(value), expected(factor, zero, value));
        }
    }
}
