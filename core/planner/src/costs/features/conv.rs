//! Features of convolutions, alone and with a max pool behind them.

use super::paired::{PAIRED_CHUNK, Rows};
use super::{BLOCK, Feature, Step, Taps, is_dense};
use tilewright_plan::{Op, PoolBehind, Tile};

/// Longest filter for which a convolution copies what it sees.
const PATCH: u64 = 640;
/// Output channels whose results are kept at once for the pool behind.
const CHUNK: u64 = 32;

impl Step<'_> {
    pub(super) fn conv(&self, features: &mut Vec<Feature>) {
        match self.op.filters_for(&self.input).paired {
            true => self.paired_conv(self.taps(), Rows::Joined, features),
            false => self.conv_over(self.taps(), features),
        }
    }

    /// Features of the convolution's results whose windows have these taps.
    fn conv_over(&self, [rows, columns]: [Taps; 2], features: &mut Vec<Feature>) {
        let pixels = rows.positions * columns.positions;
        let groups = u64::from(self.op.groups.max(1));
        let inputs = u64::from(self.input.c) / groups;
        let outputs = self.channels / groups;
        let window = u64::from(self.op.window[0]) * u64::from(self.op.window[1]);
        let filter = window * inputs;
        let seen = rows.all * columns.all * inputs;
        let one_run = groups == 1 && self.op.dilation[1] == 1 && is_dense(&self.input);
        let runs = rows.all * if one_run { columns.positions } else { columns.all };
        let parts = pixels * groups;
        let (blocks, singles) = (outputs / BLOCK, outputs % BLOCK);
        features.extend([
            ("rows", rows.positions),
            ("pixels", pixels),
            ("parts", parts),
            ("elements", pixels.saturating_mul(self.channels)),
        ]);
        if filter <= PATCH {
            let border = pixels - rows.full * columns.full;
            features.extend([
                ("copied_runs", runs * groups),
                ("copied", seen * groups),
                ("border_parts", border * groups),
                ("border_bytes", border * groups * filter),
                ("blocks", parts * blocks),
                ("block_macs", parts * blocks * filter),
                ("singles", parts * singles),
                ("single_macs", parts * singles * filter),
            ]);
        } else {
            features.extend([
                ("direct_block_runs", runs * groups * blocks),
                ("direct_block_macs", seen * groups * blocks),
                ("direct_blocks", parts * blocks),
                ("direct_single_runs", runs * groups * singles),
                ("direct_single_macs", seen * groups * singles),
                ("direct_singles", parts * singles),
            ]);
        }
    }

    /// The convolution's results that a window sees, each once; and the windows that each is kept
    /// in.
    pub(super) fn conv_max_pool(&self, features: &mut Vec<Feature>) {
        let Some(pool) = PoolBehind::of(self.op) else { return };
        let PoolBehind { window, stride, padding, conv_size } = pool;
        let of_pool = Op { window, stride, padding, dilation: [1; 2], ..*self.op };
        let pooled = Tile { valid_start: [0; 2], valid_size: conv_size, ..*self.tile };
        let windows = [0, 1].map(|axis| Taps::along(&of_pool, &pooled, axis));
        let made = [0, 1].map(|axis| {
            let start = i64::from(self.tile.output_start[axis]);
            let outputs = start..start + i64::from(self.tile.output_size[axis]);
            let size = i64::from(conv_size[axis]);
            let mut next = 0;
            let seen = outputs.flat_map(|output| {
                let first = output * i64::from(stride[axis]) - i64::from(padding[axis]);
                let end = (first + i64::from(window[axis])).min(size);
                let new = first.max(next)..end;
                next = end.max(next);
                new
            });
            Taps::of(self.op, self.tile, axis, seen)
        });
        let paired = self.op.filters_for(&self.input).paired;
        let chunk = if paired { PAIRED_CHUNK } else { CHUNK };
        match paired {
            true => self.paired_conv(made, Rows::Apart, features),
            false => self.conv_over(made, features),
        }
        let groups = u64::from(self.op.groups.max(1));
        let chunks = groups * (self.channels / groups).div_ceil(chunk);
        let kept = windows[0].all * windows[1].all;
        let positions = made[0].positions * made[1].positions;
        features.extend([
            ("chunks", positions * chunks),
            ("kept_rows", windows[0].all * made[1].positions * chunks),
            ("kept", kept * chunks),
            ("compared", kept * self.channels),
            ("started", self.pixels),
            ("started_bytes", self.elements),
        ]);
    }
}
