//! Which memories a board has as its core sees them.

use std::cmp::Reverse;

use tilewright_board::{Board, MemoryKind};
use tilewright_cpu::{Memory, Reach};

use crate::board::constants::Constants;
use crate::board::external::External;

/// What a range of addresses holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Flash: code, and constants that nobody waits for.
    Flash,
    /// Memory of the chip that the core writes.
    Ram,
    /// Constants in flash whose reads are seen ([`constants`](crate::constants)).
    Constants,
    /// The external memory of this number ([`external`](crate::external)).
    External(usize),
}

impl Holds {
    /// How the core reaches it.
    #[must_use]
    pub const fn reach(self) -> Reach {
        match self {
            Self::Flash => Reach::ReadOnly,
            Self::Ram => Reach::Plain,
            Self::Constants | Self::External(_) => Reach::Seen,
        }
    }
}

/// Addresses without a gap that are one memory to the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub address: u32,
    /// How many bytes.
    pub bytes: u64,
    /// Of what.
    pub holds: Holds,
}

/// The ranges of a board: memories of the chip from the largest on, of which those that touch are one; then those
/// whose accesses are seen.
pub(crate) fn ranges(
    board: &Board,
    constants: Option<&Constants>,
    external: &[External],
) -> Vec<Range> {
    let range = |memory: &tilewright_board::Memory| {
        let holds = match memory.kind {
            MemoryKind::Flash => Holds::Flash,
            MemoryKind::Dtcm | MemoryKind::Itcm | MemoryKind::Sram => Holds::Ram,
            _ => return None,
        };
        Some(Range { address: memory.address?, bytes: memory.bytes.0, holds })
    };
    let mut ranges: Vec<Range> = board.memory.iter().filter_map(range).collect();
    if let Some(start) = constants.map(|constants| constants.address) {
        // What lies behind the firmware is no code: reads of it are seen.
        let before = |range: &&mut Range| {
            range.address <= start && u64::from(start - range.address) < range.bytes
        };
        if let Some(range) = ranges.iter_mut().find(before) {
            range.bytes = u64::from(start - range.address);
        }
    }
    ranges.sort_by_key(|range| range.address);
    ranges.dedup_by(|next, range| {
        let end = u64::from(range.address) + range.bytes;
        let touches = end == u64::from(next.address) && range.holds == next.holds;
        if touches {
            range.bytes += next.bytes;
        }
        touches
    });
    ranges.sort_by_key(|range| Reverse(range.bytes));
    ranges.extend(constants.map(|constants| Range {
        address: constants.address,
        bytes: constants.bytes,
        holds: Holds::Constants,
    }));
    ranges.extend(external.iter().enumerate().map(|(index, external)| Range {
        address: external.address,
        bytes: external.memory.bytes.0,
        holds: Holds::External(index),
    }));
    ranges
}

/// Memories of zeros.
pub(crate) fn empty(ranges: &[Range]) -> Memory {
    let mut memory = Memory::default();
    for range in ranges {
        memory.add(range.address, range.bytes as usize, range.holds.reach());
    }
    memory
}

#[cfg(test)]
mod tests {
    use tilewright_protocol::Hardware;

    use super::*;
    use crate::board::external;

    #[test]
    fn memories_that_touch_are_one_and_the_largest_comes_first() {
        let board = tilewright_board::find("stm32f746g-disco").unwrap();
        let constants = Constants::new(&board);
        let external = external::memories(&board, &Hardware::default());
        let found = ranges(&board, constants.as_ref(), &external);
        // DTCM, SRAM1 and SRAM2.
        let ram = Range { address: 0x2000_0000, bytes: 320 << 10, holds: Holds::Ram };
        assert!(found.contains(&ram), "{found:?}");
        let inside = found.iter().filter(|range| range.holds.reach() != Reach::Seen);
        assert!(inside.map(|range| range.bytes).is_sorted_by(|a, b| a >= b));
        let memory = empty(&found);
        assert!(found.iter().all(|range| memory.holds(range.address, range.bytes as usize)));
        assert_eq!(memory.reach(0x0800_0000), Some(Reach::ReadOnly));
        assert_eq!(memory.reach(board.plan_address().unwrap()), Some(Reach::Seen));
    }
}
