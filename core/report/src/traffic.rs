//! What layers move, by the memory that it comes from or goes to, beside what they compute.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Cycles, Space};

/// How bytes come from a memory or go there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// The core reads and writes there; what it waits is part of its own time.
    Direct,
    /// An engine copies.
    Copied,
}

/// A memory outside of SRAM, and one way to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// The memory.
    pub space: Space,
    /// The way.
    pub way: Way,
    /// The rate of one long read (modelled); nothing if the board's file does not say.
    pub bytes_per_second: Option<u64>,
    /// Bytes that each layer moves, of all frames (counted): of direct operands each once a step.
    pub bytes: Vec<u64>,
    /// What engines take for them (modelled); zero for direct operands.
    pub cycles: Vec<Cycles>,
}

/// What layers move beside what they compute, of all frames.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Memories in use.
    pub tiers: Vec<Tier>,
    /// Cycles of the core inside each layer's kernels, waiting for direct operands included.
    pub compute: Vec<Cycles>,
    /// Cycles that the core waits before each layer's steps.
    pub stalls: Vec<Cycles>,
    /// Frames that all of this is of.
    pub frames: u32,
}
