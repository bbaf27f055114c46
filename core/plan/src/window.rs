//! How inputs get to a card: through bytes of the arena, while they arrive.
//!
//! The window is bytes that nothing needs between two runs, in two halves: the console fills one while the card's driver writes the
//! other. A run begins when all is stored, so no prediction knows of it. Half of 16 KiB takes longer to arrive than a card is ever busy.

use crate::view::{Space, Span, View};

/// Bytes of a sector.
const SECTOR: u32 = 512;

/// Bytes of the arena through which a program's inputs go to a card, in two halves: while one is written, the other
/// fills. Nothing else lies there between two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(deny_unknown_fields))]
pub struct Window {
    /// Offset in the arena of the first, a multiple of [`Window::ALIGNMENT`].
    pub offset: u32,
    /// How many, a multiple of [`Window::UNIT`].
    pub bytes: u32,
}

/// What happens next to an input that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Its next bytes go here.
    Bytes(View),
    /// What has arrived goes from the arena to the card.
    Store {
        /// Where it is.
        from: Span,
        /// Where it goes.
        to: Span,
    },
}

/// How an input arrives, step by step.
#[derive(Clone, Copy, Debug)]
pub struct Arrivals {
    input: View,
    window: Window,
    /// Bytes of the input, of those from its first to its last, that have arrived or are none of its rows'.
    arrived: u32,
    /// How many of these were stored.
    stored: u32,
    /// All of them.
    total: u32,
}

impl Window {
    /// It has lines of the cache for itself.
    pub const ALIGNMENT: u32 = 32;
    /// A sector in each half.
    pub const UNIT: u32 = 2 * SECTOR;

    /// First byte of the arena behind it.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.offset as u64 + self.bytes as u64
    }

    /// Whether it begins at a line and has two halves of whole sectors.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.bytes > 0
            && self.bytes.is_multiple_of(Self::UNIT)
            && self.offset.is_multiple_of(Self::ALIGNMENT)
    }

    /// Whether bytes of the arena share some with it.
    #[must_use]
    pub const fn meets(&self, start: u64, end: u64) -> bool {
        start < self.end() && (self.offset as u64) < end
    }

    /// Whether an input lies on a card such that it can be written there: from a sector on, its rows one behind the
    /// other or each from a sector on.
    #[must_use]
    pub fn takes(input: &View) -> bool {
        let row = u64::from(input.w) * u64::from(input.c);
        input.space() == Some(Space::Card)
            && input.column_pitch == input.c
            && (input.first_row, input.ring_rows) == (0, input.h)
            && input.offset.is_multiple_of(SECTOR)
            && (u64::from(input.row_pitch) == row || input.row_pitch.is_multiple_of(SECTOR))
    }

    /// First byte of the card behind the sectors of an input.
    #[must_use]
    pub const fn end_of(input: &View) -> u64 {
        (input.offset as u64 + input.extent()).next_multiple_of(SECTOR as u64)
    }
}

impl Arrivals {
    /// Of an input; of one that does not lie on a card, or where there is no window, all bytes at once.
    #[must_use]
    pub fn of(input: View, window: Option<Window>) -> Self {
        let on_card = input.space() == Some(Space::Card);
        let window = window.filter(|window| on_card && window.is_whole());
        let total = u32::try_from(input.extent()).unwrap_or(u32::MAX);
        Self {
            input,
            window: window.unwrap_or(Window { offset: 0, bytes: 0 }),
            arrived: 0,
            stored: 0,
            total,
        }
    }

    /// The place in the arena of the byte after those that were stored.
    const fn half(&self) -> u32 {
        let half = self.window.bytes / 2;
        self.window.offset + self.stored / half % 2 * half
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let Self { input, window, total, .. } = *self;
        if window.bytes == 0 {
            let is_new = self.arrived == 0;
            self.arrived = total.max(1);
            return is_new.then_some(Arrival::Bytes(input));
        }
        if self.stored >= total {
            return None;
        }
        let end = total.min(self.stored.saturating_add(window.bytes / 2));
        let row = u32::from(input.w) * input.c;
        while self.arrived < end {
            let (at, column) = (self.arrived, self.arrived % input.row_pitch);
            let (is_row, left) = match row.checked_sub(column).filter(|left| *left > 0) {
                Some(left) => (true, left),
                None => (false, input.row_pitch - column),
            };
            let bytes = left.min(end - at);
            self.arrived += bytes;
            if is_row {
                let place = self.half() + (at - self.stored);
                return Some(Arrival::Bytes(View::bytes(Space::Arena, place, bytes)));
            }
        }
        let bytes = (end - self.stored).next_multiple_of(SECTOR);
        let span = |space: Space, offset: u32| Span {
            offset,
            rows: 1,
            row_bytes: bytes,
            pitch: bytes,
            space: space as u8,
            reserved: [0; 3],
        };
        let from = span(Space::Arena, self.half());
        let to = span(Space::Card, input.offset + self.stored);
        self.stored = end;
        Some(Arrival::Store { from, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn input(rows: u16, columns: u16, channels: u32, pitch: Option<u32>) -> View {
        let whole = View::whole(Space::Card, 3 * SECTOR, rows, columns, channels);
        View { row_pitch: pitch.unwrap_or(whole.row_pitch), ..whole }
    }

    proptest! {
        /// Whatever its rows, each byte of an input gets to where its view has it, through a half that was stored.
        #[test]
        fn all_bytes_get_to_their_places(
            (rows, columns, channels) in (1u16..9, 1u16..400, 1u32..7),
            (halves, apart, offset) in (1u32..5, any::<bool>(), 0u32..3),
        ) {
            let row = u32::from(columns) * channels;
            let pitch = apart.then(|| row.next_multiple_of(SECTOR));
            let input = input(rows, columns, channels, pitch);
            prop_assert!(Window::takes(&input));
            let window = Window { offset: offset * 32, bytes: halves * Window::UNIT };
            let index = |at: u64| usize::try_from(at).unwrap();
            let mut arena = std::vec![0u32; index(window.end())];
            let mut card = std::vec![0u32; index(Window::end_of(&input))];
            let mut next = 0;
            for arrival in Arrivals::of(input, Some(window)) {
                match arrival {
                    Arrival::Bytes(view) => {
                        prop_assert!(window.offset <= view.offset);
                        prop_assert!(u64::from(view.offset) + view.extent() <= window.end());
                        for byte in &mut arena[view.offset as usize..][..index(view.extent())] {
                            next += 1;
                            *byte = next;
                        }
                    }
                    Arrival::Store { from, to } => {
                        prop_assert!((from.offset - window.offset).is_multiple_of(window.bytes / 2));
                        prop_assert!(from.row_bytes <= window.bytes / 2);
                        prop_assert!((to.offset | to.row_bytes).is_multiple_of(SECTOR));
                        let taken = &arena[from.offset as usize..][..from.row_bytes as usize];
                        card[to.offset as usize..][..to.row_bytes as usize].copy_from_slice(taken);
                    }
                }
            }
            let mut wanted = 0;
            for line in 0..u32::from(rows) {
                let start = (input.offset + line * input.row_pitch) as usize;
                let held: Vec<u32> = card[start..start + row as usize].to_vec();
                prop_assert!(held.into_iter().eq(wanted + 1..=wanted + row));
                wanted += row;
            }
            prop_assert_eq!(next, wanted);
        }
    }

    #[test]
    fn what_lies_elsewhere_arrives_at_once() {
        let input = View::whole(Space::Arena, 64, 2, 3, 4);
        let arrivals: Vec<Arrival> = Arrivals::of(input, None).collect();
        assert_eq!(arrivals, [Arrival::Bytes(input)]);
        assert!(!Window::takes(&input));
    }
}
