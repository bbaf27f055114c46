//! Where sparse weights are cut: by blocks of output channels, whose bytes depend on their values.
//!
//! The planner knows the values, so a plan says where blocks begin; `check` counts it anew, and a step names exactly the bytes
//! of its channels. Smaller blocks make smaller copies, and load the activations more often: each op has its own number.

use alloc::sync::Arc;
use core::ops::Range;

use crate::filters::{Filters, Packed};

/// Where the filters of each block of output channels begin among all sparse ones of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseCuts {
    each: u32,
    channels: u32,
    /// The first byte of each block, and the end of the last.
    starts: Arc<[u64]>,
}

impl SparseCuts {
    /// Those of filters of `length` values each: `pairs` gives for each row of at most [`Filters::SPARSE_COLUMNS`] of
    /// them, channel by channel, its pairs of neighbours that are not both zero. Blocks have `each` output channels.
    /// Nothing if there are no channels or no values, or more than their numbers count.
    #[must_use]
    pub fn new(length: u64, each: u32, pairs: &[u64]) -> Option<Self> {
        let rows = usize::try_from(length.div_ceil(Filters::SPARSE_COLUMNS as u64)).ok()?;
        let filters = pairs.chunks_exact((rows > 0).then_some(rows)?);
        let channels = u32::try_from(filters.len()).ok().filter(|channels| *channels > 0)?;
        let bytes = |rows: &[u64]| rows.iter().map(|pairs| Filters::sparse_row_bytes(*pairs)).sum();
        let bytes: alloc::vec::Vec<u64> = filters.map(bytes).collect();
        let mut end = 0;
        let blocks = bytes.chunks(usize::try_from(each).ok().filter(|each| *each > 0)?);
        let ends = blocks.map(|block| {
            end += block.iter().sum::<u64>();
            end
        });
        Some(Self { each, channels, starts: core::iter::once(0).chain(ends).collect() })
    }

    /// Those of blocks of `each` output channels of all `channels`, of which `starts` says where each begins and
    /// where the last ends; nothing if that is not what it says.
    #[must_use]
    pub fn from_starts(each: u32, channels: u32, starts: &Arc<[u64]>) -> Option<Self> {
        let blocks = channels.checked_div(each)? + u32::from(!channels.is_multiple_of(each));
        let are_all = channels > 0 && starts.len() as u64 == u64::from(blocks) + 1;
        let is_right = are_all && starts[0] == 0 && starts.is_sorted();
        is_right.then(|| Self { each, channels, starts: starts.clone() })
    }

    /// The first byte of each block, and the end of the last.
    #[must_use]
    pub const fn starts(&self) -> &Arc<[u64]> {
        &self.starts
    }

    /// All output channels.
    #[must_use]
    pub const fn channels(&self) -> u32 {
        self.channels
    }

    /// Output channels of a block; of the last one perhaps fewer.
    #[must_use]
    pub const fn each(&self) -> u32 {
        self.each
    }

    /// What an op says of filters of so many values ([`crate::Op::sparse_block`]).
    #[must_use]
    pub fn of_op(&self, length: u64) -> u16 {
        let has_rows = length > Filters::SPARSE_COLUMNS as u64;
        if has_rows { u16::try_from(self.each).unwrap_or(0) } else { 0 }
    }

    /// Whether filters are cut so.
    #[must_use]
    pub fn are_of(&self, filters: &Filters) -> bool {
        filters.packed == Packed::Sparse && filters.together == u64::from(self.each)
    }

    /// Bytes of all.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Bytes of the largest block.
    #[must_use]
    pub fn largest(&self) -> u64 {
        self.largest_of(1)
    }

    /// Most bytes of so many blocks behind each other, of the first ones, of the next, and so on.
    fn largest_of(&self, blocks: usize) -> u64 {
        let last = self.starts.len() - 1;
        let bytes = (0..last).step_by(blocks.max(1));
        let bytes = bytes.map(|at| self.starts[last.min(at + blocks)] - self.starts[at]);
        bytes.max().unwrap_or(0)
    }

    /// The most channels, whole blocks, of which all parts take at most so many bytes; 0 if none do.
    #[must_use]
    pub fn fitting(&self, bytes: u64) -> u32 {
        let blocks = (1..self.starts.len()).rev().find(|blocks| self.largest_of(*blocks) <= bytes);
        let blocks = blocks.and_then(|blocks| u32::try_from(blocks).ok()).unwrap_or(0);
        blocks.saturating_mul(self.each).min(self.channels)
    }

    /// The bytes of some channels among all; nothing if these do not begin and end where filters are cut.
    #[must_use]
    pub fn range(&self, channels: Range<u64>) -> Option<Range<u64>> {
        let at = |channel: u64| {
            let is_end = channel == u64::from(self.channels);
            let is_cut =
                channel < u64::from(self.channels) && channel.is_multiple_of(u64::from(self.each));
            let block = usize::try_from(channel / u64::from(self.each)).ok()?;
            let at = if is_end { self.starts.len() - 1 } else { block };
            (is_end || is_cut).then(|| self.starts.get(at).copied()).flatten()
        };
        let (start, end) = (at(channels.start)?, at(channels.end)?);
        (channels.start < channels.end).then_some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_begin_where_the_rows_before_them_end() {
        // Five channels of two rows.
        let cuts = SparseCuts::new(600, 2, &[4, 5, 0, 1, 8, 0, 1, 1, 9, 0]).unwrap();
        assert_eq!(cuts.bytes(), [16 + 28, 32, 28 + 16, 32, 40 + 16].iter().sum::<u64>());
        assert_eq!((cuts.range(0..2), cuts.range(2..5)), (Some(0..76), Some(76..208)));
        assert_eq!(cuts.range(4..5), Some(152..208));
        let outside = [0..0, 1..2, 0..3, 4..6, 6..8, 0..u64::MAX].map(|range| cuts.range(range));
        assert_eq!(outside, [const { None }; 6]);
        assert_eq!(cuts.largest(), 76);
        assert_eq!([75, 76, 151, 152, 207, 208].map(|b| cuts.fitting(b)), [0, 2, 2, 4, 4, 5]);
    }

    #[test]
    fn what_has_no_rows_is_not_cut() {
        assert_eq!(SparseCuts::new(0, 2, &[1]), None);
        assert_eq!(SparseCuts::new(8, 0, &[1]), None);
        assert_eq!(SparseCuts::new(8, 2, &[]), None);
        let cuts = SparseCuts::new(8, 2, &[1; 5]).unwrap();
        let again = |each, channels| SparseCuts::from_starts(each, channels, cuts.starts());
        assert_eq!(again(2, 5), Some(cuts.clone()));
        let wrong = [(0, 5), (2, 0), (2, 7), (2, 4), (4, 5), (u32::MAX, u32::MAX)];
        assert_eq!(wrong.map(|(each, channels)| again(each, channels)), [const { None }; 6]);
    }

    #[test]
    fn ops_name_the_blocks_of_filters_with_several_rows() {
        let cuts = SparseCuts::new(600, 16, &[1; 64]).unwrap();
        assert_eq!([cuts.of_op(600), cuts.of_op(512)], [16, 0]);
    }
}
