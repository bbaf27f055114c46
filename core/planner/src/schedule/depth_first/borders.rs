//! What lies between depth-first groups.

use std::ops::Range;

use super::Network;
use tilewright_plan::{PlannedTensor, Space};

impl Network<'_> {
    /// The tensors that layers from one on, before another layer, make and others from that on read.
    pub fn crossing(&self, first: usize, layer: usize) -> Vec<usize> {
        let layers = first.min(layer)..layer;
        let made = layers.filter_map(|layer| self.in_rows(layer)).map(|made| made.output);
        made.filter(|tensor| self.readers[*tensor].iter().any(|reader| *reader >= layer)).collect()
    }

    /// Whether a tensor may lie outside of SRAM between layers: on a card, where rows begin at sectors, not one that
    /// programs give, nor one that some layers know by another shape.
    pub fn may_leave(&self, tensor: usize) -> bool {
        let is_bound = self.outputs.contains(&tensor) || self.reshaped.contains(&tensor);
        self.outside != Space::Card || !is_bound
    }

    /// Bytes of the tensors that are there before some layers and needed behind them, which they do not use.
    pub fn passing(&self, layers: &Range<usize>) -> u64 {
        let passes = |tensor: &usize| {
            let PlannedTensor { first, end, .. } = self.tensors[*tensor];
            let is_used = self.readers[*tensor].iter().any(|reader| layers.contains(reader));
            let is_there = (first as usize) < layers.start || self.frames.contains(tensor);
            is_there && !is_used && end as usize > layers.end
        };
        (0..self.tensors.len()).filter(passes).map(|tensor| self.bytes(tensor)).sum()
    }
}
