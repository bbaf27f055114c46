//! Registers of the core by their names in Unicorn.

use tilewright_devices::Masks;
use unicorn_engine::{RegisterARM, Unicorn};

use crate::machine::Machine;

/// The engine with the machine beside it.
pub type Engine<'a> = Unicorn<'a, Machine>;

/// r0 to r3, r12, lr: what an exception frame holds besides pc and xPSR.
pub const FRAME: [RegisterARM; 6] = [
    RegisterARM::R0,
    RegisterARM::R1,
    RegisterARM::R2,
    RegisterARM::R3,
    RegisterARM::R12,
    RegisterARM::LR,
];

/// Registers for reports.
const NAMED: [(&str, RegisterARM); 22] = [
    ("r0", RegisterARM::R0),
    ("r1", RegisterARM::R1),
    ("r2", RegisterARM::R2),
    ("r3", RegisterARM::R3),
    ("r4", RegisterARM::R4),
    ("r5", RegisterARM::R5),
    ("r6", RegisterARM::R6),
    ("r7", RegisterARM::R7),
    ("r8", RegisterARM::R8),
    ("r9", RegisterARM::R9),
    ("r10", RegisterARM::R10),
    ("r11", RegisterARM::R11),
    ("r12", RegisterARM::R12),
    ("sp", RegisterARM::SP),
    ("lr", RegisterARM::LR),
    ("pc", RegisterARM::PC),
    ("xpsr", RegisterARM::XPSR),
    ("msp", RegisterARM::MSP),
    ("psp", RegisterARM::PSP),
    ("control", RegisterARM::CONTROL),
    ("primask", RegisterARM::PRIMASK),
    ("basepri", RegisterARM::BASEPRI),
];

/// Reads a register; Unicorn knows all that are named in this crate.
pub fn read(uc: &Engine<'_>, register: RegisterARM) -> u32 {
    uc.reg_read(register).unwrap_or(0) as u32
}

/// Writes a register.
pub fn write(uc: &mut Engine<'_>, register: RegisterARM, value: u32) {
    // Unicorn refuses only registers that it does not know.
    let _ = uc.reg_write(register, u64::from(value));
}

/// The mask registers.
pub fn masks(uc: &Engine<'_>) -> Masks {
    Masks {
        primask: read(uc, RegisterARM::PRIMASK) & 1 != 0,
        faultmask: read(uc, RegisterARM::FAULTMASK) & 1 != 0,
        basepri: read(uc, RegisterARM::BASEPRI) as u8,
    }
}

/// All registers for a report.
pub fn named(uc: &Engine<'_>) -> Vec<(String, u32)> {
    NAMED.iter().map(|(name, register)| ((*name).to_owned(), read(uc, *register))).collect()
}
