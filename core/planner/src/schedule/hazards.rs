//! What a step must wait for: the last accesses to each byte by the core and by engines.
//!
//! Waits are found as if all steps ran one after the other, so lanes overlap wherever nothing forbids it, across the borders
//! of layers too.

use std::ops::Range;

use super::sequence::LaneId;
use crate::strategy::external::LINE;
use tilewright_plan::Space;

/// Most lanes of a sequence: a step names three others.
const LANES: usize = 4;

/// Of each lane the step that must have ended; nothing of the lane that waits.
pub type Waits = [Option<u32>; LANES];

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
    /// Of each space its pages, and of each page runs of bytes in order, none of which overlap: programs of several
    /// frames have tens of thousands.
    spaces: [Vec<Vec<Last>>; 6],
}

/// Bytes of a page, and most pages: the last one has all bytes behind it, since a recipe may name places that no
/// memory has.
const PAGE: u64 = 16 << 10;
const PAGES: usize = 1 << 14;

impl Hazards {
    /// Step `step` of `lane` reads or writes bytes of a space; gives the steps of the other lanes that must have
    /// ended before.
    pub fn access(
        &mut self,
        (lane, step): (LaneId, u32),
        space: Space,
        range: Range<u64>,
        writes: bool,
    ) -> Waits {
        let mut waits = Waits::default();
        if !space.is_writable() || range.is_empty() {
            return waits;
        }
        let range = match lane {
            LaneId::CORE => range,
            _ => range.start / LINE * LINE..range.end.next_multiple_of(LINE),
        };
        let own = usize::from(lane.0);
        let pages = &mut self.spaces[space as usize];
        let page = |at: u64| usize::try_from(at / PAGE).map_or(PAGES - 1, |at| at.min(PAGES - 1));
        let [first, last] = [range.start, range.end - 1].map(page);
        pages.resize_with(pages.len().max(last + 1), Vec::new);
        for (page, runs) in (first..=last).zip(&mut pages[first..]) {
            let start = page as u64 * PAGE;
            let end = if page == last { range.end } else { start + PAGE };
            let within = range.start.max(start)..end;
            later(&mut waits, access_in(runs, within, (own, step), writes));
        }
        waits[own] = None;
        waits
    }
}

/// A step of a lane reads or writes bytes of a page; gives the steps of all lanes that must have ended before.
fn access_in(
    runs: &mut Vec<Last>,
    range: Range<u64>,
    (own, step): (usize, u32),
    writes: bool,
) -> Waits {
    let mut waits = Waits::default();
    let first = cut(runs, range.start);
    let end = cut(runs, range.end);
    for last in &runs[first..end] {
        later(&mut waits, last.written);
        if writes {
            later(&mut waits, last.read);
        }
    }
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
        let mut access = |lane, step, space, range, writes| {
            let waits = hazards.access((lane, step), space, range, writes);
            waits.into_iter().flatten().max()
        };
        let (core, engine, arena) = (LaneId::CORE, LaneId::CARD, Space::Arena);
        assert_eq!(access(engine, 0, arena, 0..64, true), None);
        assert_eq!(access(core, 0, arena, 10..20, false), Some(0));
        assert_eq!(access(core, 1, arena, 64..80, true), None);
        assert_eq!(access(engine, 1, arena, 0..20, false), None);
        assert_eq!(access(engine, 2, arena, 32..40, true), None);
        assert_eq!(access(engine, 3, arena, 0..5, true), Some(0), "whole lines");
        assert_eq!(access(core, 2, arena, 0..80, false), Some(3));
        assert_eq!(access(core, 3, Space::ExternalRam, 0..80, true), None);
    }

    #[test]
    fn places_on_many_pages_and_behind_all_are_waited_for() {
        let mut hazards = Hazards::default();
        let far = PAGES as u64 * PAGE;
        let mut access = |lane, step, range, writes| {
            let waits = hazards.access((lane, step), Space::ExternalRam, range, writes);
            waits.into_iter().flatten().max()
        };
        let (core, engine) = (LaneId::CORE, LaneId::DMA);
        assert_eq!(access(engine, 0, PAGE - 32..PAGE + 32, true), None);
        assert_eq!(access(engine, 1, 5 * far..5 * far + 32, true), None);
        assert_eq!(access(core, 0, PAGE - 1..PAGE, false), Some(0));
        assert_eq!(access(core, 1, PAGE..PAGE + 1, false), Some(0));
        assert_eq!(access(core, 2, 2 * PAGE..4 * far, false), None);
        assert_eq!(access(core, 3, 0..1 << 60, false), Some(1));
        assert_eq!(access(engine, 2, 3 * far..3 * far + 1, true), Some(3));
        assert!(hazards.spaces.iter().all(|pages| pages.len() <= PAGES));
    }

    #[test]
    fn of_several_engines_each_is_waited_for() {
        let mut hazards = Hazards::default();
        let mut access =
            |lane, range, writes| hazards.access((lane, 7), Space::Arena, range, writes);
        assert_eq!(access(LaneId::CARD, 0..32, true), [None; LANES]);
        assert_eq!(access(LaneId::DMA, 32..64, true), [None; LANES]);
        assert_eq!(access(LaneId::CORE, 0..64, false), [None, Some(7), Some(7), None]);
        assert_eq!(access(LaneId::DMA, 0..32, true), [Some(7), Some(7), None, None]);
    }
}
