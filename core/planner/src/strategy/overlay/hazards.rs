//! What a step must wait for: the last accesses to each byte by the core and by engines.

use std::ops::Range;

use crate::strategy::external::LINE;
use tilewright_plan::Space;

/// Who runs a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// The core.
    Core = 0,
    /// DMA, or the card's controller.
    Engine = 1,
    /// DMA beside the card's controller.
    Second = 2,
}

/// Of each lane the step that must have ended; nothing of the lane that waits.
pub type Waits = [Option<u32>; 3];

/// The last steps of each lane that read and wrote a run of bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    start: u64,
    end: u64,
    read: Waits,
    written: Waits,
}

/// Accesses so far, in the order in which steps would run one after the other. A copy counts as one
/// of whole cache lines.
#[derive(Clone, Debug, Default)]
pub struct Hazards {
    /// Of each space runs of bytes in order, none of which overlap.
    spaces: [Vec<Last>; 6],
}

impl Hazards {
    /// Step `step` of `lane`, of a program with the core and one engine, reads or writes bytes of a space; gives
    /// the step of the other lane that must have ended before.
    pub fn access(
        &mut self,
        step: (Lane, u32),
        space: Space,
        range: Range<u64>,
        writes: bool,
    ) -> Option<u32> {
        self.access_of_all(step, space, range, writes).into_iter().flatten().max()
    }

    /// The same of programs with several engines; gives the steps of the other lanes.
    pub fn access_of_all(
        &mut self,
        (lane, step): (Lane, u32),
        space: Space,
        range: Range<u64>,
        writes: bool,
    ) -> Waits {
        let mut waits = Waits::default();
        if !space.is_writable() || range.is_empty() {
            return waits;
        }
        let range = match lane {
            Lane::Core => range,
            Lane::Engine | Lane::Second => {
                range.start / LINE * LINE..range.end.next_multiple_of(LINE)
            }
        };
        let runs = &mut self.spaces[space as usize];
        let first = cut(runs, range.start);
        let end = cut(runs, range.end);
        let own = lane as usize;
        for last in &runs[first..end] {
            later(&mut waits, last.written);
            if writes {
                later(&mut waits, last.read);
            }
        }
        waits[own] = None;
        if writes {
            // Whoever comes after this step comes after all that it has waited for.
            let mut last = Last { start: range.start, end: range.end, ..Last::default() };
            last.written[own] = Some(step);
            replace(runs, first..end, last);
            return waits;
        }
        let mut free = range.start;
        let mut at = first;
        while free < range.end {
            let next = runs.get(at).map_or(range.end, |last| last.start.min(range.end));
            if free < next {
                let gap = Last { start: free, end: next, ..Last::default() };
                runs.insert(at, gap);
            }
            let last = &mut runs[at];
            last.read[own] = Some(step);
            free = last.end;
            at += 1;
        }
        waits
    }
}

/// One run takes the place of some, or of none.
fn replace(runs: &mut Vec<Last>, old: Range<usize>, new: Last) {
    match old.len() {
        0 => runs.insert(old.start, new),
        _ => {
            runs[old.start] = new;
            runs.drain(old.start + 1..old.end);
        }
    }
}

/// Whoever waits for both waits for the later step of each lane.
pub fn later(waits: &mut Waits, others: Waits) {
    for (waits, other) in waits.iter_mut().zip(others) {
        *waits = (*waits).max(other);
    }
}

/// Makes runs end at `at`; the number of those before it.
fn cut(runs: &mut Vec<Last>, at: u64) -> usize {
    let before = runs.partition_point(|last| last.start < at);
    let Some(last) = before.checked_sub(1).map(|index| &mut runs[index]) else { return 0 };
    if last.end > at {
        let tail = Last { start: at, ..*last };
        last.end = at;
        runs.insert(before, tail);
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_waits_for_what_it_would_disturb_and_no_more() {
        let mut hazards = Hazards::default();
        let arena = Space::Arena;
        assert_eq!(hazards.access((Lane::Engine, 0), arena, 0..64, true), None);
        assert_eq!(hazards.access((Lane::Core, 0), arena, 10..20, false), Some(0));
        assert_eq!(hazards.access((Lane::Core, 1), arena, 64..80, true), None);
        assert_eq!(hazards.access((Lane::Engine, 1), arena, 0..20, false), None);
        assert_eq!(hazards.access((Lane::Engine, 2), arena, 32..40, true), None);
        assert_eq!(hazards.access((Lane::Engine, 3), arena, 0..5, true), Some(0), "whole lines");
        assert_eq!(hazards.access((Lane::Core, 2), arena, 0..80, false), Some(3));
        assert_eq!(hazards.access((Lane::Core, 3), Space::ExternalRam, 0..80, true), None);
    }

    #[test]
    fn of_several_engines_each_is_waited_for() {
        let mut hazards = Hazards::default();
        let mut access =
            |lane, range, writes| hazards.access_of_all((lane, 7), Space::Arena, range, writes);
        assert_eq!(access(Lane::Engine, 0..32, true), [None; 3]);
        assert_eq!(access(Lane::Second, 32..64, true), [None; 3]);
        assert_eq!(access(Lane::Core, 0..64, false), [None, Some(7), Some(7)]);
        assert_eq!(access(Lane::Second, 0..32, true), [Some(7), Some(7), None]);
    }
}
