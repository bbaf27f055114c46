//! The host's side of the kernels' readers: weights and constants to the bytes that kernels read.

use alloc::vec::Vec;

use crate::channels::{CHANNEL_BYTES, Channel};
use crate::dsp::sparse::{COLUMNS, GROUP_PAIRS, Group};
use crate::dsp::winograd::{POSITIONS, ROWS, SIDE};
use crate::paired::{Entry, WINOGRAD_CHUNK, winograd_bytes};
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

/// Packs filters of 3x3 windows over `inputs` channels (OHWI), transformed, in pairs of output channels: see
/// [`crate::paired`].
#[must_use]
pub fn winograd_weights(weights: &[i8], inputs: usize) -> Vec<u8> {
    let filters: Vec<&[i8]> = weights.chunks_exact((9 * inputs).max(1)).collect();
    let mut packed = Vec::with_capacity(filters.len().next_multiple_of(2) * winograd_bytes(inputs));
    for pair in filters.chunks(2) {
        let value = |channel: usize, position: usize, input: usize| {
            pair.get(channel).map_or(0, |filter| transformed(filter, inputs, input, position))
        };
        for first in (0..inputs).step_by(WINOGRAD_CHUNK) {
            let quads = (first..inputs.min(first + WINOGRAD_CHUNK)).step_by(4);
            let each =
                (0..POSITIONS).flat_map(|position| quads.clone().map(move |at| (position, at)));
            for (position, quad) in each {
                for (channel, at) in
                    [(0, 0), (0, 2), (1, 0), (1, 2), (0, 1), (0, 3), (1, 1), (1, 3)]
                {
                    packed.extend(value(channel, position, quad + at).to_le_bytes());
                }
            }
        }
    }
    packed
}

/// A value of 4·G·g·Gᵀ of a filter's nine weights for an input channel, with the sign of its position.
fn transformed(filter: &[i8], inputs: usize, input: usize, position: usize) -> i16 {
    const G: [[i16; 3]; SIDE] = [[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]];
    let (row, column) = (ROWS[position % SIDE], position / SIDE);
    let sign = if (row >= 2) == (column >= 2) { 1 } else { -1 };
    let weight = |at: usize| i16::from(filter.get(at * inputs + input).copied().unwrap_or(0));
    let of = |y: usize, x: usize| G[row][y] * G[column][x] * weight(3 * y + x);
    sign * (0..9).map(|at| of(at / 3, at % 3)).sum::<i16>()
}

/// Packs filters, each `length` values long, without their zeros, rows of so many channels together: see
/// [`crate::paired`].
#[must_use]
pub fn sparse_weights(weights: &[i8], length: usize, block: usize) -> Vec<u8> {
    let filters: Vec<&[i8]> = weights.chunks_exact(length.max(1)).collect();
    let mut packed = Vec::new();
    for block in filters.chunks(block.max(1)) {
        for first in (0..length).step_by(COLUMNS) {
            for filter in block {
                sparse_row(&filter[first..length.min(first + COLUMNS)], &mut packed);
            }
        }
    }
    packed
}

/// Packs a row of at most [`COLUMNS`] values.
fn sparse_row(values: &[i8], packed: &mut Vec<u8>) {
    let pairs = values.chunks(2).enumerate().map(|(column, pair)| {
        let [first, second] = [0, 1].map(|at| pair.get(at).map_or(0, |value| *value as u8));
        (column as u8, first, second)
    });
    let mut pairs: Vec<(u8, u8, u8)> =
        pairs.filter(|(_, first, second)| (*first, *second) != (0, 0)).collect();
    if pairs.is_empty() {
        pairs.push((0, 0, 0));
    }
    let skipped = pairs.len().next_multiple_of(GROUP_PAIRS) - pairs.len();
    pairs.splice(..0, core::iter::repeat_n((0, 0, 0), skipped));
    let bytes = pairs.len() / GROUP_PAIRS * size_of::<Group>();
    packed.extend((bytes as u16).to_le_bytes());
    packed.extend((skipped as u16).to_le_bytes());
    for [a, b, c, d] in pairs.as_chunks().0 {
        packed.extend([a.0, b.0, c.0, d.0]);
        for [first, second] in [[a, b], [c, d]] {
            packed.extend([first.1, second.1, first.2, second.2]);
        }
    }
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
