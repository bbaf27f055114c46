//! Channel constants of paired weights.

use crate::channels::{CHANNEL_BYTES, Channel, Channels};
use crate::dsp::Fast;
use crate::geometry::Output;
use crate::requantise::Multiplier;

/// The third word of an entry whose factor needs [`Multiplier::apply`] is its shift and this.
const EXACT: i32 = 64;
/// Right shifts less one for which [`Fast`] serves.
const FAST: core::ops::Range<i32> = 0..22;
/// Largest bias, or smallest, with which sums stay within [`Fast::LIMIT`].
#[cfg(feature = "pack")]
const LARGEST_BIAS: u32 = 1 << 27;

/// A channel's 12 bytes: bias, multiplier, and the right shift less one (0..=21) where [`Fast`]
/// serves, else the shift (positive: left) and 64.
#[cfg(feature = "pack")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry(pub [u8; CHANNEL_BYTES]);

#[cfg(feature = "pack")]
impl Entry {
    /// The entry of a channel; `sum`: of its weights.
    pub fn new(channel: Channel, input_zero: i8, sum: i32) -> Self {
        let Channel { bias, factor } = channel;
        let fast = Fast::of(factor, 0).filter(|_| bias.unsigned_abs() <= LARGEST_BIAS);
        let third = match fast {
            Some(fast) => fast.right - 1,
            None => factor.shift.clamp(-31, 31) + EXACT,
        };
        let bias = bias.wrapping_sub(i32::from(input_zero).wrapping_mul(sum));
        let mut bytes = [0; CHANNEL_BYTES];
        let words = [bias, factor.multiplier, third];
        for (to, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *to = word.to_le_bytes();
        }
        Self(bytes)
    }
}

/// The bytes of a channel's sums, to which its bias is added, by the factor of an entry that was read
/// as a [`Channel`]; clamped.
#[inline(never)]
pub fn finish(sums: &[i32], entry: &Channel, output: &Output, bytes: &mut [u8]) {
    match factor(entry, output.zero) {
        Ok(fast) => {
            for (byte, sum) in bytes.iter_mut().zip(sums) {
                *byte = output.clamp(fast.apply(sum.wrapping_add(entry.bias)) as u8);
            }
        }
        Err(exact) => {
            let factor = exact.prepare();
            for (byte, sum) in bytes.iter_mut().zip(sums) {
                *byte = output.byte(sum.wrapping_add(entry.bias), &factor);
            }
        }
    }
}

/// The factor of an entry that was read as a [`Channel`]: with the output's zero point where [`Fast`]
/// serves.
#[inline(always)]
fn factor(entry: &Channel, zero: i8) -> Result<Fast, Multiplier> {
    let Multiplier { multiplier, shift } = entry.factor;
    if FAST.contains(&shift) {
        Ok(fast(entry, zero))
    } else {
        Err(Multiplier { multiplier, shift: shift.wrapping_sub(EXACT) })
    }
}

/// The factor of an entry for which [`Fast`] serves, with the output's zero point.
#[inline(always)]
pub fn fast(entry: &Channel, zero: i8) -> Fast {
    let Multiplier { multiplier, shift } = entry.factor;
    let rounding = (2 * i32::from(zero) + 1).wrapping_shl(shift as u32);
    Fast { multiplier, right: shift.wrapping_add(1), rounding }
}

/// Whether [`Fast`] serves for all channels: only shifts of others, with [`EXACT`] added, have bits
/// above the lowest five.
pub fn are_fast(channels: Channels<'_>) -> bool {
    let third = |[.., a, b, c, d]: &[u8; CHANNEL_BYTES]| u32::from_le_bytes([*a, *b, *c, *d]);
    let (fours, rest) = channels.entries().as_chunks();
    let of_four = |[a, b, c, d]: &[_; 4]| third(a) | third(b) | third(c) | third(d);
    let fours = fours.iter().fold(0, |all, four| all | of_four(four));
    rest.iter().fold(fours, |all, entry| all | third(entry)) < 1 << 5
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(channel: Channel) -> Channel {
        let Entry(bytes) = Entry::new(channel, -3, 7);
        Channels::new(&bytes).get(0).unwrap()
    }

    #[test]
    fn factors_come_back() {
        for shift in -31..=31 {
            let factor = Multiplier { multiplier: 1 << 30, shift };
            for bias in [0, 1 << 27, -(1 << 27), (1 << 27) + 1, i32::MIN] {
                let entry = read(Channel { bias, factor });
                assert_eq!(entry.bias, bias.wrapping_add(21));
                let fast = Fast::of(factor, 5).filter(|_| bias.unsigned_abs() <= 1 << 27);
                assert_eq!(super::factor(&entry, 5), fast.ok_or(factor), "{shift}, bias {bias}");
            }
        }
    }
}
