//! Prepared operations: eight bytes each, one layout for all.

use crate::execute::Kind;

/// A register: r0 to r15, a temporary between operations of one instruction, a place that nobody reads. An enum, so
/// that every index is known to lie within the register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "named as in the manual")]
pub enum R {
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
    R11,
    R12,
    Sp,
    Lr,
    Pc,
    /// Between operations of one instruction.
    T,
    /// Results of compares.
    Sink,
}

/// Registers of the file, those of this emulator included.
pub const REGISTERS: usize = 18;

const BY_NUMBER: [R; 16] = [
    R::R0,
    R::R1,
    R::R2,
    R::R3,
    R::R4,
    R::R5,
    R::R6,
    R::R7,
    R::R8,
    R::R9,
    R::R10,
    R::R11,
    R::R12,
    R::Sp,
    R::Lr,
    R::Pc,
];

impl R {
    /// The register with a number, of which four bits count.
    #[must_use]
    pub const fn number(number: u32) -> Self {
        BY_NUMBER[(number & 15) as usize]
    }
}

/// Conditions in the order of their codes (DDI 0403E, A7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Condition {
    Eq,
    Ne,
    Cs,
    Cc,
    Mi,
    Pl,
    Vs,
    Vc,
    Hi,
    Ls,
    Ge,
    Lt,
    Gt,
    Le,
    Always,
}

impl Condition {
    /// The condition with a code, of which four bits count.
    pub const fn code(code: u32) -> Self {
        const ALL: [Condition; 16] = {
            use Condition::*;
            [Eq, Ne, Cs, Cc, Mi, Pl, Vs, Vc, Hi, Ls, Ge, Lt, Gt, Le, Always, Always]
        };
        ALL[(code & 15) as usize]
    }
}

/// An operation. `immediate` may hold a fourth register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Operation {
    pub kind: Kind,
    pub d: R,
    pub n: R,
    pub m: R,
    pub immediate: u32,
}

/// How a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It goes on at an address: behind the block if it was cut.
    Jump(u32),
    /// At the address if the condition holds, else behind the block.
    If(Condition, u32),
    /// At the address if the register is zero, or is not.
    Zero { register: R, not: bool, target: u32 },
    /// Where the operations have put PC, with the Thumb bit.
    Indirect,
    /// Behind the block; if the condition holds, the host does something first.
    Asks(Condition, Ask),
}

/// What the host has to do at the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// WFI: the core sleeps.
    WaitForInterrupt,
    /// WFE.
    WaitForEvent,
    /// SVC.
    SupervisorCall,
    /// BKPT; PC stays at it.
    Breakpoint,
    /// An undefined instruction; PC stays at it.
    Undefined,
}
