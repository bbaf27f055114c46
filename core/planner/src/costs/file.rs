//! Cost files, as `costs/*.toml` hold them. Build script and library share this file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Cost of one kernel, in thousandths for each unit of a feature, by the features' names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelCost {
    /// Largest error against the calibration runs, in thousandths of the emulated cycles.
    pub cycle_error_permille: u64,
    /// Largest error of the waits for code against the calibration runs, in thousandths of the emulated
    /// cycles.
    #[serde(default)]
    pub code_error_permille: u64,
    /// Cycles that the first step of the kernel in a run takes longer than a later one: the core has
    /// not met its branches.
    #[serde(default)]
    pub first_cycles: u64,
    /// Thousandths of cycles.
    pub milli_cycles: BTreeMap<String, u64>,
    /// Thousandths of cycles that the core waits for code from flash, where it came from other code.
    #[serde(default)]
    pub milli_code_waits: BTreeMap<String, u64>,
    /// The same where the step before was the kernel's too, and left its lines.
    #[serde(default)]
    pub milli_code_waits_again: BTreeMap<String, u64>,
    /// Loads and stores outside of the chip, on a core without a data cache; nothing where they were not
    /// counted.
    #[serde(default)]
    pub outside: Option<OutsideCost>,
}

/// What a kernel loads and stores outside of the chip on a core without a data cache, in thousandths for each
/// unit of a feature, by the features' names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutsideCost {
    /// Largest error of the waits where all operands lie there, in thousandths of the emulated cycles.
    pub error_permille: u64,
    /// Thousandths of cycles that stores of the output wait, each for the one before it.
    pub milli_store_waits: BTreeMap<String, u64>,
    /// Thousandths of cycles that loads wait for stores, where both go to the same memory.
    pub milli_waits_between: BTreeMap<String, u64>,
    /// Thousandths of loads of operands, by their role.
    pub milli_loads: BTreeMap<String, BTreeMap<String, u64>>,
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
    /// Cycles that the core waited for a line of code where waits were calibrated; 0: waits are part of
    /// the cycles, or nobody knows them.
    #[serde(default)]
    pub code_miss: u64,
    /// Cycles of a store in the external memory that waits for stores were calibrated with; 0: none were.
    #[serde(default)]
    pub store_cycles: u64,
    /// Internal flash of the board that they are for; nothing: nobody waits for it, or nobody knows.
    #[serde(skip)]
    pub flash: Option<Flash>,
    /// By kernel name.
    pub kernels: BTreeMap<String, KernelCost>,
}

/// How internal flash makes the core wait for constants, and how often for code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flash {
    /// Cycles for a line that is not kept.
    pub miss: u64,
    /// Bytes of a line of constants.
    pub line_bytes: u64,
    /// Lines of constants that are kept.
    pub lines: u64,
    /// Lines that one address can lie in.
    pub ways: u64,
    /// Whether the line that was used longest ago goes for another, or any.
    pub oldest: bool,
}
