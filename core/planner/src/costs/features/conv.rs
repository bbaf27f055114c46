//! Features of convolutions, alone and with a max pool behind them.

use super::paired::Rows;
use super::{BLOCK, Feature, PATCH, Step, Taps, is_dense};
use tilewright_plan::{Op, Packed, PoolBehind, Tile};

/// Output channels whose results are kept at once for the pool behind.
const CHUNK: u64 = 32;
/// Columns of the convolution whose results are kept at once.
const COLUMNS: u64 = 4;

impl Step<'_> {
    pub(super) fn conv(&self, features: &mut Vec<Feature>) {
        match self.op.filters_for(&self.input).packed {
            Packed::Transformed => self.transformed_conv(features),
            Packed::Pairs => self.paired_conv(self.taps(), Rows::Joined, features),
            Packed::Natural => self.conv_over(self.taps(), u64::MAX, features),
            Packed::Sparse => self.sparse(features),
        }
    }

    /// Features of the convolution's results whose windows have these taps, of `chunk` channels at a
    /// time.
    fn conv_over(&self, [rows, columns]: [Taps; 2], chunk: u64, features: &mut Vec<Feature>) {
        let pixels = rows.positions * columns.positions;
        let groups = u64::from(self.op.groups.max(1));
        let inputs = u64::from(self.input.c) / groups;
        let outputs = (self.channels / groups).max(1);
        let window = u64::from(self.op.window[0]) * u64::from(self.op.window[1]);
        let filter = window * inputs;
        let seen = rows.all * columns.all * inputs;
        let one_run = groups == 1 && self.op.dilation[1] == 1 && is_dense(&self.input);
        let runs = rows.all * if one_run { columns.positions } else { columns.all };
        // Runs of channels of one chunk and one group.
        let (mut parts, mut blocks, mut first) = (0, 0, 0);
        while first < self.channels {
            let next = |size: u64| (first / size + 1).saturating_mul(size);
            let end = next(chunk).min(next(outputs)).min(self.channels);
            let count = end - first;
            // A block of fewer channels takes as long as others.
            (parts, blocks) = (parts + 1, blocks + count.div_ceil(BLOCK));
            first = end;
        }
        // Nothing is shared with pairs, so that what one way leaves unexplained does not fall on the other.
        features.clear();
        features.extend([
            ("natural_calls", 1),
            ("rows", rows.positions),
            ("pixels", pixels),
            ("parts", pixels * parts),
            ("elements", pixels.saturating_mul(self.channels)),
        ]);
        if self.op.input_zero[1] != 0 {
            features.extend([("zero_runs", runs * parts), ("zero_sums", seen * parts)]);
        }
        if filter <= PATCH {
            let border = pixels - rows.full * columns.full;
            features.extend([
                ("copied_runs", runs * parts),
                ("copied", seen * parts),
                ("border_parts", border * parts),
                ("border_bytes", border * parts * filter),
                ("blocks", pixels * blocks),
                ("block_macs", pixels * blocks * filter),
            ]);
        } else {
            features.extend([
                ("direct_block_runs", runs * blocks),
                ("direct_block_macs", seen * blocks),
            ]);
        }
    }

    /// The convolution's results that a window sees, each once, in fours of a row of which the last
    /// column stands for those that are missing; and the windows that each is kept in.
    pub(super) fn conv_max_pool(&self, features: &mut Vec<Feature>) {
        let Some(pool) = PoolBehind::of(self.op) else { return };
        let PoolBehind { window, stride, padding, conv_size } = pool;
        let of_pool = Op { window, stride, padding, dilation: [1; 2], ..*self.op };
        let pooled = Tile { valid_start: [0; 2], valid_size: conv_size, ..*self.tile };
        let windows = [0, 1].map(|axis| Taps::along(&of_pool, &pooled, axis));
        let seen = [0, 1].map(|axis| {
            let start = i64::from(self.tile.output_start[axis]);
            let outputs = start..start + i64::from(self.tile.output_size[axis]);
            let size = i64::from(conv_size[axis]);
            let mut next = 0;
            let seen = outputs.flat_map(move |output| {
                let first = output * i64::from(stride[axis]) - i64::from(padding[axis]);
                let end = (first + i64::from(window[axis])).min(size);
                let new = first.max(next)..end;
                next = end.max(next);
                new
            });
            seen.collect::<Vec<i64>>()
        });
        let [rows, columns] =
            [0, 1].map(|axis| Taps::of(self.op, self.tile, axis, seen[axis].iter().copied()));
        let missing = columns.positions.next_multiple_of(COLUMNS) - columns.positions;
        let last = seen[1].last().copied();
        let again = || (0..missing).filter_map(|_| last);
        let whole = Taps::of(self.op, self.tile, 1, seen[1].iter().copied().chain(again()));
        let paired = self.op.filters_for(&self.input).are_paired();
        match paired {
            true => self.paired_conv([rows, columns], Rows::Apart, features),
            false => self.conv_over([rows, whole], CHUNK, features),
        }
        let chunks = self.channels.div_ceil(CHUNK);
        let start = i64::from(self.tile.output_start[1]);
        let sees_last = |output: &i64| {
            let first = output * i64::from(stride[1]) - i64::from(padding[1]);
            last.is_some_and(|last| (first..first + i64::from(window[1])).contains(&last))
        };
        let outputs = start..start + i64::from(self.tile.output_size[1]);
        let of_last = outputs.filter(sees_last).count() as u64;
        let kept = windows[0].all * (windows[1].all + missing * of_last);
        // What one way to convolve leaves unexplained does not fall on the other.
        if !paired {
            features.push(("single_compared", kept * self.channels));
            return;
        }
        features.extend([
            ("chunks", rows.positions * (whole.positions / COLUMNS) * chunks),
            ("kept_rows", windows[0].all * whole.positions * chunks),
            ("kept", kept * chunks),
            ("compared", kept * self.channels),
        ]);
    }
}
