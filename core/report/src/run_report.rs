//! What a run gives: counts of layers, a difference, a fault.

use serde::{Deserialize, Serialize};
use tilewright_plan::Cycles;

use crate::profile::LayerProfile;

/// Counted instructions of one layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerCount {
    /// Name.
    pub name: String,
    /// Kernel.
    pub op: String,
    /// Multiply-accumulates, nominal.
    pub macs: u64,
    /// Executed instructions inside kernels (counted).
    pub instructions: u64,
    /// Cycles (modelled).
    pub cycles: Cycles,
    /// Where its cycles went, and its hottest blocks; nothing if that was not looked at.
    #[serde(default)]
    pub profile: Option<LayerProfile>,
}

/// The first byte at which a run differs from the reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Layer.
    pub layer: String,
    /// Tensor.
    pub tensor: String,
    /// Index of the first differing element.
    pub element: u64,
    /// What the reference interpreter gives.
    pub expected: i8,
    /// What the run gave.
    pub found: i8,
    /// Number of differing elements in that tensor.
    pub differing: u64,
}

/// What went wrong in an emulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// The core took a fault.
    HardFault,
    /// The firmware panicked or reported an error.
    Firmware,
    /// An address that no memory or device answers.
    UnmappedAccess,
    /// The stack grew past its end.
    StackOverflow,
    /// More instructions than allowed: a run-away.
    InstructionLimit,
    /// More time than allowed.
    TimeLimit,
    /// More output than allowed.
    OutputLimit,
    /// The core sleeps and nothing will wake it.
    Deadlock,
    /// The worker itself failed.
    Worker,
}

/// A fault with all that helps to find its cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// What, where, what to do next.
    pub message: String,
    /// Step of the core lane, if one was running.
    pub step: Option<u32>,
    /// Layer, if one was running.
    pub layer: Option<u16>,
    /// Register names and values.
    pub registers: Vec<(String, u32)>,
    /// Start addresses of the last executed blocks, newest last, with the function if known.
    pub last_blocks: Vec<(u32, String)>,
}
