//! Cost files, as `costs/*.toml` hold them. Build script and library share this file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Number of features of a compute step.
pub const FEATURES: usize = 5;

/// Cost of one kernel: thousandths for each unit of each feature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelCost {
    /// Thousandths of instructions.
    pub milli_instructions: [u64; FEATURES],
    /// Thousandths of cycles.
    pub milli_cycles: [u64; FEATURES],
    /// Largest error against the calibration runs, in thousandths of the counted instructions.
    pub instruction_error_permille: u64,
    /// Largest error against the calibration runs, in thousandths of the emulated cycles.
    pub cycle_error_permille: u64,
}

/// A file in `costs/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// How the coefficients came to be.
    pub source: String,
    /// By kernel name.
    pub kernels: BTreeMap<String, KernelCost>,
}
