//! Features of kernels whose weights lie in pairs of channels: four pixels are computed at once.

use super::{Feature, Step, Taps, is_dense};
use tilewright_plan::{Op, Tile, View};

/// Values of a filter whose activations are held at once.
const HELD: u64 = 576;
/// The same of a fully connected layer's.
const HELD_VECTOR: u64 = 2304;
/// Output channels whose sums are held at once.
const SUMS: u64 = 32;
/// The same of a fully connected layer's.
const VECTOR_SUMS: u64 = 64;
/// Times that the loops over quads of values and over eights of a vector are unrolled; the former half as
/// often for cores that issue one instruction at a time.
const UNROLLED: u64 = 8;
/// The same of quads whose products are added to sums that are held.
const UNROLLED_SUMS: u64 = 4;

/// How fours of pixels meet the ends of rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// A four goes on in the next row.
    Joined,
    /// Each row begins a four.
    Apart,
}

/// How pixels are made by fours.
#[derive(Clone, Copy, Default)]
pub struct Fours {
    /// Taps down and across.
    pub rows: Taps,
    pub columns: Taps,
    /// Fours, and those of which every pixel's whole window sees input.
    pub fours: u64,
    pub whole: u64,
    /// Pixels that are left over and computed apart.
    pub apart: u64,
    /// Pixels that are taken again in the last four.
    pub again: u64,
    /// Whether the last pixel's whole window sees input.
    pub last_is_whole: bool,
}

/// Fours of pixels, and those of which every pixel's whole window sees input.
fn fours(rows: &Taps, columns: &Taps, how: Rows) -> [u64; 2] {
    let width = columns.positions;
    let inside = |start: u64, end: u64, all: u64| {
        // The last pixel stands for those that are missing in the last four.
        let end = if end == all { end.next_multiple_of(4) } else { end };
        (end / 4).saturating_sub(start.div_ceil(4))
    };
    let first = columns.before;
    let end = first + columns.full;
    match how {
        Rows::Apart => {
            let of_row = inside(first, end, width);
            [
                rows.positions * width.div_ceil(4),
                if columns.full > 0 { rows.full * of_row } else { 0 },
            ]
        }
        Rows::Joined => {
            let all = rows.positions * width;
            let start = rows.before * width;
            let whole = if columns.full == 0 {
                0
            } else if columns.full == width {
                inside(start, start + rows.full * width, all)
            } else {
                let row = |row: u64| inside(row * width + first, row * width + end, all);
                (rows.before..rows.before + rows.full).map(row).sum()
            };
            [all.div_ceil(4), whole]
        }
    }
}

/// Fours of one row whose windows see all rows of theirs, where fours go on in the next row: those in
/// which every window sees all its columns too, and the others; and how many windows of those do not.
fn swift(rows: &Taps, columns: &Taps) -> [u64; 3] {
    let (width, mut found) = (columns.positions, [0; 3]);
    if columns.full == 0 || rows.full == 0 {
        return found;
    }
    let full_end = columns.before + columns.full;
    for row in rows.before..rows.before + rows.full {
        let first = (row * width).next_multiple_of(4) - row * width;
        let fours = width.saturating_sub(first) / 4;
        let end = first + 4 * fours;
        let [start, full_end] = [columns.before.max(first), full_end.min(end)];
        let inside = (full_end.max(first) - first) / 4;
        let inside = inside.saturating_sub((start - first).div_ceil(4));
        found[0] += inside;
        found[1] += fours - inside;
        found[2] += 4 * fours - full_end.saturating_sub(start);
    }
    // What lies beside the first row and beside the last may be outside of the tensor.
    let behind = columns.before + columns.full < width;
    let beside = (u64::from(columns.before > 0) + u64::from(behind)).min(found[1]);
    [found[0], found[1] - beside, found[2].saturating_sub(beside)]
}

/// Rows of outputs whose windows see whole rows of the input, of which some lie at the other end of its ring:
/// such windows are copied pixel by pixel, as those with padding are.
fn wrapping(op: &Op, tile: &Tile, input: &View) -> u64 {
    let ring = i64::from(input.ring_rows);
    if input.first_row.saturating_add(input.h) <= input.ring_rows || ring == 0 {
        return 0;
    }
    let ahead = (i64::from(op.window[0]) - 1) * i64::from(op.dilation[0]);
    let start = i64::from(tile.valid_start[0]);
    let end = start + i64::from(tile.valid_size[0]);
    let wraps = |row: &u16| {
        let output = i64::from(tile.output_start[0]) + i64::from(*row);
        let first = output * i64::from(op.stride[0]) - i64::from(op.padding[0]);
        let place = i64::from(input.first_row) + first - i64::from(input.y0);
        first >= start && first + ahead < end && place.rem_euclid(ring) + ahead >= ring
    };
    (0..tile.output_size[0]).filter(wraps).count() as u64
}

/// Most values of windows that lie in no whole words and are copied to patches together.
const PATCHES: u64 = 576;

impl Step<'_> {
    /// Whether a layer's pixels are taken as one row.
    fn is_flat(&self) -> bool {
        let [rows, columns] = self.tile.output_size.map(u64::from);
        let op = self.op;
        let single = op.window == [1, 1] && op.stride == [1, 1] && op.padding == [0, 0];
        let joined = |view: &View| {
            u64::from(view.w) == columns
                && u64::from(view.row_pitch) == columns * u64::from(view.column_pitch)
                && view.first_row.saturating_add(view.h) <= view.ring_rows
        };
        single && rows > 1 && joined(&self.input) && joined(&self.output)
    }

    /// Features of a convolution whose results have windows with these taps.
    pub(super) fn paired_conv(
        &self,
        [rows, columns]: [Taps; 2],
        how: Rows,
        features: &mut Vec<Feature>,
    ) {
        let inputs = u64::from(self.input.c);
        let [height, width] = self.op.window.map(u64::from);
        let length = height * width * inputs;
        let entries = length.div_ceil(4);
        let pairs = self.channels.div_ceil(2);
        let held = length.div_ceil(HELD);
        // One pixel, or two, that are left over are computed apart.
        let even = entries.is_multiple_of(2) && self.channels.is_multiple_of(2);
        let made = self.fours([rows, columns], how, |left| {
            left <= 2 && how == Rows::Joined && held == 1 && even
        });
        let Fours { rows, columns, fours, apart, .. } = made;
        if apart > 0 {
            features.extend([
                ("apart", apart),
                ("apart_pairs", apart * pairs),
                ("apart_eights", apart * pairs * entries / 2),
            ]);
        }
        let clamped = (self.op.clamp_min, self.op.clamp_max) != (-128, 127);
        let in_one = self.op.dilation[1] == 1 && is_dense(&self.input);
        // How often activations are made: again for each block of sums if they are not all held.
        let times = if held > 1 { self.channels.div_ceil(SUMS) } else { 1 };
        features.extend([
            ("fours", fours),
            ("quads", fours * pairs * entries),
            ("clamped", if clamped { fours * self.channels + apart * pairs / 2 } else { 0 }),
        ]);
        if held > 1 {
            features.extend([
                ("summed_chunks", fours * times * held),
                ("summed_pairs", fours * pairs * held),
                ("summed_turns", fours * pairs * entries.div_ceil(UNROLLED_SUMS)),
                ("summed", fours * self.channels),
            ]);
        } else {
            features.extend([
                ("pairs", fours * pairs),
                ("turns", fours * pairs * entries.div_ceil(UNROLLED)),
                ("half_turns", fours * pairs * entries.div_ceil(UNROLLED / 2)),
                ("odd", fours * (self.channels % 2)),
            ]);
        }
        // Fours whose windows are expanded at once.
        let in_runs = in_one || width == 1;
        let in_words = (width * inputs).is_multiple_of(4);
        let in_patches = (entries * 4 + 4) * 4 <= PATCHES;
        let is_swift = how == Rows::Joined && held == 1 && in_runs && (in_words || in_patches);
        let [inside, edged, edges] = if is_swift { swift(&rows, &columns) } else { [0; 3] };
        let swift = inside + edged;
        // Taps of theirs that are padding: as many as of all windows with such.
        let padded = columns.positions - columns.full;
        let missing = edges * (width * columns.positions - columns.all) / padded.max(1);
        features.push(("swift", swift));
        if in_words {
            features.push(("swift_words", swift * entries));
        } else {
            let words = (width * inputs).div_ceil(4);
            features.push(("swift_copied", swift * height * words));
        }
        self.loads(&made, [inside, swift, edges, missing], times, features);
    }

    /// The fours of a convolution whose results have windows with these taps, where one to three pixels that are left
    /// over are computed apart if `is_apart` says so.
    pub(super) fn fours(
        &self,
        [rows, columns]: [Taps; 2],
        how: Rows,
        is_apart: impl Fn(u64) -> bool,
    ) -> Fours {
        let row = |all: u64| Taps { all, full: all, before: 0, positions: all };
        let flat = how == Rows::Joined && self.is_flat();
        // A row of all pixels wraps nowhere.
        let full = rows.full.saturating_sub(wrapping(self.op, self.tile, &self.input));
        let rows = Taps { full, ..rows };
        let [rows, columns] =
            if flat { [row(1), row(rows.positions * columns.positions)] } else { [rows, columns] };
        let [mut fours, mut whole] = fours(&rows, &columns, how);
        let pixels = rows.positions * columns.positions;
        let left = pixels % 4;
        let apart = if left > 0 && is_apart(left) { left } else { 0 };
        let is_last = |taps: &Taps| taps.full > 0 && taps.before + taps.full == taps.positions;
        let last_is_whole = is_last(&rows) && is_last(&columns);
        if apart > 0 {
            fours -= 1;
            whole = whole.saturating_sub(u64::from(last_is_whole));
        }
        // What the last pixel of a four that is not full sees is taken again for each that is missing.
        let again = (fours * 4 + apart).saturating_sub(pixels);
        Fours { rows, columns, fours, whole, apart, again, last_is_whole }
    }

    /// What activations of fours and of pixels apart are made of, so many times, where the windows of some are expanded
    /// at once: of so many that have no padding, of all, and their windows and taps that are padding.
    pub(super) fn loads(
        &self,
        made: &Fours,
        [inside, swift, edges, missing]: [u64; 4],
        times: u64,
        features: &mut Vec<Feature>,
    ) {
        let Fours { rows, columns, fours, whole, apart, again, last_is_whole } = *made;
        let inputs = u64::from(self.input.c);
        let [height, width] = self.op.window.map(u64::from);
        let length = height * width * inputs;
        let entries = length.div_ceil(4);
        let pixels = rows.positions * columns.positions;
        let in_one = self.op.dilation[1] == 1 && is_dense(&self.input);
        let with_again = |seen: u64| seen + seen * again / pixels.max(1);
        let [whole, fours] = [whole.saturating_sub(inside), fours.saturating_sub(swift)];
        // Runs and values that other pixels see, apart from those of whole fours.
        let runs = with_again(rows.all * if in_one { columns.positions } else { columns.all });
        let runs =
            runs.saturating_sub((swift * 4 + apart) * height * if in_one { 1 } else { width });
        let whole_runs = whole * height * if in_one { 1 } else { width };
        let seen = with_again(rows.all * columns.all * inputs)
            .saturating_sub((swift * 4 * width).saturating_sub(missing) * height * inputs)
            .saturating_sub(apart * length);
        let single_pixels = fours.saturating_sub(whole) * 4;
        let clipped = pixels.saturating_sub(rows.full * columns.full).saturating_sub(edges)
            + if last_is_whole { 0 } else { again };
        // Where taps do not follow each other, as in groups of channels, each is a run of its own.
        let [single_runs, patch_runs] = match in_one || width == 1 {
            true => ["single_runs", "patch_runs"],
            false => ["single_taps", "patch_taps"],
        };
        if inputs.is_multiple_of(4) {
            features.extend([
                ("whole_runs", whole_runs * times),
                ("whole_words", whole * entries * times),
                ("single_pixels", single_pixels * times),
                (single_runs, runs.saturating_sub(whole_runs * 4) * times),
                ("single_words", (seen / 4).saturating_sub(whole * entries * 4) * times),
                ("filled_pixels", clipped * times),
                ("filled_words", clipped * entries * times),
            ]);
        } else {
            features.extend([
                ("patches", fours * 4 * times),
                (patch_runs, runs * times),
                ("patch_bytes", seen * times),
                ("filled_patches", clipped * times),
                ("filled_bytes", clipped * length * times),
            ]);
        }
    }

    pub(super) fn paired_vector(&self, features: &mut Vec<Feature>) {
        let inputs = self.input.elements();
        let eights = inputs.div_ceil(8);
        let pairs = self.channels.div_ceil(2);
        let chunks = inputs.div_ceil(HELD_VECTOR);
        let blocks = self.channels.div_ceil(VECTOR_SUMS);
        let turns = pairs * eights.div_ceil(UNROLLED);
        features.extend([("turns", turns), ("eights", pairs * eights)]);
        if chunks > 1 {
            features.extend([
                ("expanded_in_blocks", eights * blocks),
                ("blocks", blocks),
                ("chunks", blocks * chunks),
                ("summed_pairs", pairs * chunks),
                ("summed", self.channels),
            ]);
        } else {
            features.extend([
                ("expanded", eights),
                ("pairs", pairs),
                ("channels", self.channels),
                ("odd", self.channels % 2),
            ]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taps(before: u64, full: u64, positions: u64) -> Taps {
        Taps { all: 0, full, before, positions }
    }

    /// Fours pixel by pixel.
    fn slowly(rows: &Taps, columns: &Taps, how: Rows) -> [u64; 2] {
        let is_full = |taps: &Taps, at: u64| (taps.before..taps.before + taps.full).contains(&at);
        let mut pixels: Vec<Vec<bool>> = Vec::new();
        for y in 0..rows.positions {
            let row = (0..columns.positions).map(|x| is_full(rows, y) && is_full(columns, x));
            match (how, pixels.last_mut()) {
                (Rows::Joined, Some(all)) => all.extend(row),
                _ => pixels.push(row.collect()),
            }
        }
        let fours: Vec<&[bool]> = pixels.iter().flat_map(|pixels| pixels.chunks(4)).collect();
        [fours.len() as u64, fours.iter().filter(|four| four.iter().all(|f| *f)).count() as u64]
    }

    #[test]
    fn windows_wrap_where_their_rows_lie_at_both_ends_of_a_ring() {
        let op = Op {
            window: [3, 3],
            stride: [1, 1],
            dilation: [1, 1],
            padding: [1, 1],
            ..Op::default()
        };
        let rows = |ring: u16, first: u16, count: u16| {
            let tile = Tile {
                output_start: [first, 0],
                output_size: [count, 8],
                channels: 4,
                valid_start: [first - 1, 0],
                valid_size: [count + 2, 8],
                ..Tile::default()
            };
            let view = View::whole(tilewright_plan::Space::Arena, 0, count + 2, 8, 4);
            let first_row = (first - 1) % ring;
            let view = View { y0: first.cast_signed() - 1, ring_rows: ring, first_row, ..view };
            wrapping(&op, &tile, &view)
        };
        // Of a ring as high as windows each third has them in one piece, of a higher one more have.
        assert_eq!([1, 2, 3, 4].map(|row| rows(3, row, 1)), [0, 1, 1, 0]);
        assert_eq!([1, 2, 3, 4, 5].map(|row| rows(5, row, 1)), [0, 0, 0, 1, 1]);
        assert_eq!((rows(5, 3, 2), rows(8, 1, 6), rows(8, 3, 6)), (1, 0, 2));
    }

    #[test]
    fn swift_fours_lie_in_one_row() {
        for (height, width) in [(3, 4), (8, 8), (5, 7), (4, 13), (9, 3), (3, 30)] {
            for (before, behind) in [(0, 0), (1, 1), (2, 0), (0, 1), (1, 2)] {
                let full = u64::saturating_sub(width, before + behind);
                let columns = taps(before, full, width);
                let rows = taps(1, height - 2, height);
                let (mut inside, mut edged, mut edges) = (0, 0, 0);
                for first in (0..height * width).step_by(4) {
                    let (y, x) = (first / width, first % width);
                    if full == 0 || y == 0 || y == height - 1 || x + 4 > width {
                        continue;
                    }
                    let sees = (x..x + 4).filter(|x| (before..before + full).contains(x)).count();
                    match sees {
                        4 => inside += 1,
                        _ => (edged, edges) = (edged + 1, edges + 4 - sees as u64),
                    }
                }
                let beside = u64::min(u64::from(before > 0) + u64::from(behind > 0), edged);
                let expected = [inside, edged - beside, edges.saturating_sub(beside)];
                assert_eq!(swift(&rows, &columns), expected, "{height} {width} {before} {behind}");
            }
        }
    }

    #[test]
    fn fours_are_counted_as_pixels_follow() {
        for (height, width) in [(1, 1), (3, 4), (8, 8), (5, 7), (4, 13), (9, 3)] {
            for (before, behind) in [(0, 0), (1, 1), (2, 0), (0, 1), (1, 2)] {
                let along = |length: u64| {
                    let full = length.saturating_sub(before + behind);
                    taps(if full == 0 { length } else { before }, full, length)
                };
                for other in [along(height), taps(0, height, height)] {
                    for how in [Rows::Joined, Rows::Apart] {
                        let columns = along(width);
                        let [all, whole] = slowly(&other, &columns, how);
                        assert_eq!(fours(&other, &columns, how), [all, whole], "{height} {width}");
                    }
                }
            }
        }
    }
}
