//! Softmax in fixed point, as TensorFlow Lite's int8 reference with gemmlowp's functions.
//!
//! `Qm` below is a 32-bit integer with m integer bits and 31 − m fractional ones.

use crate::integer::{
    SoftmaxParams, multiply_by_quantised_multiplier, rounding_divide_by_power_of_two,
    saturating_rounding_doubling_high_mul as product,
};

/// Integer bits of the sum of exponentials.
const SUM_BITS: u32 = 12;

/// Softmax of each row of `row` values; results have scale 1/256 and zero point −128.
pub(super) fn softmax(input: &[i8], row: usize, params: SoftmaxParams) -> Vec<i8> {
    let mut result = Vec::with_capacity(input.len());
    for values in input.chunks_exact(row.max(1)) {
        let largest = values.iter().copied().max().map_or(0, i32::from);
        let exponential = |value: i8| {
            let difference = i32::from(value) - largest;
            (difference >= params.diff_min).then(|| {
                let scaled = multiply_by_quantised_multiplier(
                    difference,
                    params.multiplier,
                    params.left_shift,
                );
                exp_of_negative(scaled)
            })
        };
        let sum = values
            .iter()
            .filter_map(|value| exponential(*value))
            .fold(0i32, |sum, e| sum.wrapping_add(rounding_divide_by_power_of_two(e, SUM_BITS)));
        let (reciprocal, integer_bits) = reciprocal(sum);
        result.extend(values.iter().map(|value| {
            exponential(*value).map_or(i8::MIN, |e| {
                let exponent = (integer_bits + 31 - 8).clamp(0, 31) as u32;
                let share = rounding_divide_by_power_of_two(product(reciprocal, e), exponent);
                share.saturating_add(i32::from(i8::MIN)).clamp(-128, 127) as i8
            })
        }));
    }
    result
}

/// 1 / `sum` for a sum in Q12 of at least one: the significand in Q0 and how many bits the sum
/// has above its unit.
fn reciprocal(sum: i32) -> (i32, i32) {
    let headroom = sum.leading_zeros();
    let above_unit = SUM_BITS as i32 - headroom as i32;
    let fraction = (sum as u32).wrapping_shl(headroom).wrapping_sub(1 << 31) as i32;
    (one_over_one_plus(fraction), above_unit)
}

/// 1 / (1 + x) for x in [0, 1), in Q0: Newton's division.
fn one_over_one_plus(x: i32) -> i32 {
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
fn exp_of_negative(a: i32) -> i32 {
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
}
