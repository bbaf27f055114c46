//! Lines of flash that an accelerator or a cache keeps, as far as time is concerned.

use tilewright_board::{FlashLines, Victim};

/// A line that holds nothing.
const EMPTY: u32 = u32::MAX;

/// Set-associative. Victims are drawn from a sequence that is the same each time.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Addresses of lines, in lines; set after set.
    lines: Vec<u32>,
    /// When each was used last.
    used: Vec<u64>,
    now: u64,
    /// The line that was used last.
    last: u32,
    ways: usize,
    victim: Victim,
    /// What the next victim is drawn from.
    drawn: u32,
    /// Sets less one: a mask.
    sets: u32,
    /// Bits of an address within a line.
    line_bits: u32,
}

impl Lines {
    /// Room for these lines, all empty; numbers of sets and bytes that are no powers of two are rounded
    /// down to one.
    #[must_use]
    pub fn new(kept: &FlashLines) -> Self {
        let ways = kept.ways.clamp(1, 256);
        let sets = 1u32 << (kept.lines / ways).max(1).ilog2();
        let places = sets as usize * ways as usize;
        Self {
            lines: vec![EMPTY; places],
            used: vec![0; places],
            now: 0,
            last: EMPTY,
            ways: ways as usize,
            victim: kept.victim,
            drawn: 1,
            sets: sets - 1,
            line_bits: kept.line_bytes.max(4).ilog2(),
        }
    }

    /// Bytes of a line.
    #[must_use]
    pub const fn line_bytes(&self) -> u32 {
        1 << self.line_bits
    }

    /// The line of an address is used; whether it was there. It is from now on.
    #[inline]
    pub fn uses(&mut self, address: u32) -> bool {
        let line = address >> self.line_bits;
        line == self.last || self.looks_for(line)
    }

    fn looks_for(&mut self, line: u32) -> bool {
        self.last = line;
        self.now += 1;
        let first = (line & self.sets) as usize * self.ways;
        let set = first..first + self.ways;
        let find = |wanted| self.lines[set.clone()].iter().position(|known| *known == wanted);
        let found = find(line);
        let place = found.or_else(|| find(EMPTY)).map_or_else(
            || match self.victim {
                Victim::Oldest => {
                    set.clone().min_by_key(|place| self.used[*place]).unwrap_or(first)
                }
                Victim::Drawn => first + (self.drawn >> 16) as usize % self.ways,
            },
            |place| first + place,
        );
        if found.is_none() {
            // A linear congruential generator (Knuth; Numerical Recipes).
            self.drawn = self.drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        self.lines[place] = line;
        self.used[place] = self.now;
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept(lines: u32, line_bytes: u32, ways: u32, victim: Victim) -> Lines {
        Lines::new(&FlashLines { line_bytes, lines, ways, victim })
    }

    #[test]
    fn the_line_that_was_used_longest_ago_goes() {
        let mut lines = kept(2, 16, 2, Victim::Oldest);
        assert_eq!([0, 15, 16, 0].map(|at| lines.uses(at)), [false, true, false, true]);
        // The third takes the place of the second.
        assert_eq!([32, 0, 16].map(|at| lines.uses(at)), [false, true, false]);
    }

    #[test]
    fn lines_of_other_sets_do_not_meet() {
        let mut lines = kept(128, 32, 2, Victim::Oldest);
        for line in 0..128 {
            assert!(!lines.uses(line * 32));
        }
        for line in 0..128 {
            assert!(lines.uses(line * 32 + 31));
        }
        assert!(!lines.uses(4096) && !lines.uses(0));
    }

    #[test]
    fn of_a_loop_that_is_too_long_some_lines_stay_where_victims_are_drawn() {
        for (victim, least, most) in [(Victim::Oldest, 300, 300), (Victim::Drawn, 100, 250)] {
            let mut lines = kept(64, 32, 2, victim);
            // Three lines of one set, over and over, while others bring lines of another.
            let mut missed = 0;
            for turn in 0..100u32 {
                for line in 0..3 {
                    missed += u32::from(!lines.uses(line * 1024));
                }
                lines.uses(32 + turn * 1024);
            }
            assert!((least..=most).contains(&missed), "{victim:?}: {missed}");
        }
    }

    proptest! {
        /// With one set, what was used among the last lines is there, and nothing else.
        #[test]
        fn the_last_lines_are_kept(used in proptest::collection::vec(0u32..12, 1..200)) {
            let mut lines = kept(8, 16, 8, Victim::Oldest);
            let mut kept: Vec<u32> = Vec::new();
            for line in used {
                prop_assert_eq!(lines.uses(line * 16 + 5), kept.contains(&line));
                kept.retain(|known| *known != line);
                kept.push(line);
                if kept.len() > 8 {
                    kept.remove(0);
                }
            }
        }
    }
}
