//! Max pools.

use super::unaligned::Unaligned;
use super::{Feature, Step, Taps};

impl Step<'_> {
    pub(super) fn max_pool(&self, features: &mut Vec<Feature>) {
        let [rows, columns] = self.taps();
        let clamped = if self.is_clamped() { self.pixels } else { 0 };
        // Outputs of a row that see a whole row of a window are looked at together.
        let window = u64::from(self.op.window[1]);
        let whole = columns.full.saturating_sub(1);
        let groups = columns.positions - whole;
        let taps = rows.all * (columns.all - whole * window);
        // Four taps in a first pass over a pixel, three in each that follows; windows of one axis
        // see as many taps as each other but for those at the ends.
        let [of_rows, of_columns] = [0, 1].map(|axis| Taps::seen(self.op, self.tile, axis));
        let each = of_rows.iter().flat_map(|(down, rows)| {
            of_columns.iter().map(move |(across, columns)| {
                let passes = rows * (1 + (down * across).saturating_sub(4).div_ceil(3));
                let groups = if *across == window { 1 } else { *columns };
                [passes * columns, passes * groups]
            })
        });
        let [passes, group_passes] =
            each.fold([0; 2], |[all, grouped], [more, groups]| [all + more, grouped + groups]);
        let (words, rest) = (self.channels / 4, self.channels % 4);
        let odd = u64::from(words > 0 && rest > 0);
        let own = passes.saturating_sub(self.pixels);
        let [from, to] = [&self.input, &self.output].map(Unaligned::of);
        features.extend([
            ("rows", self.rows),
            ("groups", self.rows * groups),
            ("tap_rows", rows.all * groups),
            ("taps", taps),
            ("group_passes", group_passes),
            ("passes", passes),
            ("words", passes * words),
            // A last part of a word is made with what lies before it.
            ("odd_words", if words > 0 && rest > 0 { passes } else { 0 }),
            ("single_passes", if words > 0 { 0 } else { passes }),
            // A first pass loads a tap more than those that follow, which load what it made.
            ("first_words", self.pixels * words),
            ("first_odd_words", if words > 0 && rest > 0 { self.pixels } else { 0 }),
            ("first_single_bytes", if words > 0 { 0 } else { self.pixels * rest }),
            // Passes that follow load it from the output.
            ("own_words", own * words),
            ("own_odd_words", if words > 0 && rest > 0 { own } else { 0 }),
            ("own_single_bytes", if words > 0 { 0 } else { own * rest }),
            ("askew_words", from.words(3 * passes + self.pixels, [words, odd])),
            ("askew_stores", to.words(passes, [words, odd])),
            ("askew_clamped_words", to.words(clamped, [words, 0])),
            ("clamped_pixels", clamped),
            ("clamped_words", clamped * words),
            ("clamped_bytes", clamped * rest),
        ]);
    }
}
