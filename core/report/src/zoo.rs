//! Networks of the zoo, as the page, `zoo` and `/api/zoo` list them.

use serde::{Deserialize, Serialize};

/// A network, for people and scripts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ZooView {
    /// What stands behind `zoo:`.
    pub name: String,
    /// Networks of one family stand together.
    pub family: String,
    /// What it is, in a few words.
    pub about: String,
    /// Parameters, batch normalisation folded.
    pub parameters: u64,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Operators.
    pub operators: usize,
    /// Shape of the input: NHWC, or a vector behind a batch of 1.
    pub input: Vec<usize>,
    /// Widths that can be chosen, as `-w0.35` behind the name.
    pub width: Option<Slider>,
    /// Heights and widths of the input in pixels that can be chosen, as `-r96` behind the name.
    pub resolution: Option<Slider>,
    /// Channels of a stack's first cells that can be chosen, as `-c8` behind the name.
    pub channels: Option<Slider>,
    /// Numbers of a stack's cells that can be chosen, as `-n8` behind the name.
    pub cells: Option<Slider>,
    /// What publications say, with ours beside it.
    pub publications: Vec<PublicationView>,
}

/// Sizes that can be chosen; between steps too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Slider {
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// A sensible step.
    pub step: f64,
    /// Where the name has none.
    pub default: f64,
}

/// What a publication says of a size of a network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PublicationView {
    /// The size.
    pub name: String,
    /// Published parameters.
    pub parameters: Option<u64>,
    /// Ours, counted in the same way: with what folding batch normalisation has taken away.
    pub our_parameters: u64,
    /// Published multiply-accumulates.
    pub macs: Option<u64>,
    /// Ours.
    pub our_macs: u64,
    /// Where it stands.
    pub source: String,
    /// Why ours is more than 0.5 % away, if it is.
    pub difference: Option<String>,
}

/// What a network needs in one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ZooSize {
    /// Name with its size, as in links.
    pub name: String,
    /// Shape of the input: NHWC, or a vector behind a batch of 1.
    pub input: Vec<usize>,
    /// Operators.
    pub operators: usize,
    /// Parameters, batch normalisation folded.
    pub parameters: u64,
    /// Multiply-accumulates.
    pub macs: u64,
    /// Bytes of weights as int8.
    pub weight_bytes: u64,
    /// Bytes of the largest activation as int8.
    pub largest_bytes: u64,
}
