//! Somebody who compares two engines: before each block it sees what the core holds.

use std::hash::{DefaultHasher, Hash, Hasher};

use tilewright_report::FaultKind;

use crate::core::registers::{NUMBERED, Register};
use crate::engine::Engine;

/// Blocks from one look at all memories to the next.
const BLOCKS_A_LOOK: usize = 1 << 14;

/// The core and its board before a block runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Where the block begins.
    pub address: u32,
    /// r0 to r12, SP and LR.
    pub registers: [u32; 15],
    /// Flags and the exception's number.
    pub xpsr: u32,
    /// Instructions since reset, those of the block included.
    pub instructions: u64,
    /// Cycles since reset.
    pub cycles: u64,
    /// A digest of the memories that the core writes, now and then; else 0.
    pub memories: u64,
}

/// Takes what is seen before each block; false ends the run.
pub type Observer = Box<dyn FnMut(Seen) -> bool>;

/// Shows a block that is about to run to whoever observes the machine.
#[cold]
pub fn show(engine: &mut impl Engine, address: u32) {
    let Some(mut observer) = engine.machine_mut().observer.take() else { return };
    let machine = engine.machine();
    let looks = machine.blocks().is_multiple_of(BLOCKS_A_LOOK);
    let seen = Seen {
        address,
        registers: NUMBERED.map(|register| engine.read(register)),
        xpsr: engine.read(Register::Xpsr),
        instructions: machine.account.instructions,
        cycles: machine.account.cycles,
        memories: if looks { digest(engine) } else { 0 },
    };
    let goes_on = observer(seen);
    let machine = engine.machine_mut();
    machine.observer = Some(observer);
    if !goes_on {
        machine.fault(FaultKind::Worker, "whoever observes the run ended it");
        engine.stop();
    }
}

fn digest(engine: &impl Engine) -> u64 {
    let mut digest = DefaultHasher::new();
    for bytes in engine.machine().memories.written() {
        bytes.hash(&mut digest);
    }
    digest.finish()
}
