//! Normalisation by the neighbouring channels' squares.

use super::runs::pixels;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};
use crate::requantise::Multiplier;

/// What a local response normalisation computes: each value's difference from the zero point times
/// a factor of the sum S of squared differences of the channels around it.
///
/// Factors stand in a table: one for each S below 16; above, 16 for each power of two, with
/// linear interpolation between them, rounded down.
#[derive(Clone, Copy, Debug)]
pub struct LocalResponse<'a> {
    /// Channels before and behind a value that count.
    pub around: [usize; 2],
    /// Zero point of the input.
    pub input_zero: i8,
    /// Significands of the factors, little-endian. [`crate::pack::factors`] makes them.
    pub factors: &'a [[u8; 4]],
    /// Power of two of all factors, as [`Multiplier::shift`].
    pub shift: i32,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Entries for each power of two, and their logarithm.
const ENTRIES: u32 = 1 << ENTRY_BITS;
const ENTRY_BITS: u32 = 4;

/// Normalises the channels of each pixel of the tile, which has all channels.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn local_response(
    op: &LocalResponse<'_>,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    if op.factors.is_empty() {
        return Err(KernelError::ConstantsTooShort);
    }
    pixels(tile, input, output, &mut |input, output| pixel(op, input, output))
}

fn pixel(op: &LocalResponse<'_>, input: &[u8], output: &mut [u8]) {
    let [before, behind] = op.around;
    let zero = i32::from(op.input_zero);
    let difference = |byte: &u8| i32::from(*byte as i8) - zero;
    let square = |index: Option<usize>| {
        let value = index.and_then(|index| input.get(index)).map_or(0, difference);
        (value * value) as u32
    };
    let ahead = input.iter().take(behind).map(|byte| difference(byte).pow(2) as u32);
    let mut sum = ahead.fold(0, u32::wrapping_add);
    for (channel, (byte, x)) in output.iter_mut().zip(input).enumerate() {
        // The window moves on: one channel enters it, one has left it.
        sum = sum.wrapping_add(square(channel.checked_add(behind)));
        let left = channel.checked_sub(before).and_then(|first| first.checked_sub(1));
        sum = sum.wrapping_sub(square(left));
        *byte = op.output.byte(difference(x), &op.factor(sum).prepare());
    }
}

impl LocalResponse<'_> {
    /// The factor for a sum of squares.
    fn factor(&self, sum: u32) -> Multiplier {
        let (index, rest, bits) = if sum < ENTRIES {
            (sum, 0, 0)
        } else {
            let bits = sum.ilog2() - ENTRY_BITS;
            (ENTRIES * bits + (sum >> bits), sum & ((1 << bits) - 1), bits)
        };
        let low = self.entry(index as usize);
        let difference = self.entry(index as usize + 1) - low;
        let multiplier = low + ((difference * i64::from(rest)) >> bits);
        Multiplier { multiplier: multiplier as i32, shift: self.shift }
    }

    /// A significand; beyond the last the last.
    fn entry(&self, index: usize) -> i64 {
        let entry = self.factors.get(index).or(self.factors.last());
        entry.map_or(0, |entry| i64::from(i32::from_le_bytes(*entry)))
    }
}
