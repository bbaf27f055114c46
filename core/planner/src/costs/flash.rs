//! What the core waits for internal flash: for code, as calibration found it, and for constants, by how
//! often kernels go through them.
//!
//! A convolution goes through all of its weights for every four pixels; whoever goes through more than is
//! kept finds little of it the next time.

use tilewright_board::{Board, Victim};
use tilewright_plan::{Op, Pass, Role, Space, View};

use super::file::{Costs, Flash, KernelCost};
use super::{Before, Feature};

/// Lines of a set above its ways with which, gone through in turn, none is found again.
const MANY: u64 = 10;

impl Flash {
    /// That of a board, if it is known and the core's costs leave it out.
    pub(super) fn of(board: &Board, costs: &Costs) -> Option<Self> {
        let waits = board.flash_waits().filter(|_| costs.code_miss > 0)?;
        let constants = waits.constants;
        Some(Self {
            miss: waits.miss().into(),
            line_bytes: constants.line_bytes.max(1).into(),
            lines: constants.lines.into(),
            ways: constants.ways.max(1).into(),
            oldest: constants.victim == Victim::Oldest,
        })
    }

    /// Cycles that a step waits for code; where its kernel was calibrated, a line took `code_miss`.
    pub(super) fn code(
        &self,
        cost: &KernelCost,
        features: &[Feature],
        code_miss: u64,
        before: Before,
    ) -> u64 {
        cost.code_waits(features, before) * self.miss / code_miss.max(1)
    }

    /// Cycles that a step waits for constants.
    pub(super) fn constants(&self, op: &Op, operands: &[View], features: &[Feature]) -> u64 {
        let Some(kernel) = op.kernel() else { return 0 };
        let in_flash =
            |view: &View| matches!(view.space(), Some(Space::Weights | Space::Constants));
        let bytes = |wanted: fn(Role) -> bool| -> u64 {
            let operands = kernel.roles().iter().zip(operands);
            let there = operands.filter(|(role, view)| wanted(**role) && in_flash(view));
            there.map(|(_, view)| view.elements()).sum()
        };
        let lines = |bytes: u64| bytes.div_ceil(self.line_bytes);
        let value = |name| features.iter().find(|(known, _)| *known == name).map(|(_, v)| *v);
        let once = lines(bytes(|role| role == Role::Input));
        let walked = bytes(|role| matches!(role, Role::Weights | Role::Constants));
        let passes = kernel.spec().passes;
        let missed = match (passes.weights, passes.constants) {
            (Pass::Once, Pass::Results(_)) => {
                self.drawn_from(lines(walked), value("elements").unwrap_or(0))
            }
            (Pass::Fours | Pass::Products(_), _) => {
                let passes = ["fours", "tile_fours", "pixels"].into_iter().find_map(value);
                let passes = passes.unwrap_or(1) + value("apart").unwrap_or(0);
                self.over_and_over(lines(walked), passes)
            }
            _ => lines(walked),
        };
        (missed + once) * self.miss
    }

    /// Lines that are missed when so many are gone through that often.
    fn over_and_over(&self, lines: u64, passes: u64) -> u64 {
        let sets = (self.lines / self.ways).max(1);
        // So many sets have one line more than the others.
        let (each, more) = (lines / sets, lines % sets);
        let of = |lines: u64| lines * self.missed_permille(lines);
        let again = (more * of(each + 1) + (sets - more) * of(each)) / 1000;
        lines + passes.saturating_sub(1) * again
    }

    /// Lines that are missed when reads fall on any of them alike.
    fn drawn_from(&self, lines: u64, reads: u64) -> u64 {
        let out = lines.saturating_sub(self.lines);
        lines.min(reads) + reads * out / lines.max(1)
    }

    /// Of a thousand reads of lines of a set that are gone through in turn, those that miss.
    fn missed_permille(&self, lines: u64) -> u64 {
        let more = lines.saturating_sub(self.ways);
        if more == 0 || self.oldest || more > MANY {
            return if more == 0 { 0 } else { 1000 };
        }
        // Of two ways, the line that was not read last is found again if none of the lines before it took
        // its place, each of which does so every other time: of n + 2 lines one in 2^(n + 1) - 1 is. More
        // ways are taken to be no better.
        1000 - 1000 / ((2 << more) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flash(lines: u64, ways: u64, oldest: bool) -> Flash {
        Flash { miss: 5, line_bytes: 16, lines, ways, oldest }
    }

    #[test]
    fn what_is_longer_than_what_is_kept_is_missed_each_time() {
        let flash = flash(8, 8, true);
        assert_eq!([8, 9].map(|lines| flash.over_and_over(lines, 10)), [8, 90]);
    }

    #[test]
    fn victims_that_are_drawn_leave_some() {
        let flash = flash(64, 2, false);
        assert_eq!(flash.over_and_over(64, 10), 64);
        // Three lines in each of 32 sets: a third is there. Four: a seventh.
        assert_eq!(flash.over_and_over(96, 1001) - 96, 64 * 1000);
        assert_eq!(flash.over_and_over(128, 1001) - 128, 109 * 1000);
        assert_eq!(flash.over_and_over(640, 101) - 640, 64_000);
    }

    #[test]
    fn reads_of_a_table_miss_by_what_is_not_kept() {
        let flash = flash(8, 8, true);
        assert_eq!(flash.drawn_from(16, 1000), 16 + 500);
        assert_eq!(flash.drawn_from(8, 1000), 8);
    }
}
