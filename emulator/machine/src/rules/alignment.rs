//! Faults of accesses that have to lie at words, which engines make wherever they lie.

use tilewright_cores::Alignment;
use tilewright_report::FaultKind;

use crate::core::block;
use crate::core::registers::{NUMBERED, Register};
use crate::engine::Engine;
use crate::fault::status;

/// Bytes from the start of a block that is about to run to an instruction that will fault.
#[inline]
pub fn fault(engine: &impl Engine, alignment: &Alignment) -> Option<u32> {
    let mut values = [0; 16];
    for number in alignment.registers() {
        values[number] = NUMBERED.get(number).map_or(0, |register| engine.read(*register));
    }
    alignment.fault(&values)
}

/// Ends with the fault, at its instruction. Unless the engine faults by itself, what the block did before it is not done.
#[cold]
pub fn end<E: Engine>(engine: &mut E, address: u32) {
    let place = block::place(engine, address);
    let registers =
        if E::FAULTS_UNALIGNED { "" } else { "; registers are those at the start of its block" };
    let message = format!(
        "unaligned access {place}: a board raises a UsageFault (UNALIGNED), in whichever memory, for LDRD, \
         LDM, VLDR, LDREX and their stores take words alone{registers}"
    );
    engine.write(Register::Pc, address | 1);
    engine.machine_mut().core_fault(FaultKind::HardFault, status::UNALIGNED, message);
    engine.stop();
}
