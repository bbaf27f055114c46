//! What layers move between SRAM and a card: whole sectors, of rows or of some of their columns.
//!
//! Boxes of some columns let weights come as seldom as with rows where three rows and the one that is made do not fit. A copy
//! brings rows in one step, apart on the card and one behind the other in SRAM.

use crate::narrow::narrow;
use std::ops::Range;

use super::{DepthFirstGroup, Made, Network};
use crate::schedule::cut::Strip;
use crate::schedule::operator::{Operator, SECTOR, Tiny};
use tilewright_plan::Space;

/// Bytes of a tensor that a step moves between SRAM and a card.
pub struct Moved {
    /// How many.
    pub bytes: u64,
    /// In how many runs.
    pub runs: u64,
    /// Whether they come.
    pub is_read: bool,
}

impl<'p> Network<'p> {
    /// Bytes of the card's sectors that hold the least part of a layer's weights there.
    pub fn least_weights(&self, layer: usize) -> u64 {
        let made = self.layers.get(layer).and_then(Option::as_ref);
        let least = made.map_or(0, |made| made.operator.least_part());
        match self.weights(layer) {
            0 => 0,
            all if least.is_multiple_of(SECTOR) => least.min(all.next_multiple_of(SECTOR)),
            all => (least.next_multiple_of(SECTOR) + SECTOR).min(all.next_multiple_of(SECTOR)),
        }
    }

    /// Columns of a layer's output that take whole sectors of a card, if rows begin at sectors; nothing if its columns
    /// cannot be made alone.
    pub fn whole_columns(&self, layer: usize) -> Option<[u16; 2]> {
        let made = self.layers.get(layer).and_then(Option::as_ref)?;
        let [_, columns, channels] = self.tensors[made.output].shape;
        made.operator.across(&made.operator.whole(), 0..1)?;
        let even = narrow::<u32>(SECTOR) >> channels.trailing_zeros().min(SECTOR.trailing_zeros());
        Some([u16::try_from(even).ok()?, u16::try_from(columns).ok()?])
    }

    /// What a strip computes.
    pub fn computed(&self, strip: &Strip) -> Option<(&'p Operator<'p>, Tiny)> {
        let operator = self.layers.get(strip.layer)?.as_ref()?.operator;
        let rows = operator.among(&strip.rows)?;
        Some((operator, strip.part(operator, rows)?))
    }

    /// What a strip moves of tensors that lie on a card.
    pub fn moved(&self, group: &DepthFirstGroup, strip: &Strip) -> Vec<Moved> {
        let Some(Some(layer)) = self.layers.get(strip.layer) else { return Vec::new() };
        self.moves(layer, strip, &group.outside)
    }

    /// Bytes of SRAM for what a step needs of tensors outside, if they lie on a card: rows begin at sectors there.
    pub(super) fn staged(&self, layer: &Made<'p>, strip: &Strip, outside: &[usize]) -> u64 {
        self.moves(layer, strip, outside).into_iter().map(|moved| moved.bytes).sum()
    }

    fn moves(&self, layer: &Made<'p>, strip: &Strip, outside: &[usize]) -> Vec<Moved> {
        if self.outside != Space::Card {
            return Vec::new();
        }
        let moved = |(tensor, rows): (usize, Range<u16>)| {
            let [_, columns, channels] = self.tensors[tensor].shape.map(u64::from);
            let mut bytes = (columns * channels).next_multiple_of(SECTOR);
            let rows = u64::from(rows.end - rows.start);
            let mut runs = 1;
            if let Some(seen) = strip.columns.as_ref().and_then(|c| layer.columns(tensor, c)) {
                let [start, end] = [seen.start, seen.end].map(|at| u64::from(at) * channels);
                let line = end.next_multiple_of(SECTOR) - start / SECTOR * SECTOR;
                runs = if line < bytes { rows } else { 1 };
                bytes = bytes.min(line);
            }
            Moved { bytes: rows * bytes, runs, is_read: tensor != layer.output }
        };
        let reads = layer.reads(strip.rows.clone()).unwrap_or_default();
        let all = reads.into_iter().chain([(layer.output, strip.rows.clone())]);
        all.filter(|(tensor, _)| outside.contains(tensor)).map(moved).collect()
    }
}

impl Made<'_> {
    /// The columns of a tensor that these of its output are made from, or are.
    fn columns(&self, tensor: usize, columns: &Range<u16>) -> Option<Range<u16>> {
        if tensor == self.output {
            return Some(columns.clone());
        }
        let tiny = self.operator.across(&self.operator.whole(), columns.clone())?;
        let (operand, _) = self.inputs.iter().find(|(_, own)| *own == tensor)?;
        let view = tiny.views.get(*operand)?;
        let first = u16::try_from(view.x0).ok()?;
        Some(first..first.checked_add(view.w)?)
    }
}

/// The same rows by so many columns at a time; nothing if the layer cannot be made so.
pub(super) fn across(layer: &Made<'_>, made: &[Strip], each: u16) -> Option<Vec<Strip>> {
    let all = layer.operator.tile();
    let (start, end) = (all.output_start[1], all.output_start[1] + all.output_size[1]);
    let mut parts = Vec::new();
    for Strip { layer: number, rows, .. } in made {
        let whole = layer.operator.made(rows.clone())?;
        let mut at = start;
        while at < end {
            let columns = at..end.min(at.saturating_add(each));
            layer.operator.across(&whole, columns.clone())?;
            at = columns.end;
            let (layer, rows, columns) = (*number, rows.clone(), Some(columns));
            parts.push(Strip { layer, rows, columns, channels: None });
        }
    }
    Some(parts)
}
