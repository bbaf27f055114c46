//! Places in SRAM for weights, each from as early as there is room for it.

use crate::strategy::external::LINE;

/// Bytes that are in use between two steps of the core.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// The step before which they must be free.
    pub first: u32,
    /// The last step that needs them.
    pub last: u32,
}

/// SRAM over the steps of the core. Places are taken in the order in which they are needed.
#[derive(Clone, Debug)]
pub struct Room {
    bytes: u64,
    taken: Vec<Taken>,
    /// The same, those that are needed longest first.
    longest: Vec<Taken>,
    /// Nothing comes before this step any more.
    floor: u32,
}

/// Where a place may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Start {
    at: u64,
    /// Of two that are free as early, the first is taken.
    order: u32,
}

impl Room {
    /// So many bytes, all of them free.
    pub const fn new(bytes: u64) -> Self {
        Self { bytes, taken: Vec::new(), longest: Vec::new(), floor: 0 }
    }

    /// Bytes that are known to be in use.
    pub fn take(&mut self, taken: Taken) {
        self.taken.push(taken);
        let at = self.longest.partition_point(|known| known.last >= taken.last);
        self.longest.insert(at, taken);
    }

    /// Units of work that the next place takes at most.
    pub const fn work(&self) -> u64 {
        10 * self.taken.len() as u64
    }

    /// Nothing comes before this step any more.
    pub fn none_before(&mut self, step: u32) {
        self.floor = self.floor.max(step);
    }

    /// A place for `bytes` that steps `first` to `last` need, free from the earliest step on that any
    /// place is; nothing if there is none.
    pub fn place(&mut self, bytes: u64, [first, last]: [u32; 2]) -> Option<Taken> {
        let floor = self.floor;
        let over = self.longest.partition_point(|taken| taken.last >= floor);
        if over < self.longest.len() {
            self.longest.truncate(over);
            self.taken.retain(|taken| taken.last >= floor);
        }
        let bytes = bytes.next_multiple_of(LINE);
        let starts = self.starts(bytes, last);
        let mut best: Option<(u32, Start)> = None;
        let mut consider = |from: u32, start: Start| {
            let is_better = |best: &(u32, Start)| (from, start.order) < (best.0, best.1.order);
            if from <= first && best.as_ref().is_none_or(is_better) {
                best = Some((from, start));
            }
        };
        // A step is over before the next begins: from the step after the last that needs a byte, it
        // is free. The one that is needed longest settles all places that it meets.
        let mut open = Open::all(starts.len());
        for taken in self.longest.iter().filter(|taken| taken.first <= last) {
            let mut next = starts.partition_point(|start| start.at + bytes <= taken.start);
            loop {
                next = open.from(next);
                let Some(start) = starts.get(next).filter(|start| start.at < taken.end) else {
                    break;
                };
                consider(taken.last.saturating_add(1).max(floor), *start);
                open.close(next);
            }
            if open.left == 0 {
                break;
            }
        }
        let mut next = open.from(0);
        while let Some(start) = starts.get(next) {
            consider(floor, *start);
            next = open.from(next + 1);
        }
        let (from, Start { at, .. }) = best?;
        let best = Taken { start: at, end: at + bytes, first: from, last };
        self.floor = best.first;
        self.take(best);
        Some(best)
    }

    /// Where so many bytes may start that are needed up to step `last`, the lowest first: at the
    /// beginning and behind what is taken.
    fn starts(&self, bytes: u64, last: u32) -> Vec<Start> {
        let behind = self.taken.iter().filter(|taken| taken.first <= last).map(|taken| taken.end);
        let starts = std::iter::once(0).chain(behind).zip(0..);
        let mut starts: Vec<Start> = starts
            .filter(|(at, _)| at.saturating_add(bytes) <= self.bytes)
            .map(|(at, order)| Start { at, order })
            .collect();
        starts.sort_unstable();
        starts
    }
}

/// Which of a row of things are open, found without looking at those that are not.
struct Open {
    /// Of each the next that may be open: itself if it is.
    next: Vec<usize>,
    left: usize,
}

impl Open {
    fn all(count: usize) -> Self {
        Self { next: (0..=count).collect(), left: count }
    }

    /// The first that is open from `at` on; as many as there are if none is.
    fn from(&mut self, mut at: usize) -> usize {
        at = at.min(self.next.len() - 1);
        while self.next[at] != at {
            self.next[at] = self.next[self.next[at]];
            at = self.next[at];
        }
        at
    }

    fn close(&mut self, at: usize) {
        self.next[at] = at + 1;
        self.left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By definition: each place in turn, held against all that is taken.
    fn by_definition(
        room: &Room,
        known: &[Taken],
        bytes: u64,
        [first, last]: [u32; 2],
    ) -> Option<Taken> {
        let known = || known.iter().filter(|taken| taken.last >= room.floor && taken.first <= last);
        let mut best: Option<Taken> = None;
        for start in std::iter::once(0).chain(known().map(|taken| taken.end)) {
            let end = start + bytes.next_multiple_of(LINE);
            let meets = known().filter(|taken| taken.start < end && start < taken.end);
            let from = meets.map(|taken| taken.last + 1).max().unwrap_or(0).max(room.floor);
            let is_better = best.is_none_or(|best| from < best.first);
            if end <= room.bytes && from <= first && is_better {
                best = Some(Taken { start, end, first: from, last });
            }
        }
        best
    }

    proptest! {
        #[test]
        fn places_are_those_of_the_definition(
            held in prop::collection::vec((0u64..12, 1u64..6, 0u32..9, 0u32..9), 0..6),
            loads in prop::collection::vec((0u64..200, 0u32..4, 0u32..5, 0u32..3), 0..24),
        ) {
            let mut room = Room::new(16 * LINE);
            let mut known = Vec::new();
            for (start, length, first, more) in held {
                let [start, end] = [start, start + length].map(|line| line * LINE);
                known.push(Taken { start, end, first, last: first + more });
                room.take(known[known.len() - 1]);
            }
            let mut step = 0;
            for (bytes, ahead, more, before) in loads {
                step += ahead;
                room.none_before(step.saturating_sub(before));
                let uses = [step, step + more];
                let wanted = by_definition(&room, &known, bytes, uses);
                let found = room.place(bytes, uses);
                let plain = |taken: &Taken| (taken.start, taken.end, taken.first, taken.last);
                prop_assert_eq!(found.as_ref().map(plain), wanted.as_ref().map(plain));
                known.extend(found);
            }
        }
    }

    #[test]
    fn a_place_is_taken_as_soon_as_it_is_free_and_never_twice() {
        let mut room = Room::new(128);
        room.take(Taken { start: 0, end: 64, first: 0, last: 4 });
        let mut place = |first, last| {
            let found = room.place(64, [first, last]);
            found.map(|taken| (taken.start, taken.first))
        };
        assert_eq!(place(0, 0), Some((64, 0)));
        assert_eq!(place(1, 1), Some((64, 1)), "the other half is not free before step 5");
        assert_eq!(place(6, 9), Some((64, 2)));
        assert_eq!(place(7, 9), Some((0, 5)));
        assert_eq!(place(8, 8), None);
    }

    #[test]
    fn what_will_be_needed_later_is_kept_free() {
        let mut room = Room::new(96);
        room.take(Taken { start: 0, end: 64, first: 5, last: 9 });
        assert_eq!(room.place(32, [1, 6]).map(|taken| taken.start), Some(64));
        assert_eq!(room.place(32, [2, 3]).map(|taken| taken.start), Some(0));
        assert_eq!(room.place(64, [4, 5]).map(|taken| taken.start), None);
    }
}
