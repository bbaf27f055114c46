//! Searches for cells: what the page asks for, and how they go.

use serde::{Deserialize, Serialize};

use super::CellDraft;

/// How cells are searched, as far as the page lets a person choose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchSettings {
    /// Γ, what the loss weighs cost with.
    pub trade_off: f64,
    pub seed: u32,
    pub steps: u32,
    /// Cells of the network.
    pub cells: u32,
    /// Channels before the first reduction.
    pub channels: u32,
}

impl Default for SearchSettings {
    /// Small enough for a few steps a second.
    fn default() -> Self {
        Self { trade_off: 0.02, seed: 0, steps: 200, cells: 4, channels: 4 }
    }
}

/// What the search's worker is asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SearchRequest {
    /// Begins a search in place of the one before. Buffers: the images, in one file or two.
    Begin(SearchSettings),
    /// Does the next step.
    GoOn {
        /// Steps that the page knows of.
        known: u32,
    },
}

/// A step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchStep {
    /// From 1.
    pub step: u32,
    /// Cross entropy of a batch of validation images.
    pub loss: f64,
    /// Part of them that is classified rightly, 0 to 1.
    pub accuracy: f64,
    /// L_com in cycles.
    pub cost: f64,
    /// Cycles of the normal and the reduction cell that the step comes to.
    pub cells: [u64; 2],
}

/// How a search went, and the cells that it has come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchLog {
    /// Γ.
    pub trade_off: f64,
    pub steps: Vec<SearchStep>,
    /// The cells; how they are stacked means nothing.
    pub found: CellDraft,
}

/// What the worker says after a step, or before the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchNews {
    /// Images that it learns from.
    pub images: u32,
    /// Steps that the page did not know of.
    pub steps: Vec<SearchStep>,
    /// The cells that it comes to by now.
    pub found: CellDraft,
    /// Why it can learn no more, if that is so.
    pub diverged: Option<String>,
}
