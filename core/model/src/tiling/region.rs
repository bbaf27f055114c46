//! Which layers are made in tiles: those whose active memory is above a part of the peak.

use std::ops::Range;

use super::{TilingError, branch};
use crate::graph::{Model, Node, TensorId};
use crate::op::Op;

/// Nodes that follow each other, between which and all others one tensor goes in and one comes out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The nodes, by their positions in the model.
    pub nodes: Range<usize>,
    /// What goes in.
    pub input: TensorId,
    /// What comes out.
    pub output: TensorId,
}

impl Region {
    /// From the first node whose active memory is more than `threshold` thousandths of the most to the last, and on to
    /// the nearest borders that one tensor crosses: residual blocks stay whole.
    ///
    /// # Errors
    /// [`TilingError`] if there are no such nodes that can be made in tiles.
    pub fn of(model: &Model, threshold: u16) -> Result<Self, TilingError> {
        if threshold > 1000 {
            return Err(TilingError::Threshold);
        }
        let active = active_bytes(model);
        let peak = (0..active.len()).max_by_key(|node| (active[*node], std::cmp::Reverse(*node)));
        let peak = peak.ok_or(TilingError::NoLayers)?;
        let limit = u128::from(active[peak]) * u128::from(threshold);
        let is_above = |node: &usize| u128::from(active[*node]) * 1000 > limit;
        let start = (0..peak).find(is_above).unwrap_or(peak);
        let end = (peak..active.len()).rev().find(is_above).unwrap_or(peak) + 1;
        Self::around(model, peak, start..end)
    }

    /// The region of some nodes.
    ///
    /// # Errors
    /// [`TilingError`] if one of them cannot be made in tiles, or more than one tensor goes in or comes out.
    pub fn spanning(model: &Model, nodes: Range<usize>) -> Result<Self, TilingError> {
        if nodes.is_empty() || nodes.end > model.nodes.len() {
            return Err(TilingError::NoLayers);
        }
        for node in nodes.clone() {
            if let Some(reason) = branch::obstacle(model, &model.nodes[node]) {
                return Err(refused(model, node, reason));
            }
        }
        let found = Self::between(model, &crossing(model), nodes.clone());
        found.ok_or_else(|| refused(model, nodes.start, ENTANGLED))
    }

    /// The region of nodes between two borders, if one tensor crosses each and no output is made inside.
    fn between(model: &Model, crossing: &[Option<TensorId>], nodes: Range<usize>) -> Option<Self> {
        let (input, output) = (crossing[nodes.start]?, crossing[nodes.end]?);
        let mut made = model.nodes[nodes.clone()].iter().flat_map(|node| &node.outputs);
        let is_apart =
            input != output && !made.any(|made| *made != output && model.outputs.contains(made));
        is_apart.then_some(Self { nodes, input, output })
    }

    /// The region of `wanted` nodes and those between them and the nearest borders, as far as nodes around `peak` can
    /// be made in tiles.
    fn around(model: &Model, peak: usize, wanted: Range<usize>) -> Result<Self, TilingError> {
        if let Some(reason) = branch::obstacle(model, &model.nodes[peak]) {
            return Err(refused(model, peak, reason));
        }
        let is_free = |node: &usize| branch::obstacle(model, &model.nodes[*node]).is_none();
        let first = (0..peak).rev().take_while(is_free).last().unwrap_or(peak);
        let last = (peak..model.nodes.len()).take_while(is_free).last().unwrap_or(peak) + 1;
        let crossing = crossing(model);
        let is_border = |border: &usize| crossing[*border].is_some();
        // The nearest outside of what is wanted, else the farthest inside.
        let start = (first..=wanted.start).rev().find(is_border);
        let start = start.or_else(|| (wanted.start.max(first)..=peak).find(is_border));
        let end = (wanted.end..=last).find(is_border);
        let end = end.or_else(|| (peak + 1..=wanted.end.min(last)).rev().find(is_border));
        let nodes = start.zip(end).map(|(start, end)| start..end);
        let found = nodes.and_then(|nodes| Self::between(model, &crossing, nodes));
        found.ok_or_else(|| refused(model, peak, ENTANGLED))
    }
}

const ENTANGLED: &str = "more than one tensor leads past the layers around it";

fn refused(model: &Model, node: usize, reason: &str) -> TilingError {
    let Node { name, op, .. } = &model.nodes[node];
    let (node, op, reason) = (name.clone(), op.name().to_owned(), reason.to_owned());
    TilingError::NoRegion { node, op, reason }
}

/// Bytes of activations that are live at each node: what it reads and makes, and what others behind it read.
#[must_use]
pub fn active_bytes(model: &Model) -> Vec<u64> {
    let count = model.nodes.len();
    let mut roots: Vec<usize> = (0..model.tensors.len()).collect();
    let mut lives = vec![None::<Range<usize>>; model.tensors.len()];
    for input in &model.inputs {
        lives[input.0] = Some(0..1);
    }
    for (position, node) in model.nodes.iter().enumerate() {
        if let (Op::Reshape, [input, ..], [output]) =
            (&node.op, node.inputs.as_slice(), node.outputs.as_slice())
        {
            roots[output.0] = roots[input.0];
        }
        for id in node.inputs.iter().chain(&node.outputs) {
            if !model.tensor(*id).is_constant() {
                let life = lives[roots[id.0]].get_or_insert(position..position + 1);
                life.end = position + 1;
            }
        }
    }
    for output in &model.outputs {
        if let Some(life) = &mut lives[roots[output.0]] {
            life.end = count;
        }
    }
    let mut active = vec![0u64; count];
    for (tensor, life) in model.tensors.iter().zip(lives) {
        let bytes = tensor.bytes().unwrap_or(0) as u64;
        let life = life.unwrap_or(0..0);
        for active in &mut active[life.start.min(count)..life.end.min(count)] {
            *active = active.saturating_add(bytes);
        }
    }
    active
}

/// Before each node, and behind the last, the only activation that is there and is read behind, or an output; nothing
/// where several are.
fn crossing(model: &Model) -> Vec<Option<TensorId>> {
    let count = model.nodes.len();
    let mut lives: Vec<Option<Range<usize>>> = vec![None; model.tensors.len()];
    for input in &model.inputs {
        lives[input.0] = Some(0..0);
    }
    for (position, node) in model.nodes.iter().enumerate() {
        for output in &node.outputs {
            lives[output.0] = Some(position + 1..position + 1);
        }
        for input in &node.inputs {
            if let Some(life) = &mut lives[input.0] {
                life.end = position;
            }
        }
    }
    let mut found = vec![(None, 0usize); count + 1];
    for (tensor, life) in lives.into_iter().enumerate() {
        let Some(Range { start, end }) = life else { continue };
        // What nothing reads any more crosses the border behind it as an output alone.
        let end = if model.outputs.contains(&TensorId(tensor)) { end.max(start) } else { end };
        if start <= end && end <= count {
            for border in &mut found[start..=end] {
                *border = (Some(TensorId(tensor)), border.1 + 1);
            }
        }
    }
    found.into_iter().map(|(tensor, count)| tensor.filter(|_| count == 1)).collect()
}
