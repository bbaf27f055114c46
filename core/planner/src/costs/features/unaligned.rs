//! Unaligned words of pixels: outside of the chip a load of one takes the bus twice, and a store once for
//! each byte.

use tilewright_plan::View;

/// Of a view's pixels, those whose first byte does not begin a word, and those whose last byte does not end
/// one; of some pixels that stand for all, since where they lie repeats every four rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unaligned {
    pixels: u64,
    first: u64,
    last: u64,
}

impl Unaligned {
    pub fn of(view: &View) -> Self {
        let [rows, columns] = [view.h, view.w].map(|side| u64::from(side).clamp(1, 4));
        let mut found = Self { pixels: rows * columns, first: 0, last: 0 };
        for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
            let ahead = y * u64::from(view.row_pitch) + x * u64::from(view.column_pitch);
            let first = u64::from(view.offset) + ahead;
            found.first += u64::from(!first.is_multiple_of(4));
            found.last += u64::from(!(first + u64::from(view.c)).is_multiple_of(4));
        }
        found
    }

    /// Unaligned ones of `words` from the first byte of each of so many pixels on, and of `last` up to its last.
    pub const fn words(self, pixels: u64, [words, last]: [u64; 2]) -> u64 {
        pixels.saturating_mul(words * self.first + last * self.last) / self.pixels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::Space;

    #[test]
    fn words_lie_askew_by_where_pixels_begin_and_end() {
        let askew = |offset, c| {
            Unaligned::of(&View::whole(Space::Arena, offset, 8, 8, c)).words(64, [3, 1])
        };
        assert_eq!([askew(0, 16), askew(2, 16), askew(0, 18)], [0, 64 * 4, 32 * 4]);
        // Pixels of 17 bytes begin in words once in four, and end there once.
        assert_eq!(askew(0, 17), 48 * 4);
        let one = Unaligned::of(&View::whole(Space::Arena, 0, 1, 1, 17));
        assert_eq!(one.words(1, [4, 1]), 1);
    }
}
