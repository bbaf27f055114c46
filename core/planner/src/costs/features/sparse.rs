//! Features of kernels whose weights lie without their zeros: four pixels are computed at once.

use super::paired::{Fours, Rows};
use super::{Feature, Step};
use tilewright_plan::{Filters, Kernel};

/// Values of a filter that are met together.
const COLUMNS: u64 = Filters::SPARSE_COLUMNS as u64;
/// Bytes of a row's word, and of a group of pairs.
const ROW: u64 = 4;
const GROUP: u64 = 12;

impl Step<'_> {
    /// Rows of weights, and groups of pairs in them.
    fn rows_and_groups(&self, length: u64) -> [u64; 2] {
        let rows = self.channels * length.div_ceil(COLUMNS);
        let bytes = self.operands.get(2).map_or(0, |weights| weights.elements());
        [rows, bytes.saturating_sub(rows * ROW) / GROUP]
    }

    pub(super) fn sparse(&self, features: &mut Vec<Feature>) {
        let Filters { length, together, .. } = self.op.filters_for(&self.input);
        let [rows, groups] = self.rows_and_groups(length);
        // Activations are made again for each block of sums if they are not all held.
        let chunks = length.div_ceil(COLUMNS);
        let times = if chunks > 1 { self.channels.div_ceil(together.max(1)) } else { 1 };
        let of_vector = self.op.kernel() == Some(Kernel::FullyConnected);
        let made = match of_vector {
            true => Fours { apart: 1, ..Fours::default() },
            // One pixel, or two, that are left over are computed apart.
            false => self.fours(self.taps(), Rows::Joined, |left| left <= 2),
        };
        let Fours { fours, apart, .. } = made;
        let entries = length.div_ceil(4);
        let clamped = (self.op.clamp_min, self.op.clamp_max) != (-128, 127);
        features.extend([
            ("walked_rows", rows),
            ("fours", fours),
            ("neighbours", fours * entries * times),
            ("groups", fours * groups),
            (if chunks > 1 { "added_rows" } else { "rows" }, fours * rows),
            ("finished", if chunks > 1 { fours * self.channels } else { 0 }),
            ("clamped", if clamped && chunks == 1 { fours * self.channels } else { 0 }),
            ("apart", apart),
            ("apart_chunks", apart * times * chunks),
            ("apart_words", apart * entries * times),
            ("apart_rows", apart * rows),
            ("apart_groups", apart * groups),
            ("apart_finished", apart * self.channels),
        ]);
        if !of_vector {
            self.loads(&made, [0; 4], times, features);
        }
    }
}
