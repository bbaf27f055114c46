//! Features of convolutions whose weights are transformed: four tiles of 2x2 outputs are computed at once.

use super::{Feature, Step};

/// Input channels whose values are held at once.
const CHUNK: u64 = 32;
/// Output channels whose sums are held at once.
const BLOCK: u64 = 32;
/// Times that the loop over pairs of channels is unrolled.
const UNROLLED: u64 = 8;
/// Rows and columns of a tile's inputs.
const SIDE: i64 = 4;

/// The tiles along an axis.
#[derive(Clone, Copy, Default)]
struct Along {
    tiles: u64,
    /// Those that see input in all rows or columns.
    whole: u64,
    /// Rows or columns that all of them see.
    seen: u64,
    /// What the last one sees.
    last: u64,
}

impl Step<'_> {
    fn tiles_along(&self, axis: usize) -> Along {
        let (tile, input) = (self.tile, &self.input);
        let valid = i64::from(tile.valid_start[axis]);
        let end = valid + i64::from(tile.valid_size[axis]);
        let held = i64::from([input.y0, input.x0][axis]);
        let held_end = held + i64::from([input.h, input.w][axis]);
        let start = i64::from(tile.output_start[axis]) - i64::from(self.op.padding[axis]);
        (0..i64::from(tile.output_size[axis])).step_by(2).fold(Along::default(), |all, at| {
            let first = start + at;
            let last = (end.min(held_end).min(first + SIDE) - first.max(valid).max(held)).max(0);
            let last = last.cast_unsigned();
            Along {
                tiles: all.tiles + 1,
                whole: all.whole + u64::from(last == SIDE.cast_unsigned()),
                seen: all.seen + last,
                last,
            }
        })
    }

    pub(super) fn transformed_conv(&self, features: &mut Vec<Feature>) {
        let [rows, columns] = [0, 1].map(|axis| self.tiles_along(axis));
        let tiles = rows.tiles * columns.tiles;
        let fours = tiles.div_ceil(4);
        // The last tile stands for those that are missing in the last four.
        let again = fours * 4 - tiles;
        let side = SIDE.cast_unsigned();
        let last_is_whole = rows.last == side && columns.last == side;
        let inside = rows.whole * columns.whole;
        let patched_pixels = (rows.seen * columns.seen).saturating_sub(side * side * inside)
            + if last_is_whole { 0 } else { again * rows.last * columns.last };
        let inputs = u64::from(self.input.c);
        let chunks = inputs.div_ceil(CHUNK);
        let blocks = self.channels.div_ceil(BLOCK);
        let pairs = self.channels.div_ceil(2);
        // Values are made again for each block of sums if they are not all held.
        let times = if chunks > 1 { blocks } else { 1 };
        let turns: u64 = (0..chunks)
            .map(|chunk| (inputs - chunk * CHUNK).min(CHUNK).div_ceil(2 * UNROLLED))
            .sum();
        let clamped = (self.op.clamp_min, self.op.clamp_max) != (-128, 127);
        features.extend([
            ("tile_fours", fours),
            ("tile_chunks", fours * blocks * chunks),
            ("seen_tiles", fours * 4 * times * chunks),
            ("seen_words", fours * 4 * times * inputs / 4),
            ("patched_pixels", patched_pixels * times * chunks),
            ("patched_words", patched_pixels * times * inputs / 4),
            ("joined_pairs", fours * pairs * chunks),
            ("turns", fours * pairs * turns),
            ("products", fours * pairs * inputs / 2),
            ("finished_pairs", fours * (self.channels / 2)),
            ("odd_channels", fours * (self.channels % 2)),
            ("clamped_pixels", if clamped { fours * 16 * blocks } else { 0 }),
            ("clamped", if clamped { fours * 4 * self.channels } else { 0 }),
        ]);
    }
}
