//! Cost files, as `costs/*.toml` hold them. Build script and library share this file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Cost of one kernel, in thousandths for each unit of a feature, by the features' names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelCost {
    /// Largest error against the calibration runs, in thousandths of the counted instructions.
    pub instruction_error_permille: u64,
    /// Largest error against the calibration runs, in thousandths of the emulated cycles.
    pub cycle_error_permille: u64,
    /// Cycles that the first step of the kernel in a run takes longer than a later one: the core has
    /// not met its branches.
    #[serde(default)]
    pub first_cycles: u64,
    /// Thousandths of instructions.
    pub milli_instructions: BTreeMap<String, u64>,
    /// Thousandths of cycles.
    pub milli_cycles: BTreeMap<String, u64>,
}

/// A file in `costs/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// How the coefficients came to be.
    pub source: String,
    /// Whether convolutions expand their windows to 16-bit integers in scratch memory first; it lies
    /// where their input does.
    #[serde(default)]
    pub im2col: bool,
    /// By kernel name.
    pub kernels: BTreeMap<String, KernelCost>,
}
