//! What the SDRAM of the boards needs of the controller: an MT48LC4M32B2 of the grade -6A (data sheet, table 18, and
//! the limits of the FMC's clock, DS10916 and DS11189, SDRAM timings).

use super::{Fmc, SDCR, SDRTR};
use crate::clocks::Clocks;

/// SDTR1; SDTR2 is behind it.
const SDTR: u32 = 0x148;
/// Picoseconds that the memory's rows may wait for their refresh: 64 ms of 4096.
const REFRESH_PS: u64 = 15_625_000;
/// The least number that the controller refreshes by (RM0385, 13.7.5; RM0386, 12.7.5).
const LEAST_COUNT: u32 = 41;
const LATE: &str = "SDRTR lets the SDRAM's rows wait longer than 15.625 us (64 ms for 4096 of them; MT48LC4M32B2 data \
                    sheet): a board's memory forgets";
const DENSE: &str =
    "SDRTR is less than 41, which the manual forbids (RM0385, 13.7.5; RM0386, 12.7.5)";
const FAST: &str = "the SDRAM's clock is faster than the FMC's pins are made for, 100 MHz on the STM32F746 and 90 MHz on \
                    the STM32F469 (DS10916 and DS11189, SDRAM timings): a board reads other bits now and then; divide HCLK \
                    by 3 (SDCR1.SDCLK)";

/// A field of SDTR: its first bit, nanoseconds and clocks that it has to last, and what is wrong if it does not.
type Field = (u32, u64, u64, &'static str);

const FIELDS: [Field; 7] = [
    (
        0,
        0,
        2,
        "SDTR.TMRD is shorter than 2 clocks: a board's SDRAM misses the command behind its mode",
    ),
    (
        4,
        67,
        0,
        "SDTR.TXSR is shorter than 67 ns: a board's SDRAM misses commands behind self refresh",
    ),
    (8, 42, 0, "SDTR.TRAS is shorter than 42 ns: a board's SDRAM loses rows"),
    (12, 60, 0, "SDTR1.TRC is shorter than 60 ns: a board's SDRAM loses rows"),
    (
        16,
        12,
        2,
        "SDTR.TWR is shorter than 12 ns or 2 clocks: a board's SDRAM loses the last words that are written",
    ),
    (20, 18, 0, "SDTR1.TRP is shorter than 18 ns: a board's SDRAM opens rows wrongly"),
    (24, 18, 0, "SDTR.TRCD is shorter than 18 ns: a board's SDRAM reads columns of no row"),
];

impl Fmc {
    /// Sets the fastest clock of SDRAM, in hertz.
    pub const fn limit_sdram(&mut self, hertz: u64) {
        self.fastest = Some(hertz);
    }

    /// Frequency of SDRAM's clock; 0 if it is off.
    fn sdram_hz(&self, clocks: Clocks) -> u64 {
        match self.get(SDCR) >> 10 & 3 {
            divider @ (2 | 3) => clocks.core_hz() / u64::from(divider),
            _ => 0,
        }
    }

    /// What is wrong with the settings of bank 1 (0) or 2 (1) when its memory's mode is loaded.
    pub(super) fn wrong_timing(&self, bank: usize, clocks: Clocks) -> Option<&'static str> {
        let hertz = self.sdram_hz(clocks);
        if self.fastest.is_some_and(|fastest| hertz > fastest) {
            return Some(FAST);
        }
        let own = self.get(SDTR + 4 * bank as u32);
        let is_short = |&(shift, nanoseconds, clocks, _): &Field| {
            // Both banks have TRC and TRP of the first.
            let word = if matches!(shift, 12 | 20) { self.get(SDTR) } else { own };
            let lasts = u64::from(word >> shift & 15) + 1;
            lasts < clocks || lasts * 1_000_000_000 < nanoseconds * hertz
        };
        FIELDS.iter().find(|field| is_short(field)).map(|(.., what)| *what)
    }

    /// What is wrong with the rate of refreshes.
    pub(super) fn wrong_refresh(&self, clocks: Clocks) -> Option<&'static str> {
        let (count, hertz) = (self.get(SDRTR) >> 1 & 0x1fff, self.sdram_hz(clocks));
        if count == 0 || hertz == 0 {
            return None;
        }
        if count < LEAST_COUNT {
            return Some(DENSE);
        }
        let waits = (u64::from(count) + 1) * 1_000_000_000_000 / hertz;
        (waits > REFRESH_PS).then_some(LATE)
    }
}
