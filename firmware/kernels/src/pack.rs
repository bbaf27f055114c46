//! The host's side of the kernels' readers: weights and constants to the bytes that kernels read.

use alloc::vec::Vec;

use crate::channels::{CHANNEL_BYTES, Channel};
use crate::paired::Entry;
use crate::portable::Table;

/// Which kernel reads packed weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// OHWI: output channel, row, column, input channel of the group; transposed or not.
    Conv,
    /// HWC: row, column, output channel.
    Depthwise,
    /// OI: output, input.
    FullyConnected,
}

/// Packs weights that lie in the kernel's natural order (see [`Weights`]).
///
/// The portable kernels read that order as it is.
#[must_use]
pub fn weights(kernel: Weights, weights: &[i8]) -> Vec<u8> {
    match kernel {
        Weights::Conv | Weights::Depthwise | Weights::FullyConnected => {
            weights.iter().map(|weight| *weight as u8).collect()
        }
    }
}

/// Packs filters, each `length` values long, in pairs of output channels: see [`crate::paired`].
/// `bytes`: of a packed filter, as [`crate::paired::conv_bytes`] or
/// [`crate::paired::vector_bytes`] says.
#[must_use]
pub fn paired_weights(weights: &[i8], length: usize, bytes: usize) -> Vec<u8> {
    let filters: Vec<&[i8]> = weights.chunks_exact(length.max(1)).collect();
    let mut packed = Vec::with_capacity(filters.len().next_multiple_of(2) * bytes);
    for pair in filters.chunks(2) {
        let four = |channel: usize, at: usize| -> [u8; 4] {
            let filter = pair.get(channel).copied().unwrap_or(&[]);
            let value = |at: usize| filter.get(at).map_or(0, |weight| *weight as u8);
            let whole = filter.get(at..at + 4).and_then(<[i8]>::first_chunk::<4>);
            whole.map_or_else(
                || [0, 1, 2, 3].map(|behind| value(at + behind)),
                |f| f.map(|w| w as u8),
            )
        };
        for first in (0..bytes).step_by(4) {
            let ([a, b, c, d], [e, f, g, h]) = (four(0, first), four(1, first));
            packed.extend_from_slice(&[a, e, c, g, b, f, d, h]);
        }
    }
    packed
}

/// Packs channel constants for paired weights, 12 bytes a channel: see [`crate::paired`].
/// `weights`: `length` values for each channel.
#[must_use]
pub fn paired_constants(
    channels: &[Channel],
    input_zero: i8,
    weights: &[i8],
    length: usize,
) -> Vec<u8> {
    let filters = weights.chunks_exact(length.max(1));
    let sums = filters.map(|filter| filter.iter().map(|weight| i32::from(*weight)).sum());
    let entries = channels.iter().zip(sums);
    entries.flat_map(|(channel, sum)| Entry::new(*channel, input_zero, sum).0).collect()
}

/// The table that [`crate::lut`] reads, of a function of int8 values.
#[must_use]
pub fn table(function: impl Fn(i8) -> i8) -> Table {
    core::array::from_fn(|byte| function(byte as u8 as i8) as u8)
}

/// The table that [`crate::resize_nearest`] reads: the input row of each output row, the input
/// column of each output column.
#[must_use]
pub fn nearest(rows: &[u16], columns: &[u16]) -> Vec<u8> {
    rows.iter().chain(columns).flat_map(|index| index.to_le_bytes()).collect()
}

/// The significands that [`crate::local_response`] reads.
#[must_use]
pub fn factors(significands: &[i32]) -> Vec<u8> {
    significands.iter().flat_map(|significand| significand.to_le_bytes()).collect()
}

/// Packs channel constants, 12 bytes a channel; see [`crate::Channels`].
#[must_use]
pub fn channel_constants(channels: &[Channel]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(channels.len() * CHANNEL_BYTES);
    for channel in channels {
        for word in [channel.bias, channel.factor.multiplier, channel.factor.shift] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Channels, Multiplier};

    #[test]
    fn packed_channels_lead_back() {
        let channels = [
            Channel { bias: -7, factor: Multiplier { multiplier: i32::MAX, shift: -9 } },
            Channel { bias: i32::MIN, factor: Multiplier { multiplier: 1 << 30, shift: 2 } },
        ];
        let bytes = channel_constants(&channels);
        assert_eq!(bytes.len(), 24);
        let read = Channels::new(&bytes);
        assert_eq!(
            [read.get(0), read.get(1), read.get(2)],
            [Some(channels[0]), Some(channels[1]), None]
        );
    }
}
