//! Kernels that sum channels over areas: average pools and means.

use super::unaligned::Unaligned;
use super::{Feature, Step};

/// Channels whose sums are held together.
const BLOCK: u64 = 16;
/// Pixels whose sums stay within halves of words; then these are added to the sums.
const HALVES: u64 = 255;
/// Shifts of factors for which results are made in the fast way.
const FAST_SHIFTS: std::ops::RangeInclusive<i32> = -22..=-1;

impl Step<'_> {
    pub(super) fn average_pool(&self, features: &mut Vec<Feature>) {
        let [rows, columns] = self.taps();
        features.extend([("rows", self.rows), ("pixels", self.pixels)]);
        let whole_rows = columns.all == columns.positions * u64::from(self.input.w);
        let even = whole_rows && self.op.dilation[0] == 1 && self.has_even_rows();
        let runs = if even { self.pixels } else { rows.all * columns.positions };
        let (whole, rest) = match self.channels {
            // A short last block is made as long as the others.
            BLOCK.. => (self.channels.div_ceil(BLOCK), 0),
            few => (0, few),
        };
        let last = u64::from(!self.channels.is_multiple_of(BLOCK));
        let askew = Unaligned::of(&self.input)
            .words(rows.all * columns.all, [whole.saturating_sub(last), last.min(whole)]);
        features.push(("askew_taps", askew));
        self.sums(features, [whole, rest], runs, rows.all * columns.all);
        features.push(("few_elements", self.pixels * rest));
    }

    /// Whether the input's rows follow each other without gap.
    fn has_even_rows(&self) -> bool {
        u64::from(self.input.row_pitch)
            == u64::from(self.input.w) * u64::from(self.input.column_pitch)
    }

    /// Sums of whole blocks of channels, and of some more channels, over pixels that stand in runs.
    fn sums(&self, features: &mut Vec<Feature>, [whole, rest]: [u64; 2], runs: u64, pixels: u64) {
        let few = u64::from(rest > 0);
        features.extend([
            ("blocks", self.pixels * whole),
            ("block_runs", runs * whole),
            ("block_taps", pixels * whole),
            ("few_blocks", self.pixels * few),
            ("few_runs", runs * few),
            ("few_taps", pixels * few),
            ("few_sums", pixels * rest),
        ]);
    }

    pub(super) fn mean(&self, features: &mut Vec<Feature>) {
        let [over_rows, over_columns, over_channels] = self.op.over();
        let rows = if over_rows { u64::from(self.input.h) } else { 1 };
        let columns = if over_columns { u64::from(self.input.w) } else { 1 };
        let even = columns == u64::from(self.input.w) && self.has_even_rows();
        let runs = if even { 1 } else { rows };
        let channels = u64::from(self.input.c);
        let (whole, rest) = match channels {
            // A short last block is made as long as the others.
            BLOCK.. if !over_channels => (channels.div_ceil(BLOCK), 0),
            channels => (channels / BLOCK, channels % BLOCK),
        };
        let few = u64::from(rest > 0);
        let area = rows * columns;
        let sums = whole * BLOCK + rest;
        let last = u64::from(!over_channels && channels > BLOCK && !channels.is_multiple_of(BLOCK));
        let askew = Unaligned::of(&self.input).words(self.pixels * area, [whole - last, last]);
        let is_fast = self.op.scalars.get(1).is_some_and(|shift| FAST_SHIFTS.contains(shift));
        let averaged = if is_fast { "averaged" } else { "exactly_averaged" };
        let (results, times) = if over_channels { (1, 1) } else { (sums, whole + few) };
        features.extend([
            ("rows", self.rows),
            ("pixels", self.pixels),
            ("blocks", self.pixels * (whole + few)),
            ("runs", self.pixels * runs * (whole + few)),
            ("block_parts", self.pixels * whole * (runs + (area.max(1) - 1) / HALVES)),
            ("block_taps", self.pixels * whole * area),
            ("askew_taps", askew),
            ("few_taps", self.pixels * few * area),
            ("few_sums", self.pixels * rest * area),
            ("totals", if over_channels { self.pixels * sums } else { 0 }),
            (averaged, self.pixels * results),
            ("made", if is_fast { self.pixels * times } else { 0 }),
        ]);
    }
}
