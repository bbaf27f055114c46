//! What translated code and the interpreter share while the one runs: words at fixed places.

use alloc::boxed::Box;
use core::cell::Cell;

use crate::core::Core;
use crate::operation::{R, REGISTERS};

/// Words that both reach. Translated code knows each by its offset.
#[derive(Clone, Debug)]
pub struct Shared(Box<[Cell<u32>; WORDS]>);

/// A word of [`Shared`] behind the registers; of a number of 64 bits the lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[expect(dead_code, reason = "higher words are reached through the lower")]
pub(crate) enum Slot {
    N = REGISTERS as u8,
    Z,
    C,
    V,
    /// A byte of ones or zeros for each of GE.
    Ge,
    /// Q: set if it is not 0.
    Q,
    /// Number of the block that runs, or ran last.
    Block,
    Cycles,
    CyclesHigh,
    Instructions,
    InstructionsHigh,
    Deadline,
    DeadlineHigh,
    Entered,
    Counting,
    Generation,
    Visits,
    History,
    /// Where the table of windows lies.
    Windows,
    /// Bytes that are loaded unseen until the next load that is seen: the first's address, at how many offsets words
    /// can be loaded, and where they are for translated code.
    UnseenStart,
    UnseenWords,
    UnseenPlace,
}

const WORDS: usize = Slot::UnseenPlace as usize + 1;

impl Slot {
    /// Bytes from the first word.
    pub(crate) const fn offset(self) -> u64 {
        4 * self as u64
    }
}

impl Default for Shared {
    fn default() -> Self {
        Self(Box::new([const { Cell::new(0) }; WORDS]))
    }
}

impl Shared {
    /// The words: translated code is given the address of the first.
    #[must_use]
    pub fn words(&self) -> &[Cell<u32>] {
        self.0.as_slice()
    }

    pub(crate) fn get(&self, slot: Slot) -> u32 {
        self.0[slot as usize].get()
    }

    pub(crate) fn set(&self, slot: Slot, value: u32) {
        self.0[slot as usize].set(value);
    }

    pub(crate) fn get_long(&self, slot: Slot) -> u64 {
        let [low, high] = [0, 1].map(|word| u64::from(self.0[slot as usize + word].get()));
        high << 32 | low
    }

    pub(crate) fn set_long(&self, slot: Slot, value: u64) {
        self.0[slot as usize].set(value as u32);
        self.0[slot as usize + 1].set((value >> 32) as u32);
    }

    /// Registers and flags as translated code sees them.
    pub(crate) fn give(&self, core: &Core) {
        for (place, register) in self.0.iter().zip(&core.r.0) {
            place.set(*register);
        }
        self.set(Slot::N, core.n);
        self.set(Slot::Z, core.z);
        self.set(Slot::C, core.c);
        self.set(Slot::V, core.v);
        self.set(Slot::Ge, core.ge);
        self.set(Slot::Q, core.q.into());
    }

    /// Registers and flags as it left them.
    pub(crate) fn take(&self, core: &mut Core) {
        for (place, register) in self.0.iter().zip(&mut core.r.0) {
            *register = place.get();
        }
        core.n = self.get(Slot::N);
        core.z = self.get(Slot::Z);
        core.c = self.get(Slot::C);
        core.v = self.get(Slot::V);
        core.ge = self.get(Slot::Ge);
        core.q = self.get(Slot::Q) != 0;
    }
}

/// A register's offset.
pub(crate) const fn register(register: R) -> u64 {
    4 * register as u64
}

/// What translated code counts by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    /// Cycles since reset.
    pub cycles: u64,
    /// Executed instructions since reset.
    pub instructions: u64,
    /// Before a block at or behind this cycle the host is asked.
    pub deadline: u64,
    /// Blocks that were entered, modulo 2³².
    pub entered: u32,
    /// 1 while runs of blocks are counted, else 0.
    pub counting: u32,
    /// Blocks whose [`Visits::resident`] is another number are the host's to enter.
    pub generation: u32,
    /// Where translated code finds the [`Visits`] of the block of tag 0.
    pub visits: u32,
    /// Where it finds the start addresses of the last [`HISTORY`] blocks.
    pub history: u32,
}

/// Blocks of which start addresses are kept: a power of two.
pub const HISTORY: usize = 16;

/// What changes of a block while the core goes through it, for each tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Visits {
    /// Block that can follow at no cost: the one behind it, or on a core that predicts the last one that did follow,
    /// replaced when wrong twice in a row. That stands for the core's branch predictor and target cache.
    pub successor: u32,
    /// Whether `successor` was right the last time: 1, else 0.
    pub confident: u32,
    /// Runs since counting began.
    pub runs: u32,
    /// How often the core went on elsewhere than at no cost.
    pub turns: u32,
    /// The state of what is kept of flash in which all of its lines were there.
    pub resident: u32,
}

/// What a block costs each time that it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charge {
    /// Its instructions.
    pub instructions: u32,
    /// Cycles of the core for them.
    pub cycles: u32,
}

/// What it costs to go on elsewhere than at a block's [`Visits::successor`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// Cycles.
    pub cycles: u32,
    /// The core learns where it goes on; else the successor stays.
    pub learns: bool,
}
