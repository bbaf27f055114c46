//! Softmax over the channels of each pixel, in fixed point.
//!
//! Differences to the row's maximum are scaled to Q5.26; their exponentials (Q0.31) come from a
//! polynomial on (−1/4, 0] and a product of tabulated powers; their sum is held in Q12.19, its
//! reciprocal found by three Newton–Raphson steps. This is the arithmetic that TFLite's reference
//! int8 softmax is defined by (the fixed-point routines of gemmlowp).

use super::runs::runs;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::requantise::{
    Multiplier, doubling_high_product, rounding_right_shift, saturating_left_shift,
};

/// What a softmax computes. The output has scale 1/256 and zero point −128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Softmax {
    /// Makes Q5.26 of a difference of inputs: beta × input scale × 2^26. The shift is a left
    /// shift, 0..=31.
    pub scale: Multiplier,
    /// Differences below this one count as nothing.
    pub smallest_difference: i32,
}

/// Integer bits of a scaled difference.
const DIFFERENCE_BITS: u32 = 5;
/// Integer bits of the sum of exponentials.
const SUM_BITS: u32 = 12;

/// Takes the softmax over the channels of each pixel of the tile.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn softmax(
    op: &Softmax,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    // A box has channels; `runs` refuses a tile that has not as many.
    let channels = tile.channels.max(1);
    runs(tile, [input], output, |[input], output| {
        for (input, output) in input.chunks_exact(channels).zip(output.chunks_exact_mut(channels)) {
            pixel(op, input, output);
        }
    })
}

fn pixel(op: &Softmax, input: &[u8], output: &mut [u8]) {
    let largest = input.iter().map(|byte| *byte as i8).max().unwrap_or(0);
    // The exponential of a difference to the largest, Q0.31; nothing if it is too small to count.
    let exponential = |byte: u8| {
        let difference = i32::from(byte as i8) - i32::from(largest);
        (difference >= op.smallest_difference).then(|| exp_of_negative(op.scale.apply(difference)))
    };
    let sum = input
        .iter()
        .filter_map(|byte| exponential(*byte))
        .fold(0i32, |sum, exp| sum.wrapping_add(rounding_right_shift(exp, SUM_BITS)));
    let (scale, bits_over_one) = reciprocal(sum);
    let shift = bits_over_one + 31 - 8;
    for (byte, x) in output.iter_mut().zip(input) {
        let value = exponential(*x).map_or(i32::from(i8::MIN), |exp| {
            let product = doubling_high_product(scale, exp);
            // Beyond 31 bits nothing remains of a share: more than 512 equal inputs.
            let share = match shift {
                0..=31 => rounding_right_shift(product, shift as u32),
                _ => 0,
            };
            share + i32::from(i8::MIN)
        });
        *byte = value.clamp(i32::from(i8::MIN), i32::from(i8::MAX)) as u8;
    }
}

/// e^(−2^k) in Q0.31 for k = −2 … 4.
const POWERS: [i32; 7] =
    [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];

/// e^a for a ≤ 0 in Q5.26, as Q0.31.
fn exp_of_negative(a: i32) -> i32 {
    const FRACTION_BITS: u32 = 31 - DIFFERENCE_BITS;
    const QUARTER: i32 = 1 << (FRACTION_BITS - 2);
    if a == 0 {
        return i32::MAX;
    }
    // a = rest − remainder, with rest in [−1/4, 0) and remainder a multiple of 1/4.
    let rest = (a & (QUARTER - 1)) - QUARTER;
    let remainder = rest.wrapping_sub(a);
    let mut result = exp_near_zero(saturating_left_shift(rest, DIFFERENCE_BITS));
    for (bit, power) in POWERS.into_iter().enumerate() {
        if remainder & (QUARTER << bit) != 0 {
            result = doubling_high_product(result, power);
        }
    }
    result
}

/// e^a for a in [−1/4, 0) in Q0.31: the Taylor polynomial of degree four around −1/8.
fn exp_near_zero(a: i32) -> i32 {
    /// e^(−1/8) in Q0.31.
    const MIDDLE: i32 = 1_895_147_668;
    /// 1/3 in Q0.31.
    const THIRD: i32 = 715_827_883;
    let x = a.wrapping_add(1 << 28);
    let x2 = doubling_high_product(x, x);
    let x3 = doubling_high_product(x2, x);
    let x4 = doubling_high_product(x2, x2);
    let quarter = rounding_right_shift(x4, 2);
    let cubic = doubling_high_product(quarter.wrapping_add(x3), THIRD);
    let tail = rounding_right_shift(cubic.wrapping_add(x2), 1);
    MIDDLE.wrapping_add(doubling_high_product(MIDDLE, x.wrapping_add(tail)))
}

/// The reciprocal of a sum in Q12.19: a Q0.31 number and how many bits the sum is above one.
fn reciprocal(sum: i32) -> (i32, i32) {
    let headroom = (sum as u32).leading_zeros();
    let fraction = (sum as u32).wrapping_shl(headroom).wrapping_sub(1 << 31) as i32;
    (reciprocal_of_one_plus(fraction), SUM_BITS as i32 - headroom as i32)
}

/// 1 / (1 + a) for a in [0, 1) in Q0.31, by Newton–Raphson on half the denominator.
fn reciprocal_of_one_plus(a: i32) -> i32 {
    /// 48/17 and −32/17 in Q2.29: the best linear first guess.
    const FIRST: i32 = 1_515_870_810;
    const SLOPE: i32 = -1_010_580_540;
    const ONE: i32 = 1 << 29;
    // The sum is not negative, so halves round up.
    let half = ((i64::from(a) + i64::from(i32::MAX) + 1) / 2) as i32;
    let mut x = FIRST.wrapping_add(doubling_high_product(half, SLOPE));
    for _ in 0..3 {
        let error = ONE.wrapping_sub(doubling_high_product(half, x));
        x = x.wrapping_add(saturating_left_shift(doubling_high_product(x, error), 2));
    }
    // Half of Q2.29 as Q1.30 has the same digits.
    saturating_left_shift(x, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_the_nearest() {
        for (power, exponent) in POWERS.into_iter().zip(-2i32..) {
            let real = (-f64::from(exponent).exp2()).exp() * f64::from(1u32 << 31);
            assert_eq!(power, real.round() as i32, "e^(-2^{exponent})");
        }
    }

    #[test]
    fn exponentials_are_close() {
        for step in 0..4000 {
            let real = -f64::from(step) * 0.005;
            let fixed = exp_of_negative((real * f64::from(1 << 26)).round() as i32);
            let error = f64::from(fixed) / f64::from(i32::MAX) - real.exp();
            // The fifth term of the series at 1/8 is 2.5e-7.
            assert!(error.abs() < 3e-7, "e^{real}: error {error}");
        }
    }

    #[test]
    fn reciprocals_are_close() {
        for step in 0..1000 {
            let real = f64::from(step) / 1000.0;
            let fixed = reciprocal_of_one_plus((real * f64::from(1u32 << 31)) as i32);
            let error = f64::from(fixed) / f64::from(1u32 << 31) - 1.0 / (1.0 + real);
            assert!(error.abs() < 1e-8, "1/(1+{real}): error {error}");
        }
    }
}
