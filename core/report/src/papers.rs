//! Figures of publications beside ours.

use serde::{Deserialize, Serialize};

use crate::figure::Kind;

/// A figure here beside a published one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperFigure {
    /// The table or figure of the paper, or what is compared.
    pub what: String,
    /// The network, or the layer.
    pub of: String,
    /// How it is planned or measured.
    pub setting: String,
    /// Here.
    pub ours: f64,
    /// What the paper prints; nothing where its curve is a picture, or where it has none.
    pub printed: Option<f64>,
    /// Of both; may be empty.
    pub unit: String,
    /// How ours came to be.
    pub kind: Kind,
    /// Ours over printed, less one; nothing if either is not there.
    pub difference: Option<f64>,
    /// Why, if it is more than a tenth.
    pub why: Option<String>,
    /// The plan that ours is of, if it is of one.
    pub plan: Option<PaperPlan>,
}

/// How to make a plan again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaperPlan {
    /// Network of the zoo.
    pub network: String,
    /// Board id.
    pub board: String,
    /// Strategy.
    pub strategy: String,
    /// Budget of SRAM; nothing: the board's.
    pub sram_bytes: Option<u64>,
}

impl PaperPlan {
    /// The command that makes it.
    #[must_use]
    pub fn command(&self) -> String {
        let Self { network, board, strategy, sram_bytes } = self;
        let sram = sram_bytes.map_or_else(String::new, |bytes| format!(" --sram {bytes}"));
        format!("tilewright plan zoo:{network} --board {board} --strategy {strategy}{sram}")
    }
}

/// A paper, and figures of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PaperReport {
    /// Id, as the command line takes it.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// Authors, title, place and year.
    pub citation: String,
    /// How the paper is read where it leaves room.
    pub reading: String,
    /// How many parts its figures are made in.
    pub parts: usize,
    /// Those that are made, by what is compared.
    pub figures: Vec<PaperFigure>,
}
