//! Fixed-point arithmetic: 32-bit accumulators to int8, as TFLite's reference kernels do it.
//!
//! A real factor stands as a Q31 multiplier and a power of two. The product is rounded twice:
//! once when the high half of the doubled product is taken (halves away from zero for positive,
//! towards positive infinity for negative products), once in the shift (halves away from zero).
//! See Jacob et al., "Quantization and Training of Neural Networks for Efficient
//! Integer-Arithmetic-Only Inference", section 2.2.

/// A real factor: `multiplier / 2^31 · 2^shift`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Multiplier {
    /// The factor's Q31 significand.
    pub multiplier: i32,
    /// Power of two, −31..=31; positive shifts left, before the multiplication. Beyond that range
    /// products have no meaning.
    pub shift: i32,
}

impl Multiplier {
    /// The factor one.
    pub const ONE: Self = Self { multiplier: 1 << 30, shift: 1 };

    /// `value` times the factor, rounded twice. A left shift wraps.
    #[must_use]
    #[inline]
    pub const fn apply(self, value: i32) -> i32 {
        self.prepare().apply(value)
    }

    /// The factor in the form that loops over many values want.
    #[must_use]
    #[inline(always)]
    pub const fn prepare(self) -> Factor {
        // Without a branch: the positive part of the shift, and of its negative.
        let negative = self.shift.wrapping_neg();
        let left = (self.shift & !(self.shift >> 31)) as u32;
        let right = (negative & !(negative >> 31)) as u32;
        let mask = (1u32.wrapping_shl(right) - 1) as i32;
        Factor { multiplier: self.multiplier, left, right, mask, half: mask >> 1 }
    }
}

/// A [`Multiplier`], prepared for many values.
#[derive(Clone, Copy, Debug)]
pub struct Factor {
    multiplier: i32,
    left: u32,
    right: u32,
    /// The bits that the right shift drops, and the largest remainder that rounds down.
    mask: i32,
    half: i32,
}

impl Factor {
    /// See [`Multiplier::apply`].
    #[must_use]
    #[inline(always)]
    pub const fn apply(&self, value: i32) -> i32 {
        let high = doubling_high_product(value.wrapping_shl(self.left), self.multiplier);
        let threshold = self.half + (high < 0) as i32;
        high.wrapping_shr(self.right) + ((high & self.mask) > threshold) as i32
    }
}

/// The high 32 bits of `2ab`, rounded; saturates where `a = b = i32::MIN`.
#[must_use]
#[inline(always)]
pub const fn doubling_high_product(a: i32, b: i32) -> i32 {
    // Adding 2^30 and shifting rounds halves up. For negative products this equals the
    // reference's truncating division of `product + 1 - 2^30`.
    let high = ((a as i64 * b as i64 + (1 << 30)) >> 31) as i32;
    // Only the square of i32::MIN comes out as i32::MIN: one less is i32::MAX.
    high.wrapping_sub((high == i32::MIN) as i32)
}

/// `value / 2^shift`, halves rounded away from zero; `shift` in 0..=31.
#[must_use]
#[inline]
pub const fn rounding_right_shift(value: i32, shift: u32) -> i32 {
    let mask = (1u32.wrapping_shl(shift) - 1) as i32;
    let remainder = value & mask;
    let threshold = (mask >> 1) + (value < 0) as i32;
    value.wrapping_shr(shift) + (remainder > threshold) as i32
}

/// `value · 2^shift`, saturating; `shift` in 0..=30.
#[must_use]
#[inline]
pub const fn saturating_left_shift(value: i32, shift: u32) -> i32 {
    let limit = i32::MAX >> shift;
    if value > limit {
        i32::MAX
    } else if value < -limit - 1 {
        i32::MIN
    } else {
        value << shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_value() -> impl Strategy<Value = i32> {
        prop_oneof![
            any::<i32>(),
            -300..300i32,
            Just(i32::MIN),
            Just(i32::MAX),
            Just(-(1 << 30)),
            (0u32..31, -1..2i32).prop_map(|(bit, near)| (1i32 << bit) + near),
        ]
    }

    /// The published definition: a nudge by the product's sign, then a division that truncates.
    fn definition_of_the_product(a: i32, b: i32) -> i32 {
        if a == i32::MIN && b == i32::MIN {
            return i32::MAX;
        }
        let product = i64::from(a) * i64::from(b);
        let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
        ((product + nudge) / (1 << 31)) as i32
    }

    /// Halves away from zero, in 128 bits.
    fn definition_of_the_shift(value: i32, shift: u32) -> i32 {
        let (value, unit) = (i128::from(value), 1i128 << shift);
        let magnitude = (value.abs() * 2 + unit) / (unit * 2);
        (magnitude * value.signum()) as i32
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn products_follow_their_definition(a in any_value(), b in any_value()) {
            prop_assert_eq!(doubling_high_product(a, b), definition_of_the_product(a, b));
        }

        #[test]
        fn shifts_follow_their_definition(value in any_value(), shift in 0u32..=31) {
            prop_assert_eq!(rounding_right_shift(value, shift), definition_of_the_shift(value, shift));
        }

        #[test]
        fn left_shifts_saturate(value in any_value(), shift in 0u32..=30) {
            let wide = i64::from(value) << shift;
            let expected = wide.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
            prop_assert_eq!(saturating_left_shift(value, shift), expected);
        }

        #[test]
        fn one_changes_nothing(value in -(1 << 29)..1 << 29) {
            prop_assert_eq!(Multiplier::ONE.apply(value), value);
        }

        #[test]
        fn nothing_panics(value in any_value(), multiplier in any_value(), shift in any::<i32>()) {
            let _ = Multiplier { multiplier, shift }.apply(value);
        }
    }

    #[test]
    fn worked_examples_of_double_rounding() {
        // 0.5 · 3 = 1.5 → 2; then /2 → 1.
        assert_eq!(Multiplier { multiplier: 1 << 30, shift: -1 }.apply(3), 1);
        // −1.5 → −1 (towards positive infinity), −1/2 → −1 (away from zero).
        assert_eq!(Multiplier { multiplier: 1 << 30, shift: -1 }.apply(-3), -1);
        assert_eq!(Multiplier { multiplier: 1 << 30, shift: 0 }.apply(-3), -1);
        assert_eq!(Multiplier { multiplier: 1 << 30, shift: 3 }.apply(5), 20);
    }
}
