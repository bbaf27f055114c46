//! The CRC unit (RM0385, 13; RM0386, 4): CRC-32 of words, the highest bit first, with the polynomial of
//! Ethernet. A word takes it four cycles; the next may wait in its buffer, whoever writes one more waits.
//! The STM32F7 takes other widths, polynomials, first values and orders of bits too; firmware that sets
//! any is told of, since only what both series have is modelled.

use crate::access::{Device, Moment, Time, Write};

/// The data register.
pub const DR: u32 = 0x00;
const IDR: u32 = 0x04;
const CR: u32 = 0x08;
const RESET: u32 = 1;

/// The polynomial, without its highest bit.
const POLYNOMIAL: u32 = 0x04c1_1db7;
/// Cycles of a word.
const WORD: u64 = 4;

/// What a byte in front of 24 zero bits leaves.
const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            rest = rest << 1 ^ if rest >> 31 != 0 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
}

/// The registers.
#[derive(Clone, Debug)]
pub struct Crc {
    rest: u32,
    /// Eight bits that firmware may keep here.
    kept: u32,
    /// When all words are done.
    free_at: Time,
    /// Bits of the result that are always 1.
    stuck: u32,
}

impl Default for Crc {
    fn default() -> Self {
        Self { rest: u32::MAX, kept: 0, free_at: Time(0), stuck: 0 }
    }
}

impl Crc {
    /// Makes bits of its result always 1.
    pub const fn stick(&mut self, bits: u32) {
        self.stuck = bits;
    }

    /// Takes a word; gives the cycles that the core waits until it can be written.
    pub fn take(&mut self, word: u32, now: Time) -> u64 {
        for byte in word.to_be_bytes() {
            let index = (self.rest >> 24) as u8 ^ byte;
            self.rest = self.rest << 8 ^ TABLE[usize::from(index)];
        }
        // One is worked on, and one more is in the buffer.
        let waits = self.free_at.since(now.after(WORD));
        let begins = Time(self.free_at.0.max(now.0));
        self.free_at = begins.after(WORD);
        waits
    }
}

impl Device for Crc {
    fn read(&mut self, offset: u32, _: Moment) -> Option<u32> {
        match offset {
            DR => Some(self.rest | self.stuck),
            IDR => Some(self.kept),
            CR => Some(0),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        match offset {
            DR if write.mask == u32::MAX => {
                self.take(write.value, at.now);
            }
            IDR => self.kept = write.over(self.kept) & 0xff,
            CR if write.value & !RESET == 0 => {
                if write.value & RESET != 0 {
                    self.rest = u32::MAX;
                }
            }
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: impl IntoIterator<Item = u32>) -> u32 {
        let mut unit = Crc::default();
        for word in words {
            unit.take(word, Time(0));
        }
        unit.rest
    }

    #[test]
    fn the_rest_is_that_of_the_published_checks() {
        // CRC-32/MPEG-2 of "1234", and CRC-32 of "12345678" by bits turned around.
        assert_eq!(of([0x3132_3334]), 0xa695_c4aa);
        let words = *b"12345678";
        let turned = words.chunks(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
        assert_eq!(!of(turned.map(u32::reverse_bits)).reverse_bits(), 0x9ae0_daaf);
    }

    #[test]
    fn whoever_writes_faster_than_four_cycles_a_word_waits() {
        let mut unit = Crc::default();
        let waits: Vec<u64> = [0, 0, 0, 4, 100].map(|now| unit.take(1, Time(now))).into();
        assert_eq!(waits, [0, 0, 4, 4, 0]);
    }
}
