//! Bytes that are copied and filled in runs.

use super::{Feature, Step};

/// Features of copying runs of bytes: bytes of short runs, long runs and their words, and the same
/// of long runs that are no whole words, and so begin anywhere in a word.
pub(super) const COPIED: [&str; 5] =
    ["copied_short", "copied_runs", "copied_words", "copied_odd_runs", "copied_odd_words"];
/// Features of filling runs of bytes.
pub(super) const FILLED: [&str; 5] =
    ["filled_short", "filled_runs", "filled_words", "filled_odd_runs", "filled_odd_words"];

/// Runs of fewer bytes are copied and filled byte by byte.
const LONG: u64 = 16;

/// Features of `runs` copies of so many bytes each, of which is not known where they lie.
pub(super) fn copies(
    features: &mut Vec<Feature>,
    names: &[&'static str; 5],
    runs: u64,
    bytes: u64,
) {
    let [short, long, words, odd, odd_words] = *names;
    if bytes < LONG {
        features.push((short, runs * bytes));
    } else if bytes.is_multiple_of(4) {
        features.extend([(long, runs), (words, runs * (bytes / 4))]);
    } else {
        features.extend([(odd, runs), (odd_words, runs * (bytes / 4))]);
    }
}

impl Step<'_> {
    /// Copies of the output's runs of `bytes` bytes from the input's. Bytes up to the first whole word of
    /// the output, and behind the last, are moved one by one; words that are unaligned in the input are
    /// made of two.
    pub(super) fn copied_runs(&self, features: &mut Vec<Feature>, bytes: u64) {
        let (from, to) = (&self.input, &self.output);
        let columns = if bytes > self.channels { 1 } else { self.tile.output_size[1] };
        if bytes < LONG {
            let runs = self.rows * u64::from(columns);
            features.extend([
                ("short_quads", runs * (bytes / 4)),
                ("short_rests", if bytes.is_multiple_of(4) { 0 } else { runs }),
            ]);
            return;
        }
        let [mut long, mut edges, mut words, mut askew, mut askew_words] = [0; 5];
        // Where a run lies in a word repeats every four rows and columns.
        for y in 0..self.tile.output_size[0].min(4) {
            for x in 0..columns.min(4) {
                let runs = alike(self.tile.output_size[0], y) * alike(columns, x);
                let [source, target] = [from, to].map(|view| {
                    let row = u64::from(y) * u64::from(view.row_pitch);
                    u64::from(view.offset) + row + u64::from(x) * u64::from(view.column_pitch)
                });
                let head = target.wrapping_neg() % 4;
                let whole = (bytes - head) / 4;
                long += runs;
                edges += runs * (bytes - 4 * whole);
                if (source + head).is_multiple_of(4) {
                    words += runs * whole;
                } else {
                    askew += runs;
                    askew_words += runs * whole;
                }
            }
        }
        features.extend([
            ("long_runs", long),
            ("edge_bytes", edges),
            ("words", words),
            ("askew_runs", askew),
            ("askew_words", askew_words),
        ]);
    }
}

/// How many of `count` numbers from 0 on leave the same rest as `number` does, divided by four.
fn alike(count: u16, number: u16) -> u64 {
    u64::from(count.saturating_sub(number)).div_ceil(4)
}

#[cfg(test)]
mod tests {
    use tilewright_plan::{Kernel, Op, Space, Tile, View};

    use crate::costs::features;

    #[test]
    fn runs_are_copied_by_where_they_lie_in_words() {
        let op = Op {
            kernel: Kernel::Requantise as u16,
            scalars: [1 << 30, 1, 0, 0, 0, 0, 0],
            clamp_min: -128,
            clamp_max: 127,
            ..Op::default()
        };
        let tile = Tile { output_size: [3, 5], channels: 18, ..Tile::default() };
        let to =
            View { column_pitch: 37, row_pitch: 190, ..View::whole(Space::Arena, 0, 3, 5, 18) };
        let views = [View::whole(Space::Arena, 1024, 3, 5, 18), to];
        let (mut long, mut edges, mut words, mut askew, mut askew_words) = (0, 0, 0, 0, 0);
        for run in 0..15u64 {
            let (from, to) = (18 * run, run / 5 * 190 + run % 5 * 37);
            let head = (4 - to % 4) % 4;
            let whole = (18 - head) / 4;
            long += 1;
            edges += 18 - 4 * whole;
            if (from + head).is_multiple_of(4) {
                words += whole;
            } else {
                (askew, askew_words) = (askew + 1, askew_words + whole);
            }
        }
        let features = features(&op, &tile, &views);
        let value = |name| features.iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        assert_eq!(value("long_runs"), Some(long));
        assert_eq!(value("edge_bytes"), Some(edges));
        assert_eq!(value("words"), Some(words));
        assert_eq!(value("askew_runs"), Some(askew));
        assert_eq!(value("askew_words"), Some(askew_words));
    }
}
