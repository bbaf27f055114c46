//! Softmax over the channels of each pixel, in fixed point.
//!
//! Differences to the row's maximum are scaled to Q5.26; their exponentials (Q0.31) come from a
//! polynomial on (−1/4, 0] and a product of tabulated powers; their sum is held in Q12.19, its
//! reciprocal found by three Newton–Raphson steps. This is the arithmetic that TFLite's reference
//! int8 softmax is defined by (the fixed-point routines of gemmlowp).

use super::fixed::{exp_of_negative, reciprocal_of_one_plus};
use super::runs::runs;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::requantise::{Multiplier, doubling_high_product, rounding_right_shift};

/// What a softmax computes. The output has scale 1/256 and zero point −128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Softmax {
    /// Makes Q5.26 of a difference of inputs: beta × input scale × 2^26. The shift is a left
    /// shift, 0..=31.
    pub scale: Multiplier,
    /// Differences below this one count as nothing.
    pub smallest_difference: i32,
}

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

/// The reciprocal of a sum in Q12.19: a Q0.31 number and how many bits the sum is above one.
fn reciprocal(sum: i32) -> (i32, i32) {
    let headroom = (sum as u32).leading_zeros();
    let fraction = (sum as u32).wrapping_shl(headroom).wrapping_sub(1 << 31) as i32;
    (reciprocal_of_one_plus(fraction), SUM_BITS as i32 - headroom as i32)
}
