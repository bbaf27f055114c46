//! Depth-first groups by channels: a layer makes some channels of all pixels, and those behind it what they make of
//! them. Of a tensor between them one block of channels is held; what goes in and what comes out is held whole.
//!
//! So a global pool does not hold the map that it takes together, however many channels that has, and nothing is
//! computed again (the fan-out half of "fused depthwise tiling").

use crate::narrow::narrow;
use std::ops::Range;

use super::{Block, DepthFirstGroup, Made, Network};
use crate::aliasing::Held;
use crate::schedule::cut::{Fineness, Strip};
use tilewright_plan::Bytes;

impl<'p> Network<'p> {
    /// The group of these layers that makes so many channels at a time; nothing if the first cannot make channels
    /// alone, one behind it does not keep them apart, or something else uses what lies between them.
    pub(super) fn in_channels(
        &self,
        layers: Range<usize>,
        fineness: Fineness,
        each: u32,
    ) -> Option<DepthFirstGroup> {
        let own: Option<Vec<&Made<'p>>> =
            self.layers.get(layers.clone())?.iter().map(Option::as_ref).collect();
        let own = own.filter(|own| own.len() > 1)?;
        let [first, behind @ ..] = own.as_slice() else { return None };
        let channels = |made: &Made<'_>| self.tensors[made.output].shape[2];
        let all = channels(first);
        let follows = |(before, made): (&&Made<'p>, &&Made<'p>)| {
            let reads_it_alone =
                matches!(made.inputs.as_slice(), [(_, tensor)] if *tensor == before.output);
            reads_it_alone && made.operator.keeps_channels() && channels(made) == all
        };
        let between = own.iter().zip(behind);
        let is_chain = between.clone().all(follows) && first.operator.makes_channels();
        let is_inside = between.enumerate().all(|(place, (made, _))| {
            let readers = &self.readers[made.output];
            readers.as_slice() == [layers.start + place + 1]
                && !self.is_given[made.output]
                && !self.reshaped.contains(&made.output)
        });
        if !is_chain || !is_inside || each >= all {
            return None;
        }
        let mut made = Vec::new();
        for start in (0..all).step_by(each.max(1) as usize) {
            let channels = start..all.min(start.saturating_add(each));
            for (layer, own) in layers.clone().zip(&own) {
                own.operator.narrowed(&own.operator.whole(), channels.clone())?;
                let (rows, channels) = (own.operator.rows(), Some(channels.clone()));
                made.push(Strip { layer, rows, columns: None, channels });
            }
        }
        let life = [layers.start, layers.end].map(narrow);
        let whole = |tensor: usize| Held { tensor, bytes: Bytes(self.bytes(tensor)), life };
        let (last, inner) = own.split_last()?;
        let mut held: Vec<Held> = first.inputs.iter().map(|(_, tensor)| whole(*tensor)).collect();
        held.push(whole(last.output));
        let mut blocks = Vec::new();
        for tensor in inner.iter().map(|made| made.output) {
            blocks.push(Block { tensor, channels: each });
            let bytes = Bytes(self.bytes(tensor) / u64::from(all) * u64::from(each));
            held.push(Held { tensor, bytes, life });
        }
        Some(DepthFirstGroup {
            layers,
            fineness,
            made,
            line_buffers: Vec::new(),
            blocks,
            held,
            overlaps: Vec::new(),
            outside: Vec::new(),
            staged: 0,
        })
    }
}
