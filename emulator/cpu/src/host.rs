//! What surrounds a core.

use crate::core::Core;
use crate::memory::Memory;

/// What the core does with a block that it is about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It runs it.
    Runs,
    /// It goes on where the host has put PC.
    Elsewhere,
    /// It stops: the block does not run.
    Ends,
}

/// What surrounds a core: a board.
pub trait Host {
    /// The core's registers.
    fn core(&mut self) -> &mut Core;

    /// Registers and memories at once.
    fn parts(&mut self) -> (&mut Core, &mut Memory);

    /// A block of so many bytes is about to run. Its tag is the host's, and 0 the first time.
    fn enters(&mut self, tag: &mut u32, address: u32, bytes: u32) -> Entry;

    /// Whether the host wants to see the instruction at an address each time before it executes.
    fn watches(&self, _address: u32) -> bool {
        false
    }

    /// A watched instruction is about to execute; nothing if it is not to.
    fn sees(&mut self, _address: u32) -> Option<()> {
        Some(())
    }

    /// Loads 1, 2 or 4 bytes that no plain memory holds; nothing if that fails.
    fn load(&mut self, _address: u32, _bytes: u32) -> Option<u32> {
        None
    }

    /// Stores 1, 2 or 4 bytes where no plain memory takes them; nothing if that fails.
    fn store(&mut self, _address: u32, _bytes: u32, _value: u32) -> Option<()> {
        None
    }
}
