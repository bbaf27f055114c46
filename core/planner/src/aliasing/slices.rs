//! Slices that are read where their operand lies, so that nothing is copied: the mirror of operands
//! of concats that are made where the output lies.
//!
//! The operand is a tensor of its own place, in which no concat's operand lies. Its bytes stay until
//! the last that reads a slice has run: whether that is better than a copy the search decides.
//!
//! A slice or concat without a copy keeps a larger tensor for longer, so which of them copy is searched
//! (`strategy/aliasing_search.rs`). Where the bound stays below what was found, `strategy/branch_and_bound.rs` settles one
//! after the other, both ways, each with a bound of its own.

use std::collections::BTreeMap;

use super::parts::{Part, Parts, is_run, takes_views};
use crate::lower::{self, Layer, place_of};
use tilewright_model::{Model, Node, Op, TensorId};
use tilewright_plan::{Kernel, Work};

/// Most slices of one tensor that are read where it lies: sets of them are the bits of a word.
const MOST: usize = 64;
/// Most cells into which the borders of its slices cut a tensor.
const MOST_CELLS: usize = 4096;

/// A box of a tensor: its first row, column and channel, and its size.
pub type Place = ([u32; 3], [u32; 3]);

/// Adds to `parts` the slices that can be read where their operand lies.
pub fn add(model: &Model, layers: &[Layer], parts: &mut Parts) {
    let facts = Facts::of(model, layers);
    let count = model.tensors.len();
    let is_joined: Vec<bool> = (0..count).map(|id| parts.has_parts(TensorId(id))).collect();
    // Whatever the order of the layers, the same slices are parts: bounds of orders rely on it.
    let mut by_node: Vec<&Layer> = layers.iter().collect();
    by_node.sort_by_key(|layer| layer.node);
    for layer in by_node {
        let node = &model.nodes[layer.node.0];
        let ([input, ..], [output]) = (node.inputs.as_slice(), node.outputs.as_slice()) else {
            continue;
        };
        let Some(start) = start(model, node, layer) else { continue };
        let (Ok(own), Ok(size)) = (lower::shape(model, *input), lower::shape(model, *output))
        else {
            continue;
        };
        let root = facts.roots[input.0];
        let outer = match parts.place(root) {
            None if !is_joined[root.0] => Part { root, start: [0; 3], whole: own },
            // A slice of a slice, which has one shape only.
            Some(part) if parts.is_slice(root) && root == *input => part,
            _ => continue,
        };
        // What a concat writes are boxes in its own shape.
        if facts.of_concat[root.0] && lower::shape(model, root).ok() != Some(own) {
            continue;
        }
        let start = [0, 1, 2].map(|axis| outer.start[axis] + start[axis]);
        let boxes = parts.slices_of(outer.root);
        // All must see the tensor in one shape.
        let alike = boxes
            .iter()
            .all(|(id, _)| parts.place(*id).is_some_and(|part| part.whole == outer.whole));
        let mut places: Vec<Place> = boxes.iter().map(|(_, place)| *place).collect();
        places.push((start, size));
        let few = places.len() <= MOST && cells(outer.whole, &places) <= MOST_CELLS;
        let readable = facts.anywhere[output.0] || is_run(size, outer.whole);
        if alike && few && readable && parts.place(*output).is_none() {
            let part = Part { root: outer.root, start, whole: outer.whole };
            parts.add_slice(layer.node.0, *output, part, size);
        }
    }
}

/// The first row, column and channel that a slice of whole runs takes of its operand.
fn start(model: &Model, node: &Node, layer: &Layer) -> Option<[u32; 3]> {
    let Op::Slice { begin, stride, .. } = &node.op else { return None };
    let moves = layer.work == Work::Kernel(Kernel::Gather);
    if !moves || stride.iter().any(|step| *step != 1) {
        return None;
    }
    let rank = model.tensor(*node.inputs.first()?).shape.rank();
    let mut start = [0; 3];
    for (axis, begin) in begin.iter().enumerate() {
        match place_of(rank, axis) {
            Some(place) => start[place] = u32::try_from(*begin).ok()?,
            None if *begin == 0 => {}
            None => return None,
        }
    }
    Some(start)
}

struct Facts {
    roots: Vec<TensorId>,
    /// Whether all that use a tensor take rows and pixels that do not follow each other.
    anywhere: Vec<bool>,
    /// Whether a concat makes the tensor.
    of_concat: Vec<bool>,
}

impl Facts {
    fn of(model: &Model, layers: &[Layer]) -> Self {
        let roots = lower::roots(model);
        // Kernels of two operands see a tensor aligned at its last dimension.
        let mut anywhere: Vec<bool> =
            model.tensors.iter().map(|tensor| tensor.shape.rank() == 4).collect();
        for layer in layers {
            for input in &layer.reads {
                anywhere[input.0] &= takes_views(&layer.work);
            }
        }
        for (tensor, root) in roots.iter().enumerate() {
            if root.0 != tensor {
                anywhere[root.0] = false;
            }
        }
        for output in &model.outputs {
            anywhere[roots[output.0].0] = false;
        }
        let mut of_concat = vec![false; model.tensors.len()];
        for node in model.nodes.iter().filter(|node| matches!(node.op, Op::Concat { .. })) {
            node.outputs.iter().for_each(|output| of_concat[output.0] = true);
        }
        Self { roots, anywhere, of_concat }
    }
}

/// Along each axis where boxes begin and end, and where the whole does; ascending.
fn borders(whole: [u32; 3], boxes: &[Place]) -> [Vec<u32>; 3] {
    [0, 1, 2].map(|axis| {
        let ends = boxes.iter().flat_map(|(start, size)| [start[axis], start[axis] + size[axis]]);
        let mut borders: Vec<u32> = ends.chain([0, whole[axis]]).collect();
        borders.sort_unstable();
        borders.dedup();
        borders
    })
}

fn cells(whole: [u32; 3], boxes: &[Place]) -> usize {
    borders(whole, boxes).iter().map(|borders| borders.len() - 1).product()
}

/// How many elements of a tensor lie in the same of its boxes: for each set of boxes that some do,
/// bit by bit, their number. Of 64 boxes at most.
pub fn regions(whole: [u32; 3], boxes: &[Place]) -> BTreeMap<u64, u64> {
    let mut regions = BTreeMap::new();
    let [rows, columns, channels] = borders(whole, boxes);
    for row in rows.windows(2) {
        for column in columns.windows(2) {
            for channel in channels.windows(2) {
                let cell = [row, column, channel];
                let is_in = |(start, size): &Place| {
                    (0..3).all(|axis| {
                        start[axis] <= cell[axis][0] && cell[axis][1] <= start[axis] + size[axis]
                    })
                };
                let inside = boxes.iter().take(MOST).enumerate().filter(|(_, place)| is_in(place));
                let set = inside.fold(0u64, |set, (bit, _)| set | 1 << bit);
                let elements: u64 = cell.iter().map(|side| u64::from(side[1] - side[0])).product();
                *regions.entry(set).or_insert(0) += elements;
            }
        }
    }
    regions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_counted_once() {
        // Two slices of rows that share one, of a tensor of 4x2x3.
        let boxes = [([0, 0, 0], [2, 2, 3]), ([1, 0, 0], [2, 2, 3])];
        let regions = regions([4, 2, 3], &boxes);
        assert_eq!(regions, BTreeMap::from([(0b00, 6), (0b01, 6), (0b10, 6), (0b11, 6)]));
    }
}
