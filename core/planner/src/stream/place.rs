//! Places in SRAM for weights, each from as early as there is room for it.

use super::network::LINE;

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
    /// Of these, what meets the place that is looked for.
    meets: Vec<Taken>,
    /// Nothing comes before this step any more.
    floor: u32,
}

impl Room {
    /// So many bytes, all of them free.
    pub const fn new(bytes: u64) -> Self {
        Self { bytes, taken: Vec::new(), longest: Vec::new(), meets: Vec::new(), floor: 0 }
    }

    /// Bytes that are known to be in use.
    pub fn take(&mut self, taken: Taken) {
        self.taken.push(taken);
        let at = self.longest.partition_point(|known| known.last >= taken.last);
        self.longest.insert(at, taken);
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
        let meets = |taken: &&Taken| taken.first <= last;
        self.meets.clear();
        self.meets.extend(self.longest.iter().filter(meets));
        // A step is over before the next begins: from the step after the last that needs a byte, it
        // is free.
        let mut best: Option<Taken> = None;
        let starts = self.taken.iter().filter(meets).map(|taken| taken.end);
        for start in std::iter::once(0).chain(starts) {
            let end = start.saturating_add(bytes);
            if end > self.bytes {
                continue;
            }
            let is_over = |taken: &&Taken| taken.start < end && start < taken.end;
            let longest = self.meets.iter().find(is_over);
            let from = longest.map_or(floor, |taken| taken.last.saturating_add(1)).max(floor);
            if from <= first && best.is_none_or(|best| from < best.first) {
                best = Some(Taken { start, end, first: from, last });
                if from == floor {
                    break;
                }
            }
        }
        let best = best?;
        self.floor = best.first;
        self.take(best);
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
