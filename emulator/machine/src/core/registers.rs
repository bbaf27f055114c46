//! Registers of the core.

use tilewright_devices::Masks;

use crate::engine::Engine;

/// A register of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Register {
    /// r0.
    R0,
    /// r1.
    R1,
    /// r2.
    R2,
    /// r3.
    R3,
    /// r4.
    R4,
    /// r5.
    R5,
    /// r6.
    R6,
    /// r7.
    R7,
    /// r8.
    R8,
    /// r9.
    R9,
    /// r10.
    R10,
    /// r11.
    R11,
    /// r12.
    R12,
    /// The stack pointer in use.
    Sp,
    /// The link register.
    Lr,
    /// The program counter: it may be set with bit 0, which says Thumb, and is read without.
    Pc,
    /// Flags, state of an IT block and the exception's number together. To set it changes the stack in use by the
    /// exception's number.
    Xpsr,
    /// The main stack's pointer.
    Msp,
    /// The process stack's pointer.
    Psp,
    /// CONTROL.
    Control,
    /// PRIMASK.
    Primask,
    /// BASEPRI.
    Basepri,
    /// FAULTMASK.
    Faultmask,
    /// Status of the floating-point unit.
    Fpscr,
    /// s0 to s31 by number.
    Single(u8),
}

/// r0 to r12, SP and LR by number.
pub const NUMBERED: [Register; 15] = [
    Register::R0,
    Register::R1,
    Register::R2,
    Register::R3,
    Register::R4,
    Register::R5,
    Register::R6,
    Register::R7,
    Register::R8,
    Register::R9,
    Register::R10,
    Register::R11,
    Register::R12,
    Register::Sp,
    Register::Lr,
];

/// r0 to r3, r12, LR: what an exception frame holds besides PC and xPSR.
pub const FRAME: [Register; 6] =
    [Register::R0, Register::R1, Register::R2, Register::R3, Register::R12, Register::Lr];

/// Registers for reports.
const NAMED: [(&str, Register); 22] = [
    ("r0", Register::R0),
    ("r1", Register::R1),
    ("r2", Register::R2),
    ("r3", Register::R3),
    ("r4", Register::R4),
    ("r5", Register::R5),
    ("r6", Register::R6),
    ("r7", Register::R7),
    ("r8", Register::R8),
    ("r9", Register::R9),
    ("r10", Register::R10),
    ("r11", Register::R11),
    ("r12", Register::R12),
    ("sp", Register::Sp),
    ("lr", Register::Lr),
    ("pc", Register::Pc),
    ("xpsr", Register::Xpsr),
    ("msp", Register::Msp),
    ("psp", Register::Psp),
    ("control", Register::Control),
    ("primask", Register::Primask),
    ("basepri", Register::Basepri),
];

/// The mask registers.
pub fn masks(engine: &impl Engine) -> Masks {
    Masks {
        primask: engine.read(Register::Primask) & 1 != 0,
        faultmask: engine.read(Register::Faultmask) & 1 != 0,
        basepri: engine.read(Register::Basepri) as u8,
    }
}

/// All registers for a report.
pub fn named(engine: &impl Engine) -> Vec<(String, u32)> {
    NAMED.iter().map(|(name, register)| ((*name).to_owned(), engine.read(*register))).collect()
}
