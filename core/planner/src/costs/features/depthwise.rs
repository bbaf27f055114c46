//! Depthwise convolutions in planes (`firmware/kernels/src/words/depthwise.rs`): strips of the
//! output, whose input is expanded for four channels at a time.

use super::{Feature, Step, Strip};
use tilewright_plan::View;

/// Channels that are expanded together.
const CHANNELS: u64 = 4;
/// Rows and columns of the planes.
const ROWS: u64 = 20;
const COLUMNS: u64 = 30;
/// Fewer outputs are not computed in planes.
const LEAST_OUTPUTS: u64 = 4;

/// A window that is computed in planes.
struct Kind {
    taps: u64,
    stride: u64,
    lead: u64,
    /// Features: preparing four filters, blocks of four outputs, pairs of outputs.
    names: [&'static str; 3],
}

const fn kind(taps: u64, stride: u64, lead: u64, names: [&'static str; 3]) -> Kind {
    Kind { taps, stride, lead, names }
}

const KINDS: [Kind; 6] = [
    kind(3, 1, 1, ["filters_3", "blocks_3", "pairs_3"]),
    kind(3, 2, 0, ["filters_3", "blocks_3_strided", "pairs_3_strided"]),
    kind(5, 1, 0, ["filters_5", "blocks_5", "pairs_5"]),
    kind(5, 2, 0, ["filters_5", "blocks_5_strided", "pairs_5_strided"]),
    kind(7, 1, 1, ["filters_7", "blocks_7", "pairs_7"]),
    kind(7, 2, 0, ["filters_7_strided", "blocks_7_strided", "pairs_7_strided"]),
];

impl Kind {
    fn of(step: &Step<'_>) -> Option<&'static Self> {
        let op = step.op;
        let plain = op.groups == 1 && op.dilation == [1, 1] && op.input_zero[1] == 0;
        let square = op.window[0] == op.window[1] && op.stride[0] == op.stride[1];
        let enough = step.pixels >= LEAST_OUTPUTS && step.channels >= CHANNELS;
        let same = |kind: &&Self| {
            [kind.taps, kind.stride] == [u64::from(op.window[0]), u64::from(op.stride[0])]
        };
        KINDS.iter().find(same).filter(|_| plain && square && enough)
    }

    fn most(&self, axis: usize) -> u64 {
        match axis {
            0 => (ROWS - self.taps) / self.stride + 1,
            _ => ((COLUMNS - self.lead - self.taps) / self.stride + 1) & !1,
        }
    }
}

/// Parts of an axis: first output, and outputs.
fn parts(size: u64, most: u64, step: u64) -> impl Iterator<Item = (u64, u64)> + Clone {
    let each = if size <= most {
        size.max(1)
    } else {
        size.div_ceil(size.div_ceil(most - most % step)).next_multiple_of(step)
    };
    (0..size.div_ceil(each)).map(move |part| (part * each, each.min(size - part * each)))
}

impl Step<'_> {
    /// The strips of the output by their sizes; none if channels are not computed in planes.
    pub(super) fn strips(&self) -> Vec<Strip> {
        let Some(kind) = Kind::of(self) else { return Vec::new() };
        let [down, across] = self.axes();
        let sizes = self.tile.output_size.map(u64::from);
        // Lengths of parts, what one of them sees, and how many there are: all but the last are alike.
        let cut = |axis: usize, at: usize, step: u64| {
            let mut lengths: Vec<[u64; 3]> = Vec::new();
            for (first, length) in parts(sizes[axis], kind.most(at), step) {
                let seen = self.seen(kind, axis, first, length).1;
                match lengths.last_mut() {
                    Some([known, most, count]) if *known == length => {
                        *most = seen.max(*most);
                        *count += 1;
                    }
                    _ => lengths.push([length, seen, 1]),
                }
            }
            lengths
        };
        let (rows, columns) = (cut(down, 0, 1), cut(across, 1, 4));
        let pairs = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
        pairs
            .map(|([height, tall, rows], [width, wide, columns])| Strip {
                size: [*height, *width],
                seen: [*tall, *wide],
                down,
                strips: rows * columns,
                groups: self.channels / CHANNELS,
                pixels: height * width * rows * columns,
            })
            .collect()
    }

    /// The features of the channels that are computed in planes; gives how many they are.
    pub(super) fn in_planes(&self, features: &mut Vec<Feature>) -> u64 {
        let Some(kind) = Kind::of(self) else { return 0 };
        let [down, across] = self.axes();
        let sizes = self.tile.output_size.map(u64::from);
        let (rows, columns) = (sizes[down], sizes[across]);
        let groups = self.channels / CHANNELS;
        let narrow = (self.op.clamp_min, self.op.clamp_max) != (-128, 127);
        let [mut strips, mut seen_rows, mut fours, mut odd] = [0; 4];
        let [mut out_rows, mut blocks, mut pairs] = [0; 3];
        for (top, height) in parts(rows, kind.most(0), 1) {
            let (_, seen) = self.seen(kind, down, top, height);
            for (left, width) in parts(columns, kind.most(1), 4) {
                let (place, wide) = self.seen(kind, across, left, width);
                let head = (kind.lead + place) % 2;
                let rest = wide.saturating_sub(head);
                strips += 1;
                seen_rows += seen;
                fours += seen * (rest / 4);
                odd += seen * u64::from(head > 0);
                out_rows += height;
                blocks += height * (width / 4);
                pairs += height * (width % 4).div_ceil(2);
            }
        }
        let [filters, block, pair] = kind.names;
        let channels = groups * CHANNELS;
        features.extend([
            ("strips", strips),
            (filters, strips * groups),
            ("expanded_rows", seen_rows * groups),
            ("expanded", fours * groups),
            ("expanded_heads", odd * groups),
            ("convolved_rows", out_rows * channels),
            (block, blocks * channels),
            (pair, pairs * channels),
            ("clamped", if narrow { self.pixels * groups } else { 0 }),
        ]);
        channels
    }

    /// The axes of the tensors that lie along the planes' columns and rows.
    fn axes(&self) -> [usize; 2] {
        let in_one = |view: &View| view.first_row.saturating_add(view.h) <= view.ring_rows;
        let [rows, columns] = self.tile.output_size.map(u64::from);
        let estimate =
            |rows: u64, columns: u64| rows * (columns / 4 * 4 + (columns % 4).div_ceil(2) * 3 + 1);
        let better = estimate(columns, rows) * 8 < estimate(rows, columns) * 7;
        if better && in_one(&self.input) && in_one(&self.output) { [1, 0] } else { [0, 1] }
    }

    /// Where in its window the first pixel lies that a part sees, and how many it sees.
    fn seen(&self, kind: &Kind, axis: usize, first: u64, size: u64) -> (u64, u64) {
        let start = i64::from(self.tile.output_start[axis]) + first.cast_signed();
        let origin = start * kind.stride.cast_signed() - i64::from(self.op.padding[axis]);
        let end = origin + ((size - 1) * kind.stride + kind.taps).cast_signed();
        let valid = i64::from(self.tile.valid_start[axis]);
        let valid_end = valid + i64::from(self.tile.valid_size[axis]);
        let from = origin.max(valid);
        let count = end.min(valid_end) - from;
        ((from - origin).cast_unsigned(), count.max(0).cast_unsigned())
    }
}
