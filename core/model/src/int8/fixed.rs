//! Exponential, logarithm and reciprocal in fixed point, as gemmlowp and TensorFlow Lite compute
//! them. `Qm` is a 32-bit integer with m integer bits and 31 − m fractional ones.

use crate::integer::{
    rounding_divide_by_power_of_two, saturating_rounding_doubling_high_mul as product,
};

/// 1 / (1 + x) for x in [0, 1), in Q0: Newton's division.
pub(super) fn one_over_one_plus(x: i32) -> i32 {
    const CONSTANT_48_OVER_17: i32 = 1_515_870_810;
    const CONSTANT_NEG_32_OVER_17: i32 = -1_010_580_540;
    let half_denominator = rounding_half_sum(x, i32::MAX);
    // Q2 from here on.
    let mut estimate =
        CONSTANT_48_OVER_17.wrapping_add(product(half_denominator, CONSTANT_NEG_32_OVER_17));
    for _ in 0..3 {
        let remainder = (1 << 29) - product(half_denominator, estimate);
        // Q2 times Q2 is Q4; two bits bring it back to Q2.
        let correction = shift_left_saturating(product(estimate, remainder), 2);
        estimate = estimate.wrapping_add(correction);
    }
    // Half of the estimate, in Q0.
    shift_left_saturating(estimate, 1)
}

fn rounding_half_sum(a: i32, b: i32) -> i32 {
    let sum = i64::from(a) + i64::from(b);
    let sign = if sum >= 0 { 1 } else { -1 };
    ((sum + sign) / 2) as i32
}

fn shift_left_saturating(value: i32, bits: u32) -> i32 {
    let shifted = i64::from(value) << bits;
    shifted.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// e^a for a ≤ 0 in Q5; the result in Q0.
pub(super) fn exp_of_negative(a: i32) -> i32 {
    const FRACTION_BITS: u32 = 26;
    const QUARTER: i32 = 1 << (FRACTION_BITS - 2);
    // e^−2^k in Q0, k = −2 … 4.
    const POWERS: [i32; 7] =
        [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];
    if a == 0 {
        return i32::MAX;
    }
    let modulus = (a & (QUARTER - 1)) - QUARTER;
    let mut result = exp_between_minus_quarter_and_zero(shift_left_saturating(modulus, 5));
    let remainder = modulus.wrapping_sub(a);
    for (index, power) in POWERS.iter().enumerate() {
        if remainder & (1 << (FRACTION_BITS - 2 + index as u32)) != 0 {
            result = product(result, *power);
        }
    }
    result
}

/// e^a for a in [−1/4, 0) in Q0: a polynomial of degree four around −1/8.
fn exp_between_minus_quarter_and_zero(a: i32) -> i32 {
    const CONSTANT_TERM: i32 = 1_895_147_668; // e^−1/8
    const ONE_THIRD: i32 = 715_827_883;
    let x = a.wrapping_add(1 << 28);
    let x2 = product(x, x);
    let x3 = product(x2, x);
    let x4 = product(x2, x2);
    let x4_over_4 = rounding_divide_by_power_of_two(x4, 2);
    let terms = rounding_divide_by_power_of_two(product(x4_over_4 + x3, ONE_THIRD) + x2, 1);
    CONSTANT_TERM.wrapping_add(product(CONSTANT_TERM, x.wrapping_add(terms)))
}

/// Integer bits of the parts of a logarithm while they are added.
const LOG_BITS: u32 = 6;

/// The natural logarithm of a number from 1 up in Q12, in Q5.
///
/// The number is a power of two times a mantissa near 2^(−1/4): of two candidates, half a power of
/// two apart, the one with the smaller mantissa. The mantissa's logarithm is a quotient of
/// polynomials around 2^(−1/4).
pub(super) fn log_of_sum(sum: i32) -> i32 {
    const SUM_BITS: i32 = 12;
    // ln 2, √½ and 2^(−1/4) in Q0.
    const LN_2: i32 = 1_488_522_236;
    const ROOT_OF_HALF: i32 = 1_518_500_250;
    const CENTRE: i32 = 1_805_811_301;
    // In Q0, with c = 2^(1/4): 11/240 · c³, 1/20 · c², 2 / c − c and c / 4.
    const CUBE: i32 = 117_049_297;
    const SQUARE: i32 = 127_690_142;
    const CONSTANT: i32 = 1_057_819_769;
    const LINEAR: i32 = 638_450_708;
    const QUARTER: i32 = 1 << (31 - LOG_BITS - 2);
    let integer = |value: i32| value.saturating_mul(1 << (31 - LOG_BITS));

    let zeros = sum.leading_zeros() as i32;
    let first = shift_left_saturating(product(shift(sum, zeros - 1), ROOT_OF_HALF), 1);
    let first_power = integer(SUM_BITS - zeros).saturating_add(QUARTER);
    let room = product(sum, ROOT_OF_HALF).leading_zeros() as i32 - 1;
    let second = shift(sum, room);
    let second_power = integer(SUM_BITS - room).saturating_sub(QUARTER);
    let mantissa = first.min(second);
    let power = first_power.max(second_power);

    let half_sum = rounding_half_sum(mantissa, CENTRE);
    let distance = mantissa.wrapping_sub(CENTRE).wrapping_mul(2);
    let square = product(distance, distance);
    let cube = product(distance, square);
    let above = product(distance, mantissa).wrapping_add(product(cube, CUBE));
    let inner = CONSTANT.wrapping_add(distance).wrapping_add(product(SQUARE, square));
    let below = product(half_sum, inner).wrapping_add(product(LINEAR, distance));
    let quotient =
        product(rounding_divide_by_power_of_two(above, LOG_BITS), one_over_one_plus(below));
    let logarithm = product(power, LN_2).wrapping_add(quotient);
    shift_left_saturating(logarithm, 1)
}

/// `value · 2^bits`, saturating to the left, rounding to the right.
fn shift(value: i32, bits: i32) -> i32 {
    match u32::try_from(bits) {
        Ok(bits) => shift_left_saturating(value, bits),
        Err(_) => rounding_divide_by_power_of_two(value, bits.unsigned_abs().min(31)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_is_close_to_the_real_one() {
        for step in 0..4000 {
            let a = -step * (1 << 16);
            let real = libm::exp(f64::from(a) / f64::from(1 << 26));
            let fixed = f64::from(exp_of_negative(a)) / 2_147_483_648.0;
            assert!((real - fixed).abs() < 1e-6, "{a}: {fixed} for {real}");
        }
    }

    #[test]
    fn reciprocal_is_close_to_the_real_one() {
        for step in 0..1000 {
            let x = step * 2_147_483;
            let real = 1.0 / (1.0 + f64::from(x) / 2_147_483_648.0);
            let fixed = f64::from(one_over_one_plus(x)) / 2_147_483_648.0;
            assert!((real - fixed).abs() < 1e-8, "{x}: {fixed} for {real}");
        }
    }

    #[test]
    fn logarithm_is_close_to_the_real_one() {
        for step in 0..4000 {
            let sum = (1 << 19) + step * step * 130;
            let real = libm::log(f64::from(sum) / f64::from(1 << 19));
            let fixed = f64::from(log_of_sum(sum)) / f64::from(1 << 26);
            assert!((real - fixed).abs() < 1e-6, "{sum}: {fixed} for {real}");
        }
    }
}
