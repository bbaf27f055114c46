//! Where each layer's weights lie in the one list of all.

use std::ops::Range;

use crate::random::Random;

/// Weights of a layer.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    range: Range<usize>,
    beginning: Beginning,
}

/// What weights begin with.
#[derive(Clone, Copy, Debug)]
enum Beginning {
    /// Uniform, with a variance of 1 / (3 · values that a result adds up), as PyTorch begins.
    OfFanIn(usize),
    All(f32),
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
    /// Weights of which a result adds up `fan_in`.
    pub fn take(&mut self, length: usize, fan_in: usize) -> Slot {
        self.place(length, Beginning::OfFanIn(fan_in))
    }

    /// Weights that all begin with `value`.
    pub fn take_all(&mut self, length: usize, value: f32) -> Slot {
        self.place(length, Beginning::All(value))
    }

    fn place(&mut self, length: usize, beginning: Beginning) -> Slot {
        let slot = Slot { range: self.length..self.length + length, beginning };
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

    /// Weights to begin with.
    pub fn begin(&self, random: &mut Random) -> Vec<f32> {
        let mut weights = Vec::with_capacity(self.length);
        for slot in &self.slots {
            let of_slot = slot.range.clone();
            match slot.beginning {
                Beginning::OfFanIn(count) => {
                    let most = 1.0 / (count as f32).sqrt();
                    weights.extend(of_slot.map(|_| random.within(most)));
                }
                Beginning::All(value) => weights.extend(of_slot.map(|_| value)),
            }
        }
        weights
    }
}
