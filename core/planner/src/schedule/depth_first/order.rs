//! In which order the layers of a depth-first group make rows.

use super::Made;
use crate::schedule::cut::Strip;

/// Rows under way.
pub(super) struct Order<'n, 'p> {
    /// The layers.
    pub own: Vec<&'n Made<'p>>,
    /// The first layer.
    pub first: usize,
    /// Rows of each layer that are made at once.
    pub at_once: Vec<u16>,
    /// Rows of each layer that are made.
    pub done: Vec<u16>,
    /// What is made, one after the other.
    pub made: Vec<Strip>,
}

impl Order<'_, '_> {
    /// Makes the rows of a layer before `end`, and what they are made from.
    pub fn make(&mut self, layer: usize, end: u16) -> Option<()> {
        let place = layer - self.first;
        while self.done[place] < end {
            let start = self.done[place];
            let rows = start..self.own[place].rows.min(start + self.at_once[place]);
            for (tensor, read) in self.own[place].reads(rows.clone())? {
                let maker = self.own.iter().position(|made| made.output == tensor);
                if let Some(maker) = maker.filter(|maker| *maker != place) {
                    self.make(self.first + maker, read.end)?;
                }
            }
            self.done[place] = rows.end;
            self.made.push(Strip { layer, rows, columns: None, channels: None });
        }
        Some(())
    }
}
