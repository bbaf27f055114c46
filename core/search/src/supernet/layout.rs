//! Where each layer's weights lie in the one list of all.

use std::ops::Range;

use crate::random::Random;

/// Weights of a layer.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    range: Range<usize>,
    /// Values that a result adds up.
    fan_in: usize,
}

impl Slot {
    /// The layer's part of all.
    pub fn of<'w>(&self, all: &'w [f32]) -> &'w [f32] {
        &all[self.range.clone()]
    }

    /// The same, to write to.
    pub fn of_mut<'w>(&self, all: &'w mut [f32]) -> &'w mut [f32] {
        &mut all[self.range.clone()]
    }
}

/// Gives layers their places, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    slots: Vec<Slot>,
    length: usize,
}

impl Layout {
    pub fn take(&mut self, length: usize, fan_in: usize) -> Slot {
        let slot = Slot { range: self.length..self.length + length, fan_in };
        self.length += length;
        self.slots.push(slot.clone());
        slot
    }

    pub const fn length(&self) -> usize {
        self.length
    }

    /// All layers' places.
    #[cfg(test)]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Weights to begin with: uniform, with a variance of 1 / (3 · fan in), as PyTorch begins.
    pub fn begin(&self, random: &mut Random) -> Vec<f32> {
        let mut weights = Vec::with_capacity(self.length);
        for slot in &self.slots {
            let most = 1.0 / (slot.fan_in as f32).sqrt();
            weights.extend(slot.range.clone().map(|_| random.within(most)));
        }
        weights
    }
}

/// What a step wants the gradient by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The layers' weights.
    Weights,
    /// The architecture's.
    Architecture,
}
