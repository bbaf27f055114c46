//! A tile's filters, checked.

use super::constants::are_fast;
use super::{CHUNK, LONGEST, SMALL, conv_bytes};
use crate::channels::Channels;
use crate::dsp::{PairWeights, Pairs, are_at_words};
use crate::error::KernelError;
use crate::geometry::{Source, Tile};
use crate::portable::Conv;

/// The filters of a tile's output channels, with their constants.
#[derive(Clone, Copy)]
pub struct Filters<'a> {
    /// Values of a filter.
    pub length: usize,
    /// Entries of a pair of channels: a fourth of a filter's bytes.
    pub entries: usize,
    /// All weights: entries of the first pair, then of the next.
    pub weights: &'a [PairWeights],
    /// Constants of the channels.
    pub channels: Channels<'a>,
    /// Output channels.
    pub outputs: usize,
    fast: bool,
}

impl<'a> Filters<'a> {
    /// Checks that filters and constants are as many as the tile needs.
    pub fn of(
        op: &Conv,
        tile: &Tile,
        input: &Source<'_>,
        weights: &'a [u8],
        channels: Channels<'a>,
    ) -> Result<Self, KernelError> {
        Self::of_length(op, tile, input, weights, channels, conv_bytes)
    }

    /// The same of filters whose bytes follow from their lengths in this way.
    #[inline(always)]
    pub fn of_length(
        op: &Conv,
        tile: &Tile,
        input: &Source<'_>,
        weights: &'a [u8],
        channels: Channels<'a>,
        bytes: impl Fn(usize) -> usize,
    ) -> Result<Self, KernelError> {
        op.window.check()?;
        let outputs = tile.channels;
        if op.groups != 1 || op.weight_zero != 0 || outputs == 0 {
            return Err(KernelError::Shape);
        }
        let area = op.window.size[0].checked_mul(op.window.size[1]);
        let length = area.and_then(|area| area.checked_mul(input.layout.channels));
        let length = length.filter(|length| (1..=LONGEST).contains(length));
        let length = length.ok_or(KernelError::Shape)?;
        let entries = bytes(length) / 4;
        let weights = weights.as_chunks().0;
        let needed = outputs.div_ceil(2).checked_mul(entries);
        if needed.is_none_or(|needed| needed > weights.len()) || channels.len() < outputs {
            return Err(KernelError::ConstantsTooShort);
        }
        let channels = channels.first(outputs);
        let aligned = are_at_words(channels.entries());
        let fast = !SMALL && length <= CHUNK && aligned && are_fast(channels);
        Ok(Self { length, entries, weights, channels, outputs, fast })
    }

    /// Whether [`Pairs`] serve: for filters that are held whole and whose channels are
    /// all requantised fast; never where code is to be small.
    #[inline(always)]
    pub const fn are_fast(&self) -> bool {
        !SMALL && self.fast
    }

    /// Weights and constants of the pairs of `count` channels from `first` (an even one) on, for outputs of this
    /// zero point; nothing if filters [are not fast](Self::are_fast).
    #[inline(always)]
    pub fn pairs(&self, [first, count]: [usize; 2], zero: i8) -> Option<Pairs<'a>> {
        if !self.are_fast() {
            return None;
        }
        let constants = self.channels.from(first).entries().as_chunks().0.get(..count / 2)?;
        Pairs::new(self.of_pairs(first), constants, self.entries, zero)
    }

    /// Whether filters are whole entries of eight values, in whole pairs, as [`crate::dsp::outputs_of_one`] takes
    /// them.
    #[inline(always)]
    pub fn are_eights(&self) -> bool {
        let aligned = are_at_words(self.weights);
        self.are_fast() && aligned && (self.entries | self.outputs).is_multiple_of(2)
    }

    /// The weights of pairs of channels from channel `first` (an even one) on.
    pub fn of_pairs(&self, first: usize) -> &'a [PairWeights] {
        self.weights.get(first / 2 * self.entries..).unwrap_or(&[])
    }
}
