//! What a step must wait for: the last accesses to each byte by the core and by an engine.

use std::collections::BTreeMap;
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
}

/// The last steps of each lane that read and wrote a run of bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    end: u64,
    read: [Option<u32>; 2],
    written: [Option<u32>; 2],
}

/// Accesses so far, in the order in which steps would run one after the other. A copy counts as one
/// of whole cache lines.
#[derive(Clone, Debug, Default)]
pub struct Hazards {
    spaces: [BTreeMap<u64, Last>; 6],
}

impl Hazards {
    /// Step `step` of `lane` reads or writes bytes of a space; gives the step of the other lane that
    /// must have ended before.
    pub fn access(
        &mut self,
        (lane, step): (Lane, u32),
        space: Space,
        range: Range<u64>,
        writes: bool,
    ) -> Option<u32> {
        if !space.is_writable() || range.is_empty() {
            return None;
        }
        let range = match lane {
            Lane::Core => range,
            Lane::Engine => range.start / LINE * LINE..range.end.next_multiple_of(LINE),
        };
        let runs = &mut self.spaces[space as usize];
        cut(runs, range.start);
        cut(runs, range.end);
        let (own, other) = (lane as usize, 1 - lane as usize);
        let mut waits = None;
        let mut gaps = Vec::new();
        let mut free = range.start;
        let mut count = 0;
        for (start, last) in runs.range_mut(range.clone()) {
            waits = waits.max(last.written[other]);
            if writes {
                waits = waits.max(last.read[other]);
            } else {
                last.read[own] = Some(step);
            }
            if free < *start {
                gaps.push(free..*start);
            }
            free = last.end;
            count += 1;
        }
        if writes {
            // Whoever comes after this step comes after all that it has waited for.
            let mut last = Last { end: range.end, ..Last::default() };
            last.written[own] = Some(step);
            if count == 1 && gaps.is_empty() && free == range.end {
                runs.insert(range.start, last);
                return waits;
            }
            while let Some((start, _)) = runs.range(range.clone()).next_back() {
                let start = *start;
                runs.remove(&start);
            }
            runs.insert(range.start, last);
            return waits;
        }
        if free < range.end {
            gaps.push(free..range.end);
        }
        for gap in gaps {
            let mut last = Last { end: gap.end, ..Last::default() };
            last.read[own] = Some(step);
            runs.insert(gap.start, last);
        }
        waits
    }
}

/// Makes runs end at `at`.
fn cut(runs: &mut BTreeMap<u64, Last>, at: u64) {
    let Some((_, last)) = runs.range_mut(..at).next_back() else { return };
    if last.end > at {
        let tail = *last;
        last.end = at;
        runs.insert(at, tail);
    }
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
}
