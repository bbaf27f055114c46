//! Faults of accesses that have to lie at words, which Unicorn makes wherever they lie.

use tilewright_cores::Alignment;
use tilewright_report::FaultKind;
use unicorn_engine::RegisterARM;

use crate::block;
use crate::fault::status;
use crate::registers::{self, Engine};

/// r0 to r12, lr: what addresses are followed from.
const REGISTERS: [RegisterARM; 15] = [
    RegisterARM::R0,
    RegisterARM::R1,
    RegisterARM::R2,
    RegisterARM::R3,
    RegisterARM::R4,
    RegisterARM::R5,
    RegisterARM::R6,
    RegisterARM::R7,
    RegisterARM::R8,
    RegisterARM::R9,
    RegisterARM::R10,
    RegisterARM::R11,
    RegisterARM::R12,
    RegisterARM::SP,
    RegisterARM::LR,
];

/// Bytes from the start of a block that is about to run to an instruction that will fault.
#[inline]
pub fn fault(uc: &Engine<'_>, alignment: &Alignment) -> Option<u32> {
    let mut values = [0; 16];
    for number in alignment.registers() {
        values[number] = REGISTERS.get(number).map_or(0, |register| registers::read(uc, *register));
    }
    alignment.fault(&values)
}

/// Ends with the fault, at its instruction. What the block did before it is not done.
#[cold]
pub fn end(uc: &mut Engine<'_>, address: u32) {
    let place = block::place(uc, address);
    let message = format!(
        "unaligned access {place}: a board raises a UsageFault (UNALIGNED), in whichever memory, for LDRD, \
         LDM, VLDR, LDREX and their stores take words alone; registers are those at the start of its block"
    );
    registers::write(uc, RegisterARM::PC, address | 1);
    uc.get_data_mut().core_fault(FaultKind::HardFault, status::UNALIGNED, message);
    let _ = uc.emu_stop();
}
