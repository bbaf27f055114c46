//! What fits a small board: networks, each with several techniques.

use crate::remedy::{FLASH, SRAM};
use serde::{Deserialize, Serialize};

/// A family of networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// MobileNetV1.
    V1,
    /// MobileNetV2.
    V2,
}

impl Family {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "MobileNetV1",
            Self::V2 => "MobileNetV2",
        }
    }
}

/// What is done to a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Technique {
    /// Nothing: order as given, layers whole, weights in flash.
    Dense,
    /// Four of five weights are zero and not stored.
    Sparse,
    /// The layers of most active memory are in 2x2 tiles.
    Tiled,
    /// Both.
    SparseTiled,
    /// The best plan of the sparse network that is found.
    Auto,
}

impl Technique {
    /// All, in the order of the experiment.
    pub const ALL: [Self; 5] =
        [Self::Dense, Self::Sparse, Self::Tiled, Self::SparseTiled, Self::Auto];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse => "sparse",
            Self::Tiled => "tiled",
            Self::SparseTiled => "sparse-tiled",
            Self::Auto => "auto",
        }
    }
}

/// A network with a technique.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitCell {
    /// The network's name in the zoo.
    pub network: String,
    /// Its family.
    pub family: Family,
    /// Its width multiplier.
    pub width: String,
    /// Rows and columns of its input.
    pub resolution: u32,
    /// Top-1 accuracy on ImageNet in per mille, as published for the dense network.
    pub accuracy_permille: u16,
    /// What was done.
    pub technique: Technique,
    /// The tensor arena (counted).
    pub sram_bytes: u64,
    /// SRAM as the paper counts it; nothing of what the paper does not have.
    pub published_sram_bytes: Option<u64>,
    /// Flash of the plan (counted).
    pub flash_bytes: u64,
    /// SRAM and flash that are usable.
    pub limits: [u64; 2],
    /// Predicted latency (modelled), whether it fits or not.
    pub latency_us: Option<f64>,
    /// Multiply-accumulates, and those of them that tiles make again.
    pub macs: u64,
    /// See `macs`.
    pub recomputed_macs: u64,
    /// Whether it fits.
    pub fits: bool,
}

impl FitCell {
    /// The network's name as people write it: family, width, resolution.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} {}@{}", self.family.name(), self.width, self.resolution)
    }

    /// What it has too little of, by the arena that was planned.
    #[must_use]
    pub fn lacks(&self) -> Vec<&'static str> {
        lacks(self.sram_bytes, self)
    }

    /// What it has too little of by the paper's count of SRAM.
    #[must_use]
    pub fn lacks_as_published(&self) -> Vec<&'static str> {
        lacks(self.published_sram_bytes.unwrap_or(self.sram_bytes), self)
    }
}

fn lacks(sram: u64, cell: &FitCell) -> Vec<&'static str> {
    let needed = [(SRAM, sram), (FLASH, cell.flash_bytes)];
    let lacking = needed.into_iter().zip(cell.limits).filter(|((_, needed), had)| needed > had);
    lacking.map(|((name, _), _)| name).collect()
}

/// A sentence of a paper, and whether it holds here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FitClaim {
    /// What the paper says.
    pub claim: String,
    /// Whether it holds by the paper's count of SRAM.
    pub as_published: bool,
    /// Whether it holds of the plans.
    pub as_planned: bool,
    /// What was found in the plans.
    pub found: String,
}

/// A whole experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// The board.
    pub board: String,
    /// Networks, each with all techniques in turn.
    pub cells: Vec<FitCell>,
    /// What the paper says of them.
    pub claims: Vec<FitClaim>,
}
