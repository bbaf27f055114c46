//! The host's side of the kernels' readers: weights and constants to the bytes that kernels read.

use alloc::vec::Vec;

use crate::channels::{CHANNEL_BYTES, Channel};
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
