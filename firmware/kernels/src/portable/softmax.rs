//! Softmax over the channels of each pixel, in fixed point.
//!
//! Differences to the row's maximum are scaled to Q5.26; their exponentials (Q0.31) come from a
//! polynomial on (−1/4, 0] and a product of tabulated powers; their sum is held in Q12.19, its
//! reciprocal found by three Newton–Raphson steps. This is the arithmetic that TFLite's reference
//! int8 softmax is defined by (the fixed-point routines of gemmlowp).

use super::SMALL;
use super::fixed::{exp_of_negative, positive_product, reciprocal_of_one_plus};
use super::runs::pixels;
use crate::dsp::{larger_bytes, word};
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::requantise::{Multiplier, doubling_high_product};

/// What a softmax computes. The output has scale 1/256 and zero point −128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Softmax {
    /// Makes Q5.26 of a difference of inputs: beta × input scale × 2^26. The shift is a left
    /// shift, 0..=31.
    pub scale: Multiplier,
    /// Differences below this one count as nothing.
    pub smallest_difference: i32,
}

/// Integer bits of the sum of exponentials, which saturates.
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
    if SMALL {
        return pixels(tile, input, output, &mut |input, output| pixel_twice(op, input, output));
    }
    let mut exponentials = [NOT_YET; DIFFERENCES];
    pixels(tile, input, output, &mut |input, output| pixel(op, &mut exponentials, input, output))
}

/// Differences of two int8 values, to the larger one.
const DIFFERENCES: usize = 256;

/// An exponential that was not needed so far; they are never negative.
const NOT_YET: i32 = -1;

/// The largest of a pixel's values.
#[inline(never)]
fn largest(input: &[u8]) -> u8 {
    const SMALLEST: u8 = i8::MIN as u8;
    let (words, rest) = input.as_chunks();
    let least = u32::from_le_bytes([SMALLEST; 4]);
    let four = words.iter().fold(least, |largest, bytes| larger_bytes(largest, word(bytes)));
    let bytes = rest.iter().copied().chain(four.to_le_bytes());
    bytes.fold(SMALLEST, |largest, byte| if byte as i8 > largest as i8 { byte } else { largest })
}

/// Computes each exponential twice.
fn pixel_twice(op: &Softmax, input: &[u8], output: &mut [u8]) {
    let largest = largest(input);
    let exponential = |byte: u8| of_difference(op, -i32::from(largest.wrapping_sub(byte)));
    let sum = input.iter().fold(0i32, |sum, byte| sum.saturating_add(part(exponential(*byte))));
    let shares = Shares::of(sum);
    for (to, byte) in output.iter_mut().zip(input) {
        *to = shares.share(exponential(*byte));
    }
}

fn pixel(op: &Softmax, exponentials: &mut [i32; DIFFERENCES], input: &[u8], output: &mut [u8]) {
    let largest = largest(input);
    let mut sum = 0i32;
    for byte in input {
        sum = sum.saturating_add(part(known(op, exponentials, largest.wrapping_sub(*byte))));
    }
    let shares = Shares::of(sum);
    // All are known now.
    for (to, byte) in output.iter_mut().zip(input) {
        *to = shares.share(exponentials[usize::from(largest.wrapping_sub(*byte))]);
    }
}

/// The exponential of a difference to the largest, which is computed once: as unsigned numbers bytes
/// differ by as much, modulo 256.
#[inline(always)]
fn known(op: &Softmax, exponentials: &mut [i32; DIFFERENCES], difference: u8) -> i32 {
    let exponential = &mut exponentials[usize::from(difference)];
    if *exponential == NOT_YET {
        *exponential = of_difference(op, -i32::from(difference));
    }
    *exponential
}

/// What an exponential, which is not negative, adds to the sum.
#[inline(always)]
fn part(exponential: i32) -> i32 {
    ((exponential as u32 + (1 << (SUM_BITS - 1))) >> SUM_BITS) as i32
}

/// Makes results of exponentials: one over their sum, as a Q0.31 number and a shift.
struct Shares {
    scale: i32,
    /// 1..=31.
    shift: u32,
    half: u32,
}

impl Shares {
    #[inline(never)]
    fn of(sum: i32) -> Self {
        let (scale, bits_over_one) = reciprocal(sum);
        // Beyond 31 bits nothing remains of a share: 512 equal inputs and more.
        let (scale, shift) = match bits_over_one + 31 - 8 {
            shift @ 1..=31 => (scale, shift as u32),
            _ => (0, 31),
        };
        Self { scale, shift, half: 1 << (shift - 1) }
    }

    #[inline(always)]
    fn share(&self, exponential: i32) -> u8 {
        // Neither factor is negative, so halves round up.
        let product = positive_product(self.scale, exponential) as u32;
        let share = product.wrapping_add(self.half) >> self.shift;
        share.min(255) as u8 ^ 0x80
    }
}

/// The exponential of a difference to the largest, Q0.31; 0 if it is too small to count.
#[inline(never)]
fn of_difference(op: &Softmax, difference: i32) -> i32 {
    if difference < op.smallest_difference {
        return 0;
    }
    let Multiplier { multiplier, shift } = op.scale;
    exp_of_negative(doubling_high_product(difference.wrapping_shl(shift as u32), multiplier))
}

/// The reciprocal of a sum in Q12.19: a Q0.31 number and how many bits the sum is above one.
fn reciprocal(sum: i32) -> (i32, i32) {
    let headroom = (sum as u32).leading_zeros();
    let fraction = (sum as u32).wrapping_shl(headroom).wrapping_sub(1 << 31) as i32;
    (reciprocal_of_one_plus(fraction), SUM_BITS as i32 - headroom as i32)
}
