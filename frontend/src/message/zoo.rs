//! Networks of the zoo.

use serde::{Deserialize, Serialize};

/// A network of the zoo, in its usual size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ZooEntry {
    /// Name.
    pub name: String,
    /// Networks of one family stand together.
    pub family: String,
    /// What it is, in a few words.
    pub about: String,
    /// Parameters.
    pub parameters: u64,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Widths that can be chosen.
    pub width: Option<ZooSpan>,
    /// Heights and widths of the input in pixels that can be chosen.
    pub resolution: Option<ZooSpan>,
    /// Whether some publication states its figures.
    pub is_published: bool,
}

/// Sizes that can be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ZooSpan {
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// A sensible step.
    pub step: f64,
    /// The usual.
    pub default: f64,
}

/// A network of the zoo in one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ZooSize {
    /// Name with its size, as in links.
    pub name: String,
    /// Shape of the input.
    pub input: String,
    /// Operators.
    pub operators: u32,
    /// Parameters.
    pub parameters: u64,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Bytes of weights as int8.
    pub weight_bytes: u64,
    /// Bytes of the largest activation as int8.
    pub largest_bytes: u64,
    /// What publications say of sizes of this network.
    pub publications: Vec<ZooPublication>,
}

/// What a publication says of a size of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZooPublication {
    /// The size.
    pub name: String,
    /// Parameters, and ours counted in the same way.
    pub parameters: Option<[u64; 2]>,
    /// Multiply-accumulates, and ours.
    pub macs: Option<[u64; 2]>,
    /// Where it stands.
    pub source: String,
    /// Why ours is more than 0.5 % away; empty if it is not.
    pub difference: String,
}
