//! Fixed-point primitives with TensorFlow Lite's (gemmlowp's) rounding.

/// Twice the high half of the product, rounded to nearest, ties towards +∞. Saturates where both
/// are the smallest integer.
#[must_use]
pub const fn saturating_rounding_doubling_high_mul(a: i32, b: i32) -> i32 {
    if a == i32::MIN && b == i32::MIN {
        return i32::MAX;
    }
    let product = a as i64 * b as i64;
    let nudge: i64 = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
    ((product + nudge) / (1 << 31)) as i32
}

/// `value` over 2^`exponent`, rounded to nearest, ties away from zero. `exponent` is 0 to 31.
#[must_use]
pub const fn rounding_divide_by_power_of_two(value: i32, exponent: u32) -> i32 {
    let mask = ((1i64 << exponent) - 1) as i32;
    let remainder = value & mask;
    let threshold = (mask >> 1) + (value < 0) as i32;
    (value >> exponent) + (remainder > threshold) as i32
}

/// `value × q31 × 2^(shift − 31)`, rounded after the multiplication and again after the right
/// shift. A left shift wraps on overflow, as the reference's does on two's complement machines.
/// `shift` is −31 to 31.
#[must_use]
pub const fn multiply_by_quantised_multiplier(value: i32, q31: i32, shift: i32) -> i32 {
    let (left, right) = if shift > 0 { (shift as u32, 0) } else { (0, shift.unsigned_abs()) };
    let product = saturating_rounding_doubling_high_mul(value.wrapping_shl(left), q31);
    rounding_divide_by_power_of_two(product, right)
}
