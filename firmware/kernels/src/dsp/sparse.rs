//! Products with rows of weights that are stored without their zeros.
//!
//! A row begins with a word: its low half says how many bytes of [groups](Group) follow, its high half how many pairs
//! of the first group are left out. A pair is two neighbours of a row, the first at an even column: half of that is
//! what a group says of each of its four pairs, and then their weights v₀ w₀ v₁ w₁ and those of the other two, so that
//! SXTB16 of a word and of the word turned by eight bits gives what SMLAD takes.
//!
//! Columns are bytes, and activations are held for as many pairs: no row can name one that is not there.

use super::are_at_words;
use super::{Constants, PIXELS, Quad, Word};
#[cfg(not(armv7e_m))]
use super::{even_bytes, high_halves, high_product_sum, low_halves, odd_bytes, products};
#[cfg(not(armv7e_m))]
use super::{saturate, shift_right};

/// Pairs whose columns a row can name.
pub const PAIRS: usize = 256;

/// Values of a row: two for each pair.
pub const COLUMNS: usize = 2 * PAIRS;

/// Four columns, and the weights of four pairs.
pub type Group = [u8; 12];

/// Pairs of a group.
pub const GROUP_PAIRS: usize = 4;

/// Activations of four pixels for all columns: (x₀, x₁) of each, then (x₂, x₃) of each.
pub type Four = [Quad; PAIRS / 2];

/// Activations of a pixel for all columns.
pub type One = [Word; PAIRS];

/// Rows, checked.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    words: &'a [[u8; 4]],
    count: usize,
}

/// A row's word: bytes of its groups, and pairs left out.
#[inline(always)]
const fn begin(word: [u8; 4]) -> [usize; 2] {
    let word = u32::from_le_bytes(word) as usize;
    [word & 0xffff, word >> 16]
}

impl<'a> Rows<'a> {
    /// The `count` rows that bytes are; nothing if those are fewer or more, no rows, or not at an address of words.
    #[must_use]
    #[inline(never)]
    pub fn new(bytes: &'a [u8], count: usize) -> Option<Self> {
        let words = bytes.as_chunks().0;
        let (mut end, mut are_whole) = (0usize, true);
        for _ in 0..count {
            let [bytes, skipped] = begin(*words.get(end)?);
            let is_whole = bytes > 0 && bytes.is_multiple_of(size_of::<Group>());
            are_whole &= is_whole & (skipped < GROUP_PAIRS);
            end += 1 + bytes / 4;
        }
        let are_rows = are_whole && end * 4 == bytes.len() && are_at_words(words);
        are_rows.then_some(Self { words, count })
    }

    /// What is behind the first `count` rows, which end `left` words before the last.
    fn behind(self, count: usize, left: usize) -> Option<Self> {
        let words = self.words.get(self.words.len().checked_sub(left)?..)?;
        Some(Self { words, count: self.count.checked_sub(count)? })
    }

    /// Adds the products of four pixels with as many rows as there are sums. Gives the rows behind them; nothing, and
    /// adds nothing, if there are fewer.
    #[must_use]
    pub fn add(self, activations: &Four, sums: &mut [[i32; PIXELS]]) -> Option<Self> {
        let count = sums.len();
        if count == 0 || count > self.count {
            return (count == 0).then_some(self);
        }
        #[cfg(armv7e_m)]
        let left = {
            let sums = sums.as_mut_ptr_range();
            // SAFETY: `new` has checked that as many rows are whole, with whole groups, at an address of words.
            // Columns are bytes, and there are activations for all of them; they may be words that were never
            // written, of which the instructions read whatever memory holds.
            #[expect(unsafe_code, reason = "a loop whose registers are chosen by hand")]
            let end = unsafe {
                arm::add(self.words.as_ptr(), activations.as_ptr(), sums.start, sums.end)
            };
            words_from(self.words, end)
        };
        #[cfg(not(armv7e_m))]
        let left = {
            let mut words = self.words;
            for sums in sums {
                words = row(words, |column, weights| {
                    for (sum, x) in sums.iter_mut().zip(four(activations, column)) {
                        *sum = products(weights, x, *sum);
                    }
                });
            }
            words.len()
        };
        self.behind(count, left)
    }

    /// The outputs of four pixels for as many rows as there are constants: sums of products and bias, requantised as
    /// [`super::Fast::apply`] does, the zero point added. The bytes of a pixel's channels begin at its place. Gives
    /// the rows behind them; nothing, and computes nothing, if rows or bytes are fewer, or constants not at an
    /// address of words.
    #[must_use]
    #[inline(never)]
    pub fn outputs(
        self,
        activations: &Four,
        constants: &[Constants],
        zero: i8,
        bytes: &mut [u8],
        places: &[usize; PIXELS],
    ) -> Option<Self> {
        let count = constants.len();
        let [a, b, c, d] = *places;
        let end = a.max(b).max(c.max(d)).checked_add(count)?;
        if count > self.count || end > bytes.len() || !are_at_words(constants) {
            return None;
        }
        if count == 0 {
            return Some(self);
        }
        let rounding = 2 * i32::from(zero) + 1;
        #[cfg(armv7e_m)]
        let left = {
            let end = bytes.as_mut_ptr().wrapping_add(count);
            // SAFETY: as for `add`; above it is checked that constants are whole words, and that `count` bytes of
            // each place may be written.
            #[expect(unsafe_code, reason = "a loop whose registers are chosen by hand")]
            let end = unsafe {
                arm::outputs(
                    self.words.as_ptr(),
                    activations.as_ptr(),
                    constants.as_ptr(),
                    (count as isize).wrapping_neg(),
                    rounding,
                    end.wrapping_add(a),
                    end.wrapping_add(b),
                    end.wrapping_add(c),
                    end.wrapping_add(d),
                )
            };
            words_from(self.words, end)
        };
        #[cfg(not(armv7e_m))]
        let left = {
            let mut words = self.words;
            for (channel, constants) in constants.iter().enumerate() {
                let mut sums = [word(constants, 0); PIXELS];
                words = row(words, |column, weights| {
                    for (sum, x) in sums.iter_mut().zip(four(activations, column)) {
                        *sum = products(weights, x, *sum);
                    }
                });
                for (sum, place) in sums.iter().zip(places) {
                    if let Some(byte) = bytes.get_mut(place + channel) {
                        *byte = requantised(*sum, constants, rounding);
                    }
                }
            }
            words.len()
        };
        self.behind(count, left)
    }

    /// Adds the products of one pixel with as many rows as there are sums: as [`Self::add`].
    #[must_use]
    pub fn add_one(self, activations: &One, sums: &mut [i32]) -> Option<Self> {
        let count = sums.len();
        if count == 0 || count > self.count {
            return (count == 0).then_some(self);
        }
        #[cfg(armv7e_m)]
        let left = {
            let sums = sums.as_mut_ptr_range();
            // SAFETY: as for `add`.
            #[expect(unsafe_code, reason = "a loop whose registers are chosen by hand")]
            let end =
                unsafe { arm::add_one(self.words.as_ptr(), activations, sums.start, sums.end) };
            words_from(self.words, end)
        };
        #[cfg(not(armv7e_m))]
        let left = {
            let mut words = self.words;
            for sum in sums {
                words = row(words, |column, weights| {
                    *sum = products(weights, activations[usize::from(column)], *sum);
                });
            }
            words.len()
        };
        self.behind(count, left)
    }
}

/// Makes bytes of sums of products, one for each channel: as [`Rows::outputs`] does. Gives whether there are as many
/// of all three, with constants at an address of words; makes nothing if not.
#[must_use]
pub fn finish(sums: &[i32], constants: &[Constants], zero: i8, bytes: &mut [u8]) -> bool {
    let count = sums.len();
    if (constants.len(), bytes.len()) != (count, count) || !are_at_words(constants) {
        return false;
    }
    let rounding = 2 * i32::from(zero) + 1;
    #[cfg(armv7e_m)]
    if count > 0 {
        let end = sums.as_ptr_range().end;
        // SAFETY: there are as many sums, constants at words, and bytes.
        #[expect(unsafe_code, reason = "a loop whose instructions are chosen by hand")]
        unsafe {
            arm::finish(sums.as_ptr(), constants.as_ptr(), bytes.as_mut_ptr(), end, rounding);
        }
    }
    #[cfg(not(armv7e_m))]
    for ((sum, constants), byte) in sums.iter().zip(constants).zip(bytes) {
        *byte = requantised(sum.wrapping_add(word(constants, 0)), constants, rounding);
    }
    true
}

/// A word of a channel's constants.
#[cfg(not(armv7e_m))]
fn word(constants: &Constants, at: usize) -> i32 {
    constants.as_chunks().0.get(at).map_or(0, |word| i32::from_le_bytes(*word))
}

/// The byte of a channel's sum, its bias added.
#[cfg(not(armv7e_m))]
fn requantised(sum: i32, constants: &Constants, rounding: i32) -> u8 {
    let (multiplier, right) = (word(constants, 1), word(constants, 2));
    let rounding = rounding.wrapping_shl(right as u32).wrapping_add(sum >> 31);
    let high = high_product_sum(sum.wrapping_shl(1), multiplier, rounding);
    saturate(shift_right(high, right & 31) >> 1) as u8
}

/// How many words there are from an address on that lies in them or at their end.
#[cfg(armv7e_m)]
fn words_from(words: &[[u8; 4]], address: *const [u8; 4]) -> usize {
    (words.as_ptr_range().end.addr() - address.addr()) / 4
}

/// Visits the pairs of the first row, and gives what is behind it.
#[cfg(not(armv7e_m))]
fn row(words: &[[u8; 4]], mut visit: impl FnMut(u8, u32)) -> &[[u8; 4]] {
    let Some((first, behind)) = words.split_first() else { return words };
    let [bytes, skipped] = begin(*first);
    let (groups, behind) = behind.split_at((bytes / 4).min(behind.len()));
    let pairs = groups.as_chunks().0.iter().flat_map(|[columns, first, second]| {
        let [first, second] = [first, second].map(|word| u32::from_le_bytes(*word));
        let weights = [even_bytes(first), odd_bytes(first), even_bytes(second), odd_bytes(second)];
        columns.iter().copied().zip(weights)
    });
    for (column, weights) in pairs.skip(skipped) {
        visit(column, weights);
    }
    behind
}

/// The activations of four pixels for a pair.
#[cfg(not(armv7e_m))]
fn four(activations: &Four, column: u8) -> [u32; PIXELS] {
    activations[usize::from(column / 2)][usize::from(column % 2)]
}

/// Makes activations of neighbours of those that [`super::Quad`] says: (x₀, x₁), then (x₂, x₃).
pub fn pair_neighbours(quads: &mut [Quad]) {
    #[cfg(armv7e_m)]
    if !quads.is_empty() {
        let Range { start, end } = quads.as_mut_ptr_range();
        // SAFETY: the loop turns each quad of the slice, at words as all of them.
        #[expect(unsafe_code, reason = "a loop whose values fill the registers")]
        unsafe {
            arm::pair_neighbours(start, end);
        }
    }
    #[cfg(not(armv7e_m))]
    for [first, second] in quads {
        for (even, odd) in first.iter_mut().zip(second) {
            (*even, *odd) = (low_halves(*even, *odd), high_halves(*even, *odd));
        }
    }
}

#[cfg(armv7e_m)]
use core::ops::Range;

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "all registers are needed")]
mod arm;
