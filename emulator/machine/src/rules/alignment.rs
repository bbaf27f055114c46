//! Faults of accesses that have to lie at words, which engines make wherever they lie.

use tilewright_cores::Alignment;
use tilewright_report::FaultKind;

use crate::core::block;
use crate::core::registers::{NUMBERED, Register};
use crate::engine::Engine;
use crate::fault::status;

/// Whether faults are foreseen before a block runs: an engine that cannot raise them asks for it, and so does whoever
/// compares two engines, of which one cannot.
#[inline]
pub fn are_foreseen<E: Engine>(engine: &E) -> bool {
    !E::FAULTS_UNALIGNED || engine.machine().is_observed()
}

/// Bytes from the start of a block that is about to run to an instruction that will fault.
#[inline]
pub fn fault(engine: &impl Engine, alignment: &Alignment) -> Option<u32> {
    let mut values = [0; 16];
    for number in alignment.registers() {
        values[number] = NUMBERED.get(number).map_or(0, |register| engine.read(*register));
    }
    alignment.fault(&values)
}

/// Ends with the fault, at its instruction. If it was foreseen, what the block does before it is not done.
#[cold]
pub fn end(engine: &mut impl Engine, address: u32) {
    let place = block::place(engine, address);
    let registers =
        if are_foreseen(engine) { "; registers are those at the start of its block" } else { "" };
    let message = format!(
        "unaligned access {place}: a board raises a UsageFault (UNALIGNED), in whichever memory, for LDRD, \
         LDM, VLDR, LDREX and their stores take words alone{registers}"
    );
    engine.write(Register::Pc, address | 1);
    engine.machine_mut().core_fault(FaultKind::HardFault, status::UNALIGNED, message);
    engine.stop();
}
