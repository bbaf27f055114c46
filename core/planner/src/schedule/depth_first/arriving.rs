//! A frame that arrives in rows while a depth-first group uses it.

use std::ops::Range;

use super::{Made, Network};
use crate::schedule::cut::Strip;

impl<'p> Network<'p> {
    /// Rows of a frame that are held at once, if it arrives in rows and these layers alone use it; nothing if all are.
    pub(super) fn arriving_rows(
        &self,
        tensor: usize,
        made: &[Strip],
        own: &[&Made<'p>],
        layers: &Range<usize>,
    ) -> Option<u32> {
        let is_own = self.readers[tensor].iter().all(|reader| layers.contains(reader));
        let is_frame = self.arrives && self.frames.contains(&tensor);
        if !is_frame || !is_own || self.outputs.contains(&tensor) {
            return None;
        }
        let (mut done, mut arrived, mut most) = (vec![0u16; own.len()], 0, 0);
        for strip in made {
            let place = strip.layer - layers.start;
            let reads = own[place].reads(strip.rows.clone())?;
            if let Some(end) = reads.iter().filter(|r| r.0 == tensor).map(|r| r.1.end).max() {
                arrived = end.max(arrived);
                let readers = own.iter().zip(&done);
                let first = readers.filter_map(|(reader, done)| reader.needs(tensor, *done)).min();
                most = most.max(u32::from(arrived - first.unwrap_or(arrived).min(arrived)));
            }
            done[place] = strip.rows.end;
        }
        let all = self.tensors[tensor].shape[0];
        (0 < most && most < all).then_some(most)
    }
}
