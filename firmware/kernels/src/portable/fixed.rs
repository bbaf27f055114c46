//! Exponential, reciprocal and logarithm in fixed point: the routines of gemmlowp and TFLite, by
//! which the reference int8 softmax and log-softmax are defined. A Qm.n number is an integer over
//! 2^n; m + n = 31.

use crate::dsp::high_product_sum;
use crate::requantise::{doubling_high_product, rounding_right_shift, saturating_left_shift};

/// Integer bits of a difference from the largest input, after scaling: Q5.26.
pub const DIFFERENCE_BITS: u32 = 5;

/// e^(−2^k) in Q0.31 for k = −2 … 4.
const POWERS: [i32; 7] =
    [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];

/// e^a for a ≤ 0 in Q5.26, as Q0.31: never negative. Products that do not count are computed as well:
/// what it takes does not depend on a.
pub fn exp_of_negative(a: i32) -> i32 {
    const FRACTION_BITS: u32 = 31 - DIFFERENCE_BITS;
    const QUARTER: i32 = 1 << (FRACTION_BITS - 2);
    // a = rest − remainder, with rest in [−1/4, 0) and remainder a multiple of 1/4.
    let rest = (a & (QUARTER - 1)) - QUARTER;
    let remainder = rest.wrapping_sub(a);
    let mut result = exp_near_zero(rest << DIFFERENCE_BITS);
    macro_rules! times {
        ($($bit:literal)+, $product:ident) => {
            $(if remainder & (QUARTER << $bit) != 0 {
                result = $product(result, POWERS[$bit]);
            })+
        };
    }
    // Of the first two the double does not fit. Written out: a loop would look at each bit twice.
    times!(0 1, positive_product);
    times!(2 3 4 5 6, product_with_small);
    if a == 0 { i32::MAX } else { result }
}

/// e^a for a in [−1/4, 0) in Q0.31: the Taylor polynomial of degree four around −1/8.
#[inline(always)]
fn exp_near_zero(a: i32) -> i32 {
    /// e^(−1/8) in Q0.31.
    const MIDDLE: i32 = 1_895_147_668;
    /// 1/3 in Q0.31.
    const THIRD: i32 = 715_827_883;
    let x = a.wrapping_add(1 << 28);
    let x2 = small_product(x, x);
    let x3 = small_product(x2, x);
    let x4 = small_product(x2, x2);
    // What is shifted is not negative, so halves round up.
    let quarter = (x4 + 2) >> 2;
    let cubic = small_product(quarter.wrapping_add(x3), THIRD);
    let tail = (cubic + x2 + 1) >> 1;
    MIDDLE.wrapping_add(small_product(x.wrapping_add(tail), MIDDLE))
}

/// [`doubling_high_product`] of numbers that are not negative.
#[inline(always)]
pub fn positive_product(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b) + (1 << 30)) >> 31) as i32
}

/// [`doubling_high_product`] where the second factor, a constant, is below 2^30.
#[inline(always)]
fn product_with_small(a: i32, b: i32) -> i32 {
    high_product_sum(a, b * 2, 0)
}

/// [`doubling_high_product`] where the first factor is within ±2^30: it has room to be doubled.
#[inline(always)]
fn small_product(a: i32, b: i32) -> i32 {
    high_product_sum(a.wrapping_shl(1), b, 0)
}

/// [`doubling_high_product`], called: most of what takes logarithms is such.
#[inline(never)]
fn product(a: i32, b: i32) -> i32 {
    doubling_high_product(a, b)
}

/// 1 / (1 + a) for a in [0, 1) in Q0.31, by Newton–Raphson on half the denominator.
pub fn reciprocal_of_one_plus(a: i32) -> i32 {
    /// 48/17 and −32/17 in Q2.29: the best linear first guess.
    const FIRST: i32 = 1_515_870_810;
    const SLOPE: i32 = -1_010_580_540;
    const ONE: i32 = 1 << 29;
    // The sum is not negative, so halves round up.
    let half = ((i64::from(a) + i64::from(i32::MAX) + 1) / 2) as i32;
    let mut x = FIRST.wrapping_add(product(half, SLOPE));
    for _ in 0..3 {
        let error = ONE.wrapping_sub(product(half, x));
        x = x.wrapping_add(saturating_left_shift(product(x, error), 2));
    }
    // Half of Q2.29 as Q1.30 has the same digits.
    saturating_left_shift(x, 1)
}

/// Integer bits of the logarithm's parts while they are added: one more than of the result.
const LOG_SUM_BITS: u32 = DIFFERENCE_BITS + 1;

/// The natural logarithm, in Q5.26, of a number ≥ 1 in Q12.19.
///
/// The number is 2^k times a mantissa around 2^(−1/4), by one of two candidates that are half a
/// power of two apart; the mantissa's logarithm is a quotient of polynomials around 2^(−1/4).
pub fn log_of_sum(sum: i32) -> i32 {
    /// Integer bits of the sum.
    const SUM_BITS: i32 = 12;
    /// ln 2, 2^(−1/2), 2^(−1/4) in Q0.31.
    const LN_2: i32 = 1_488_522_236;
    const ROOT: i32 = 1_518_500_250;
    const MIDDLE: i32 = 1_805_811_301;
    /// Coefficients in Q0.31: 11/240 · 2^(1/4), 1/20 · 2^(1/4), 2 · 2^(−1/4) − 2^(1/4),
    /// 1/4 · 2^(1/4).
    const CUBIC: i32 = 117_049_297;
    const SQUARE: i32 = 127_690_142;
    const CONSTANT: i32 = 1_057_819_769;
    const LINEAR: i32 = 638_450_708;
    /// A quarter with [`LOG_SUM_BITS`] integer bits.
    const QUARTER: i32 = 1 << (31 - LOG_SUM_BITS - 2);
    // A whole number with LOG_SUM_BITS integer bits; exponents are within ±32.
    let whole = |number: i32| number.saturating_mul(1 << (31 - LOG_SUM_BITS));

    // The first candidate: mantissa in [1/2, 1), times 2^(−1/2), doubled.
    let zeros = sum.leading_zeros() as i32;
    let mantissa = normalise(sum, zeros - 1);
    let first = saturating_left_shift(product(mantissa, ROOT), 1);
    let first_power = whole(SUM_BITS - zeros).saturating_add(QUARTER);
    // The second: as many bits up as the sum times 2^(−1/2) has room for.
    let room = product(sum, ROOT).leading_zeros() as i32 - 1;
    let second = normalise(sum, room);
    let second_power = whole(SUM_BITS - room).saturating_sub(QUARTER);
    let (r, power) = (first.min(second), first_power.max(second_power));

    let half_sum = ((i64::from(r) + i64::from(MIDDLE) + 1) / 2) as i32;
    let q = r.wrapping_sub(MIDDLE);
    let q = q.wrapping_add(q);
    let square = product(q, q);
    let cubic = product(product(q, square), CUBIC);
    let numerator = product(q, r).wrapping_add(cubic);
    let inner = CONSTANT.wrapping_add(q).wrapping_add(product(SQUARE, square));
    let denominator = product(half_sum, inner).wrapping_add(product(LINEAR, q));
    let quotient =
        product(rounding_right_shift(numerator, LOG_SUM_BITS), reciprocal_of_one_plus(denominator));
    let log = product(power, LN_2).wrapping_add(quotient);
    saturating_left_shift(log, LOG_SUM_BITS - DIFFERENCE_BITS)
}

/// `value · 2^bits`, saturating; to the right for negative `bits`.
#[inline(never)]
fn normalise(value: i32, bits: i32) -> i32 {
    match u32::try_from(bits) {
        Ok(bits) => saturating_left_shift(value, bits.min(30)),
        Err(_) => rounding_right_shift(value, bits.unsigned_abs().min(31)),
    }
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
    fn logarithms_are_close() {
        for step in 0..4000 {
            let real = 1.0 + f64::from(step) * f64::from(step) * 2.5e-4;
            let fixed = log_of_sum((real * f64::from(1 << 19)).round() as i32);
            let error = f64::from(fixed) / f64::from(1 << 26) - real.ln();
            // The sum has 19 bits behind the point.
            assert!(error.abs() < 2e-6, "ln {real}: error {error}");
        }
    }

    /// The polynomial with the roundings of its definition, for what is negative too.
    #[test]
    fn the_polynomial_follows_its_definition() {
        for a in (-(1 << 29)..0).step_by(32 * 37).chain([-(1 << 29) + 32, -(1 << 28), -32]) {
            let x = a + (1 << 28);
            let x2 = doubling_high_product(x, x);
            let (x3, x4) = (doubling_high_product(x2, x), doubling_high_product(x2, x2));
            let quarter = rounding_right_shift(x4, 2);
            let cubic = doubling_high_product(quarter + x3, 715_827_883);
            let x = x + rounding_right_shift(cubic + x2, 1);
            let expected = 1_895_147_668 + doubling_high_product(x, 1_895_147_668);
            assert_eq!(exp_near_zero(a), expected, "{a}");
        }
    }

    #[test]
    fn nothing_panics() {
        for bits in 0..32 {
            for near in [-1, 0, 1] {
                let value = (1u32 << bits).wrapping_add_signed(near) as i32;
                let _ = (log_of_sum(value), exp_of_negative(value), reciprocal_of_one_plus(value));
            }
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
