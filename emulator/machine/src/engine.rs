//! What executes instructions.

use crate::core::registers::Register;
use crate::machine::{End, Machine};

/// A core that runs the firmware, with the machine beside it.
///
/// An engine calls [`block::entered`](crate::block::entered) before each block, and the functions of
/// [`access`](crate::access) where memory is not plain.
pub trait Engine {
    /// Whether it faults by itself where LDRD, LDM and the like do not lie at words.
    const FAULTS_UNALIGNED: bool = false;

    /// What is beside the core.
    fn machine(&self) -> &Machine;

    /// The same, to change it.
    fn machine_mut(&mut self) -> &mut Machine;

    /// A register's value.
    fn read(&self, register: Register) -> u32;

    /// Sets a register. To set PC before a block runs means that the core goes on there, and that the machine is asked
    /// again before the block there.
    fn write(&mut self, register: Register, value: u32);

    /// Ends [`Self::execute`], wherever PC was set to. A block that was about to run does not.
    fn stop(&mut self);

    /// Runs from an address until something ends it.
    fn execute(&mut self, start: u32) -> End;
}

/// Why an engine cannot go on by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trap {
    /// Nothing answered an access: the machine knows which ([`access::refuse`](crate::access::refuse)).
    Access,
    /// An undefined instruction.
    Undefined,
    /// A branch to code that is not Thumb.
    State,
    /// The engine itself failed.
    Other(String),
}
