//! Depthwise windows over planes: four channels of a strip of pixels, each as rows of signed halves,
//! so that one multiply instruction takes two pixels.
//!
//! A word of a plane holds two pixels that follow each other. With the weights of neighbouring taps
//! in pairs too, a row of a window of 3, 5 or 7 taps is 2, 3 or 4 multiplications, whether the window
//! starts in the low half of a word or in the high one.
//!
//! The loops are assembly on Armv7E-M, since their fourteen values fill the registers; the same is
//! computed in plain Rust elsewhere.

mod convolve;
mod expand;
mod filter;

pub use convolve::Strip;
pub use expand::{Fitting, Pixels};
pub use filter::{Filter, Kind, Weights};

use super::four::{EMPTY, Word};

/// Channels whose planes stand beside each other.
pub const CHANNELS: usize = 4;

/// Words of a row of one channel: two pixels each.
const CHANNEL_WORDS: usize = 15;

/// Words of a row of all channels; the loops know them as bytes.
const ROW_WORDS: usize = CHANNELS * CHANNEL_WORDS;

/// Pixels of a row.
pub const COLUMNS: usize = 2 * CHANNEL_WORDS;

/// Rows.
pub const ROWS: usize = 20;

const WORDS: usize = ROWS * ROW_WORDS;
const _: () = assert!(WORDS.is_multiple_of(8));

/// The planes of four channels: rows one after the other, in each the channels. They mean nothing before they
/// are [filled](Planes::fill).
#[derive(Debug)]
pub struct Planes {
    words: [Word; WORDS],
}

impl Planes {
    /// Planes before anything is written.
    #[must_use]
    #[inline(always)]
    pub const fn new() -> Self {
        Self { words: [EMPTY[0][0]; WORDS] }
    }

    /// Makes all pixels the same: the input's zero point, which stands for padding.
    pub fn fill(&mut self, value: i8) {
        let half = u32::from(i16::from(value) as u16);
        let word = half << 16 | half;
        #[cfg(armv7e_m)]
        {
            let words = self.words.as_mut_ptr_range();
            // SAFETY: the planes are a multiple of eight words, all of which may be written.
            #[expect(unsafe_code, reason = "eight words in a turn")]
            unsafe {
                arm::fill_eights(words.start.cast(), words.end.cast(), word);
            }
        }
        #[cfg(not(armv7e_m))]
        self.words.fill(word);
    }
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "eight words in a turn")]
pub(super) mod arm {
    /// Writes a word to all places of a range: a multiple of eight, and not none.
    #[unsafe(naked)]
    pub unsafe extern "C" fn fill_eights(start: *mut u32, end: *mut u32, word: u32) {
        assembly!(
            "push {{r4-r8, lr}}
        mov r3, r2
        mov r4, r2
        mov r5, r2
        mov r6, r2
        mov r7, r2
        mov r8, r2
        mov r12, r2
        1:
        stm r0!, {{r2-r8, r12}}
        cmp r0, r1
        bne 1b
        pop {{r4-r8, pc}}",
        )
    }
}

impl Default for Planes {
    fn default() -> Self {
        Self::new()
    }
}
