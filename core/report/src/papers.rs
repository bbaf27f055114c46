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

/// A figure as people write it; `grouped` writes whole numbers.
#[must_use]
pub fn paper_number(figure: f64, grouped: impl Fn(u64) -> String) -> String {
    let size = figure.abs();
    let text = match size {
        whole if whole < 1e15 && whole.fract() == 0.0 => grouped(whole as u64),
        0.0..10.0 => format!("{size:.2}"),
        10.0..1000.0 => format!("{size:.1}"),
        _ => grouped(size.round() as u64),
    };
    if figure < 0.0 { format!("−{text}") } else { text }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_or_are_whole_and_keep_their_sign() {
        let text = |figure| paper_number(figure, |whole| whole.to_string());
        let texts = [0.0, 2.0, 0.017, 12.34, 1234.5, -3.0, -0.25].map(text);
        assert_eq!(texts, ["0", "2", "0.02", "12.3", "1235", "−3", "−0.25"]);
    }
}
