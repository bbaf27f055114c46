//! Where the cycles of a run went: causes, and the blocks of instructions that ran most.

use serde::{Deserialize, Serialize};
use tilewright_plan::Cycles;

use crate::figure::{Counted, Modelled};

/// What an instruction is there for in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Cause {
    /// Products of activations and weights.
    Multiply,
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Sums to outputs: 64-bit and high products, saturation.
    Requantise,
    /// Bytes spread over words and put together: the extensions and selections of the DSP extension.
    Arrange,
    /// Branches and what they are decided by, refills and missed predictions.
    Loop,
    /// Addresses, moves, shifts and all else.
    Other,
    /// Waits of the pipeline for an operand.
    Stall,
    /// Waits for code and constants from internal flash.
    Flash,
}

impl Cause {
    /// All causes, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::Multiply,
        Self::Load,
        Self::Store,
        Self::Requantise,
        Self::Arrange,
        Self::Loop,
        Self::Other,
        Self::Stall,
        Self::Flash,
    ];

    /// One word for people.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Multiply => "multiply",
            Self::Load => "load",
            Self::Store => "store",
            Self::Requantise => "requantise",
            Self::Arrange => "arrange",
            Self::Loop => "loop",
            Self::Other => "other",
            Self::Stall => "stall",
            Self::Flash => "flash",
        }
    }
}

/// What a cause took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CauseCount {
    /// The cause.
    pub cause: Cause,
    /// Executed instructions; stalls and waits for flash have none.
    pub instructions: Counted<u64>,
    /// Cycles.
    pub cycles: Modelled<Cycles>,
}

/// An instruction of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ListedInstruction {
    /// Encoding and text.
    pub text: String,
    /// What it is there for.
    pub cause: Cause,
    /// Cycles each time it runs; 0 if it issues beside the one before it.
    pub cycles: Modelled<u32>,
    /// Cycles that it waits for operands before.
    pub stall_cycles: Modelled<u32>,
}

/// A block: instructions that run one after the other up to a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HotBlock {
    /// Address of its first instruction.
    pub address: u32,
    /// The function that it is part of; empty if that is not known.
    pub function: String,
    /// How often it ran.
    pub runs: Counted<u64>,
    /// Its cycles, all runs together.
    pub cycles: Modelled<Cycles>,
    /// Of these, cycles until the core went on elsewhere than behind it, or foresaw it wrongly.
    pub branch_cycles: Modelled<Cycles>,
    /// Of these, cycles that it waited for flash.
    pub flash_cycles: Modelled<Cycles>,
    /// Its instructions, the first [`MAX_LISTED`] of them.
    pub listing: Vec<ListedInstruction>,
}

/// Instructions of a block that are listed.
pub const MAX_LISTED: usize = 96;

/// Where the cycles of a layer's kernels went. Code outside of flash, and waits for external
/// memories, are in none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LayerProfile {
    /// By cause, those that took anything.
    pub causes: Vec<CauseCount>,
    /// The blocks that took most cycles, the hottest first.
    pub blocks: Vec<HotBlock>,
}

impl LayerProfile {
    /// Cycles of all causes.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.causes.iter().map(|count| count.cycles.0).sum()
    }
}
