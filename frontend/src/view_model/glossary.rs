//! The words of the glossary that a view uses.

use crate::state::View;

const TEXT: &str = include_str!("../../../static/lessons/glossary.md");

/// A word and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    pub word: &'static str,
    /// Another name in brackets, if there is one, and the meaning.
    pub meaning: &'static str,
}

/// The words that a view uses, in the order in which it uses them.
pub fn terms(view: View) -> impl Iterator<Item = Term> {
    words(view).iter().filter_map(|word| all().find(|term| term.word == *word))
}

/// All words: `* **Word** (another name): meaning.`, or two of them in a line.
fn all() -> impl Iterator<Item = Term> {
    let lines = TEXT.lines().filter_map(|line| line.strip_prefix("* "));
    lines.flat_map(|line| {
        let mut parts = line.split("**").skip(1);
        std::iter::from_fn(move || {
            Some(Term { word: parts.next()?, meaning: parts.next()?.trim() })
        })
    })
}

const fn words(view: View) -> &'static [&'static str] {
    match view {
        View::Overview => &[
            "Tensor arena",
            "Peak SRAM",
            "Flash",
            "MAC",
            "Proved",
            "Counted",
            "Modelled",
            "Measured",
        ],
        View::Graph => &["Operator", "Activation"],
        View::Tiles => &["Tile", "Halo"],
        View::Memory => &["Live", "In place", "Scratch", "Line buffer", "Tensor arena"],
        View::Film => &["Tile", "Overlay", "Swap", "Lane", "Stall"],
        View::Schedule => &["Lane", "Stall", "DMA", "Frame"],
        View::Roofline => &["Arithmetic intensity", "Roofline"],
        View::Layers => &["Operator", "Kernel", "MAC"],
        View::Quantisation => &["int8"],
        View::Compare => &["Strategy", "Plan", "Objective", "Budget", "Depth-first group"],
        View::Explore => &["Pareto front", "Budget", "Objective"],
        View::Run => &["Invoke", "Frame", "Bit-equal", "Early exit"],
        View::Firmware => &["Flash", "Store image"],
        View::All | View::Sparsity => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_view_is_in_the_glossary() {
        for view in View::ALL {
            let found: Vec<&str> = terms(view).map(|term| term.word).collect();
            assert_eq!(found, words(view), "{}", view.id());
            assert!(terms(view).all(|term| term.meaning.contains(": ")));
        }
        assert!(all().count() > 30);
    }
}
