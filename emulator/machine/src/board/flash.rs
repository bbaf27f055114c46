//! What the core waits for code that comes from flash, block by block. Accelerators and caches are taken to be on.

use tilewright_board::Board;
use tilewright_cores::Lines;

/// Code that comes from flash.
#[derive(Debug)]
pub struct Fetch {
    lines: Lines,
    /// Cycles that the core waits for a line.
    miss: u32,
    /// Cycles from a line's first instruction until the next line has been read, if it is meanwhile.
    ahead: Option<u32>,
    /// Number of the last change of what is kept: a block that was there then still is.
    pub generation: u32,
}

impl Fetch {
    /// From a board's flash; nothing if nobody knows what it makes the core wait.
    pub fn new(board: &Board) -> Option<Self> {
        let waits = board.flash_waits()?;
        Some(Self {
            lines: Lines::new(&waits.code),
            miss: waits.miss(),
            ahead: waits.prefetch.then_some(waits.miss() + 1),
            generation: 1,
        })
    }

    /// Cycles that a block of `size` bytes waits for its lines, of which some may not be there; without
    /// waits it takes `cycles`. `follows`: the core comes from the instruction before it.
    #[cold]
    pub fn waits(&mut self, address: u32, size: u32, cycles: u32, follows: bool) -> u32 {
        let bytes = self.lines.line_bytes();
        // While a line executes, the next one is read.
        let of_line = cycles * bytes / size.max(1);
        let behind = self.ahead.map_or(self.miss, |ahead| ahead.saturating_sub(of_line));
        let first = address / bytes * bytes;
        let mut waits = 0;
        let mut fetched = false;
        for line in (first..address.saturating_add(size.max(1))).step_by(bytes as usize) {
            if !self.lines.uses(line) {
                waits += if line > first || follows { behind } else { self.miss };
                fetched = true;
            }
        }
        if fetched {
            self.generation = self.generation.wrapping_add(1);
        }
        waits
    }
}
