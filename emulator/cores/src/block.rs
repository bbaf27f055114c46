//! What a translated block costs each time it runs.

use tilewright_board::CoreKind;

use crate::decode::Decoder;
use crate::instruction::{Class, Instruction};
use crate::{m4, m7, m33};

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

/// The pipeline of a core.
enum Pipeline {
    M4(m4::Pipeline),
    M7(m7::Pipeline),
    M33(m33::Pipeline),
}

impl Pipeline {
    fn of(core: CoreKind) -> Self {
        match core {
            CoreKind::CortexM4 => Self::M4(m4::Pipeline::default()),
            CoreKind::CortexM7 => Self::M7(m7::Pipeline::default()),
            CoreKind::CortexM33 => Self::M33(m33::Pipeline::default()),
        }
    }

    fn issue(&mut self, instruction: &Instruction) -> u32 {
        match self {
            Self::M4(pipeline) => pipeline.issue(instruction),
            Self::M7(pipeline) => pipeline.issue(instruction),
            Self::M33(pipeline) => pipeline.issue(instruction),
        }
    }

    fn cycles(&self) -> u32 {
        match self {
            Self::M4(pipeline) => pipeline.cycles(),
            Self::M7(pipeline) => pipeline.cycles(),
            Self::M33(pipeline) => pipeline.cycles(),
        }
    }
}

/// The cost of the block that consists of `bytes` on a core.
#[must_use]
pub fn block_cost(core: CoreKind, bytes: &[u8]) -> BlockCost {
    let mut flags = Flags::default();
    let mut pipeline = Pipeline::of(core);
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

/// An instruction of a block on its way through the pipeline. The cycles of a block are those of its
/// instructions and of their waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The instruction.
    pub instruction: Instruction,
    /// Cycles that it takes; 0 if it issues beside the one before it.
    pub cycles: u32,
    /// Cycles that it waits for operands before.
    pub stall: u32,
}

/// How a core issues the block that consists of `bytes`.
#[must_use]
pub fn issues(core: CoreKind, bytes: &[u8]) -> Vec<Issued> {
    let mut pipeline = Pipeline::of(core);
    let mut before = pipeline.cycles();
    let issue = |instruction| {
        let stall = pipeline.issue(&instruction);
        let after = pipeline.cycles();
        let cycles = (after - before).saturating_sub(stall);
        before = after;
        Issued { instruction, cycles, stall }
    };
    Decoder::new(bytes).map(issue).collect()
}

/// What a core pays for going on elsewhere than behind a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branches {
    /// The core foresees where it goes on, and pays these cycles where it was wrong.
    Predicted(u32),
    /// The core fetches on behind the block, and pays these cycles whenever it goes elsewhere.
    Fetched(u32),
}

/// How a core branches.
#[must_use]
pub const fn branches(core: CoreKind) -> Branches {
    match core {
        CoreKind::CortexM4 => Branches::Fetched(m4::BRANCH_TAKEN),
        CoreKind::CortexM7 => Branches::Predicted(m7::BRANCH_MISPREDICTED),
        CoreKind::CortexM33 => Branches::Fetched(m33::BRANCH_TAKEN),
    }
}

/// Cycles from the end of a block to the first instruction of an exception handler, and likewise
/// for the way back.
#[must_use]
pub const fn exception_cycles(core: CoreKind) -> u32 {
    match core {
        CoreKind::CortexM4 => m4::EXCEPTION,
        CoreKind::CortexM7 => m7::EXCEPTION,
        CoreKind::CortexM33 => m33::EXCEPTION,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(halfwords: &[u16]) -> Vec<u8> {
        halfwords.iter().flat_map(|half| half.to_le_bytes()).collect()
    }

    #[test]
    fn cycles_of_a_block_are_those_of_its_instructions_and_waits() {
        let mut random = 1u32;
        let mut next = || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16) as u16
        };
        for core in [CoreKind::CortexM4, CoreKind::CortexM7, CoreKind::CortexM33] {
            for _ in 0..200 {
                let block = bytes(&[(); 24].map(|()| next()));
                let issued = issues(core, &block);
                let sum: u32 = issued.iter().map(|issued| issued.cycles + issued.stall).sum();
                let cost = block_cost(core, &block);
                assert_eq!(sum, u32::from(cost.cycles), "{core:?} {block:02x?}");
                assert_eq!(issued.len(), usize::from(cost.instructions));
            }
        }
    }

    #[test]
    fn waits_are_told_from_issues() {
        // ldr r0,[r1]; adds r0,#1: on the M7 the sum waits for the load.
        let issued = issues(CoreKind::CortexM7, &bytes(&[0x6808, 0x3001]));
        assert_eq!([issued[0].cycles, issued[0].stall], [1, 0]);
        assert_eq!([issued[1].cycles, issued[1].stall], [1, 1]);
        // adds r4,#4; ldr r0,[r4]: on the M4 the address is late.
        let issued = issues(CoreKind::CortexM4, &bytes(&[0x3404, 0x6820]));
        assert_eq!([issued[1].cycles, issued[1].stall], [2, 1]);
        // movs r0,#1; movs r1,#1: a pair.
        let issued = issues(CoreKind::CortexM7, &bytes(&[0x2001, 0x2101]));
        assert_eq!([issued[0].cycles, issued[1].cycles], [1, 0]);
    }
}
