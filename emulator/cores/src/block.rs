//! What a translated block costs each time it runs.

use tilewright_board::CoreKind;

use crate::decode::Decoder;
use crate::instruction::Class;
use crate::m7;

/// What an emulator must know of a block beside its cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// The last instruction is WFI.
    pub const ENDS_IN_WFI: Self = Self(1);
    /// The last instruction is WFE.
    pub const ENDS_IN_WFE: Self = Self(1 << 1);
    /// SEV is among the instructions.
    pub const SENDS_EVENT: Self = Self(1 << 2);
    /// SVC or BKPT is among the instructions.
    pub const CALLS: Self = Self(1 << 3);
    /// An instruction of the floating-point unit is among the instructions.
    pub const FLOAT: Self = Self(1 << 4);
    /// An undefined instruction is among the instructions.
    pub const UNDEFINED: Self = Self(1 << 5);
    /// Reserved for the emulator: something is to be done when the block is entered.
    pub const MARKED: Self = Self(1 << 6);

    /// Whether any of `other` is set.
    #[must_use]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The cost of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCost {
    /// Instructions, each of an IT block included: one whose condition fails takes its place in
    /// the pipeline too.
    pub instructions: u16,
    /// Cycles of the core from the first to the last issue (modelled): branches predicted, data
    /// and code in memories without wait states or in caches.
    pub cycles: u16,
    /// What else is to be known.
    pub flags: Flags,
}

/// The cost of the block that consists of `bytes` on a core. Only the Cortex-M7 has a pipeline
/// model; other cores are given its cycles until they have theirs.
#[must_use]
pub fn block_cost(core: CoreKind, bytes: &[u8]) -> BlockCost {
    let mut flags = Flags::default();
    let mut pipeline = match core {
        CoreKind::CortexM4 | CoreKind::CortexM7 | CoreKind::CortexM33 => m7::Pipeline::default(),
    };
    let mut instructions = 0u16;
    let mut last = Class::Nop;
    for instruction in Decoder::new(bytes) {
        instructions = instructions.saturating_add(1);
        pipeline.issue(&instruction);
        last = instruction.class;
        if instruction.float {
            flags = flags.with(Flags::FLOAT);
        }
        flags = flags.with(match instruction.class {
            Class::SendEvent => Flags::SENDS_EVENT,
            Class::SupervisorCall | Class::Breakpoint => Flags::CALLS,
            Class::Undefined => Flags::UNDEFINED,
            _ => Flags::default(),
        });
    }
    flags = flags.with(match last {
        Class::WaitForInterrupt => Flags::ENDS_IN_WFI,
        Class::WaitForEvent => Flags::ENDS_IN_WFE,
        _ => Flags::default(),
    });
    let cycles = u16::try_from(pipeline.cycles()).unwrap_or(u16::MAX);
    BlockCost { instructions, cycles, flags }
}

/// Cycles that a branch costs when its target was not foreseen.
#[must_use]
pub const fn branch_mispredicted(core: CoreKind) -> u32 {
    match core {
        CoreKind::CortexM4 | CoreKind::CortexM7 | CoreKind::CortexM33 => m7::BRANCH_MISPREDICTED,
    }
}

/// Cycles from the end of a block to the first instruction of an exception handler, and likewise
/// for the way back.
#[must_use]
pub const fn exception_cycles(core: CoreKind) -> u32 {
    match core {
        CoreKind::CortexM4 | CoreKind::CortexM7 | CoreKind::CortexM33 => m7::EXCEPTION,
    }
}
