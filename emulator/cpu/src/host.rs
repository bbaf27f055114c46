//! What surrounds a core.

use crate::core::Core;
use crate::memory::Memory;
use crate::translate::{Charge, Meter, Turns, Visits};

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

    /// What a block of a tag costs, each time; nothing if translated code must not enter it by itself.
    fn charge(&self, _tag: u32) -> Option<Charge> {
        None
    }

    /// What it costs to go on elsewhere than where a block's [`Visits`] say.
    fn turns(&self) -> Turns {
        Turns::default()
    }

    /// Bytes from the [`Visits`] of one tag to those of the next.
    fn stride(&self) -> u32 {
        size_of::<Visits>() as u32
    }

    /// What translated code counts by.
    fn meter(&mut self) -> Meter {
        Meter::default()
    }

    /// Translated code has got so far: cycles, instructions and entered blocks; the tag of the block that it is in, and
    /// the address behind it.
    fn ran(&mut self, _meter: &Meter, _tag: u32, _behind: u32) {}
}
