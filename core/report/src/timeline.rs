//! What happens when, on which lane: predicted and measured runs alike.

use serde::{Deserialize, Serialize};
use tilewright_plan::{CyclePoint, Cycles, Hertz, LaneKind};

use crate::figure::Kind;

/// What a lane does during a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum SliceKind {
    /// A kernel runs.
    Compute,
    /// Bytes are moved.
    Copy,
    /// The lane waits for another.
    Stall,
    /// The core makes the next step ready, or begins and ends copies, while it runs no kernel.
    DriverOverhead,
}

impl SliceKind {
    /// Whether the lane does what its step is for.
    #[must_use]
    pub const fn works(self) -> bool {
        matches!(self, Self::Compute | Self::Copy)
    }
}

/// A stretch of time on a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Slice {
    /// Index into [`Timeline::lanes`].
    pub lane: u8,
    /// What happens.
    pub kind: SliceKind,
    /// The lane that a stall waits for; nothing of other slices, or if that is not known.
    pub waits_for: Option<u8>,
    /// Layer (position in the plan's order).
    pub layer: u16,
    /// Step in the lane.
    pub step: u32,
    /// Frame that is worked on; the first is 0.
    pub frame: u32,
    /// Start.
    pub start: CyclePoint,
    /// End; not before the start.
    pub end: CyclePoint,
    /// Executed instructions of a compute slice, where they were counted; else 0.
    pub instructions: u64,
    /// Bytes moved by a copy slice; else 0.
    pub bytes: u64,
}

/// What happens when, on which lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Timeline {
    /// Clock that cycles are counted in.
    pub clock_hz: Hertz,
    /// How instruction counts came to be, if there are any; cycles and time are modelled unless measured.
    pub instructions_kind: Kind,
    /// How cycles came to be.
    pub cycles_kind: Kind,
    /// The lanes; lane 0 is the core.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub lanes: Vec<LaneKind>,
    /// Slices, ordered by start within each lane.
    pub slices: Vec<Slice>,
}

impl Timeline {
    /// The end of the last slice.
    #[must_use]
    pub fn end(&self) -> CyclePoint {
        self.slices.iter().map(|slice| slice.end).max().unwrap_or_default()
    }
}

/// Executed instructions and modelled cycles by what they were for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Counts {
    /// Instructions inside kernels.
    pub compute_instructions: u64,
    /// Instructions of the runtime between kernels.
    pub dispatch_instructions: u64,
    /// Instructions in interrupt handlers.
    pub interrupt_instructions: u64,
    /// Cycles inside kernels.
    pub compute_cycles: Cycles,
    /// Cycles of the runtime between kernels.
    pub dispatch_cycles: Cycles,
    /// Cycles in interrupt handlers.
    pub interrupt_cycles: Cycles,
    /// Cycles asleep.
    pub wait_cycles: Cycles,
}

impl Counts {
    /// All executed instructions.
    #[must_use]
    pub const fn instructions(&self) -> u64 {
        self.compute_instructions + self.dispatch_instructions + self.interrupt_instructions
    }

    /// All cycles.
    #[must_use]
    pub fn cycles(&self) -> Cycles {
        self.compute_cycles + self.dispatch_cycles + self.interrupt_cycles + self.wait_cycles
    }
}
