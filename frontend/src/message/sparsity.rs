//! What pruning did to a model.

use serde::{Deserialize, Serialize};

/// What pruning did to a model's weights, layer by layer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparsityFacts {
    /// What was asked for, in thousandths of all groups of weights.
    pub sparsity: u16,
    /// Layers whose weights can be pruned, in order of execution; empty if there are none.
    pub layers: Vec<SparsityLayer>,
    /// Why the model cannot be pruned, for people; empty if it can.
    pub obstacle: String,
}

/// What pruning did to a layer's weights.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SparsityLayer {
    /// The node of the int8 model.
    pub node: u32,
    pub name: String,
    pub weights: u64,
    /// Those that were zero before.
    pub zeros_before: u64,
    /// Those that are zero now, as they were pruned: rounding to int8 makes more.
    pub zeros: u64,
}
