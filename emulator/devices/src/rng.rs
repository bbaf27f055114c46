//! The random number generator (RM0385 and RM0386, RNG): a number each 40 periods of its clock, which is the
//! 48 MHz of the card's controller. Numbers follow from how many there were, so that runs repeat: what looks like
//! noise to firmware is none.

use crate::access::{Device, Moment, Time, Write};

const CR: u32 = 0x00;
const SR: u32 = 0x04;
const DR: u32 = 0x08;
/// CR: numbers are made.
const RNGEN: u32 = 1 << 2;
/// CR: a number raises an interrupt, which is not modelled.
const IE: u32 = 1 << 3;
/// SR: a number is there; the clock is too slow, and was.
const DRDY: u32 = 1;
const CECS: u32 = 1 << 1;
const CEIS: u32 = 1 << 5;
/// Periods of the clock for a number.
const PERIODS: u64 = 40;

/// The registers.
#[derive(Clone, Debug, Default)]
pub struct Rng {
    control: u32,
    taken: u64,
    /// It gives its first number for ever.
    is_stuck: bool,
    /// When the next number is there.
    ready_at: Time,
}

impl Rng {
    /// Whether it makes numbers.
    pub const fn is_on(&self) -> bool {
        self.control & RNGEN != 0
    }

    /// Makes it give one number for ever.
    pub const fn stick(&mut self) {
        self.is_stuck = true;
    }

    fn started(&mut self, at: Moment) {
        let clocks = at.clocks;
        self.ready_at = at.now.after(clocks.cycles_of(PERIODS, clocks.card_hz()));
    }

    fn is_ready(&self, at: Moment) -> bool {
        self.control & RNGEN != 0 && self.ready_at <= at.now && at.clocks.card_hz() > 0
    }
}

/// Number `index` of a sequence without a pattern (Steele, Lea and Flood, 2014: SplitMix).
fn number(index: u64) -> u32 {
    let mut mixed = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ mixed >> 31) >> 32) as u32
}

impl Device for Rng {
    fn read(&mut self, offset: u32, at: Moment) -> Option<u32> {
        match offset {
            CR => Some(self.control),
            SR if at.clocks.card_hz() == 0 => Some(CECS | CEIS),
            SR => Some(if self.is_ready(at) { DRDY } else { 0 }),
            DR if self.is_ready(at) => {
                if !self.is_stuck {
                    self.taken += 1;
                }
                self.started(at);
                Some(number(self.taken))
            }
            DR => Some(0),
            _ => None,
        }
    }

    fn write(&mut self, offset: u32, write: Write, at: Moment) -> bool {
        match offset {
            CR if write.value & IE == 0 => {
                let was_on = self.control & RNGEN != 0;
                self.control = write.over(self.control) & RNGEN;
                if !was_on {
                    self.started(at);
                }
            }
            // Its flags are cleared by zeros; none is modelled that stays.
            SR => {}
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_differ_and_half_of_their_bits_are_set() {
        let numbers: Vec<u32> = (0..256).map(number).collect();
        let ones: u32 = numbers.iter().map(|number| number.count_ones()).sum();
        assert!((3_800..4_400).contains(&ones), "{ones}");
        assert!(numbers.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
