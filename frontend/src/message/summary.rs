//! A model in figures.

use serde::{Deserialize, Serialize};

/// A model in figures, before anything is planned. Bytes count each tensor once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SummaryFacts {
    /// Bytes of weights as the file has them, and as int8 with biases of 32 bits.
    pub weight_bytes: [u64; 2],
    /// Bytes of inputs and results, likewise.
    pub activation_bytes: [u64; 2],
    /// Operators by kind: those with most multiply-accumulates first.
    pub kinds: Vec<KindFacts>,
}

/// All operators of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindFacts {
    /// Name.
    pub op: String,
    /// How many there are.
    pub count: u32,
    /// Their multiply-accumulates.
    pub macs: u64,
    /// Their share of all, in percent.
    pub macs_percent: f64,
    /// Their parameters.
    pub parameters: u64,
    /// Bytes of their results, as the file has them.
    pub activation_bytes: u64,
    /// Whether nothing here computes them.
    pub is_opaque: bool,
}
