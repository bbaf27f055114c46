//! Logarithm of the softmax over the channels of each pixel, in fixed point: the arithmetic of
//! TFLite's reference int8 kernel.

use super::fixed::{DIFFERENCE_BITS, exp_of_negative, log_of_sum};
use super::runs::pixels;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::requantise::{Multiplier, rounding_right_shift};

/// What a log-softmax computes. The output has scale 1/16 and zero point 127.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSoftmax {
    /// Makes Q5.26 of a difference of inputs, as for a softmax.
    pub scale: Multiplier,
    /// Makes a difference of inputs of Q5.26.
    pub reverse: Multiplier,
    /// Differences below this one count as nothing.
    pub smallest_difference: i32,
}

/// Integer bits of the output: −16 is its smallest value.
const OUTPUT_BITS: u32 = 4;
/// Integer bits of the sum of exponentials, which saturates.
const SUM_BITS: u32 = 12;
/// Zero point of the output.
const OUTPUT_ZERO: i32 = 127;

/// Takes the logarithm of the softmax over the channels of each pixel of the tile.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn log_softmax(
    op: &LogSoftmax,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    pixels(tile, input, output, &mut |input, output| pixel(op, input, output))
}

fn pixel(op: &LogSoftmax, input: &[u8], output: &mut [u8]) {
    let largest = input.iter().map(|byte| *byte as i8).max().unwrap_or(0);
    let difference = |byte: &u8| i32::from(*byte as i8) - i32::from(largest);
    let sum = input
        .iter()
        .map(difference)
        .filter(|difference| *difference >= op.smallest_difference)
        .map(|difference| exp_of_negative(op.scale.apply(difference)))
        .fold(0i32, |sum, exp| sum.saturating_add(rounding_right_shift(exp, SUM_BITS)));
    let log = log_of_sum(sum);
    // Where the scaled difference less the logarithm would leave Q5.26.
    let limit = op.reverse.apply(log.wrapping_add(i32::MIN));
    let limit = limit.max(op.smallest_difference.wrapping_sub(1));
    for (byte, x) in output.iter_mut().zip(input) {
        let difference = difference(x);
        *byte = if difference > limit {
            let value = op.scale.apply(difference).wrapping_sub(log);
            let value = rounding_right_shift(value, 31 - DIFFERENCE_BITS - OUTPUT_BITS);
            let value = value.wrapping_add(OUTPUT_ZERO);
            value.clamp(i32::from(i8::MIN), i32::from(i8::MAX)) as u8
        } else {
            i8::MIN as u8
        };
    }
}
