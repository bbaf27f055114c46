//! Tensors that are parts of others: operands of concats that are written where the output lies,
//! and slices that are read where their operand lies.
//!
//! A concat whose layer has no step for an operand claims that the operand's bytes, wherever they
//! are, are those of its part of the output; so does a slice without steps. The tensors that such
//! claims join get one numbering of their elements, that of the largest. That is sound if every
//! element of it has one writer: what is written by steps must be disjoint.

use std::collections::BTreeMap;

use crate::CheckError;
use crate::node;
use crate::shapes::{self, dimension, shape};
use tilewright_model::{Model, Node, Op as ModelOp, TensorId, integer};
use tilewright_plan::{Instruction, Plan, Program, Step, Tile};

/// Where a tensor's elements are in the numbering of another, of which it is a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The tensor whose numbering counts.
    pub root: TensorId,
    /// Shape of the tensor, its first element in the root, and the root's shape; nothing if the
    /// tensor is its own root.
    inside: Option<Inside>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inside {
    shape: [u64; 3],
    start: [u64; 3],
    whole: [u64; 3],
}

impl Place {
    /// A tensor that is part of no other.
    pub const fn alone(root: TensorId) -> Self {
        Self { root, inside: None }
    }

    /// Calls `visit` for each run of elements that follow each other in the root too, of `bytes`
    /// elements of the tensor from `element` on: elements before the run, its length, and its first
    /// element in the root.
    ///
    /// # Errors
    /// The first that `visit` gives.
    pub fn pieces(
        &self,
        element: u64,
        bytes: u64,
        mut visit: impl FnMut(u64, u64, u64) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some(Inside { shape: [_, w, c], start, whole: [_, columns, channels] }) = self.inside
        else {
            return visit(0, bytes, element);
        };
        // Elements that follow each other in both: a pixel, a row, or all.
        let run = match (c == channels, w == columns) {
            (false, _) => c,
            (true, false) => w * c,
            (true, true) => u64::MAX,
        };
        let mut done = 0;
        while done < bytes {
            let at = element + done;
            let (pixel, channel) = (at / c, at % c);
            let (y, x) = (pixel / w + start[0], pixel % w + start[1]);
            let length = (run - at % run).min(bytes - done);
            visit(done, length, (y * columns + x) * channels + channel + start[2])?;
            done += length;
        }
        Ok(())
    }
}

/// The place of each tensor, reshapes resolved.
///
/// # Errors
/// Names the node whose claim does not hold.
pub fn places(plan: &Plan, model: &Model) -> Result<Vec<Place>, CheckError> {
    let roots = shapes::roots(model);
    let mut joined = Joined::new(model);
    // What steps and inputs write: tensors, or boxes of them.
    let mut written: Vec<(TensorId, Option<Part>)> = Vec::new();
    written.extend(model.inputs.iter().map(|id| (*id, None)));
    for (number, layer) in plan.layers.iter().enumerate() {
        // Of several nodes the last makes what the layer writes.
        let node = layer.nodes.last().and_then(|node| model.nodes.get(*node as usize));
        let Some(node) = node else { continue };
        let fault = |reason: String| {
            CheckError::Plan(format!("layer '{}' is not executed: {reason}", layer.name))
        };
        let Some(output) = node.outputs.first().copied() else { continue };
        let tiles = tiles(plan, number).map_err(fault)?;
        match &node.op {
            ModelOp::Concat { axis } => {
                let boxes = concat_boxes(model, node, *axis).map_err(fault)?;
                joined.sees(output, output).map_err(fault)?;
                let copied: Vec<usize> = tiles
                    .iter()
                    .filter_map(|tile| node::concat_operand(model, node, *axis, tile).ok())
                    .map(|(operand, _)| operand)
                    .collect();
                for (index, (input, (start, size))) in node.inputs.iter().zip(boxes).enumerate() {
                    if copied.contains(&index) {
                        written.push((output, Some((start, size))));
                        continue;
                    }
                    is_exact(model, node, *input, output).map_err(fault)?;
                    let part = roots[input.0];
                    same_shape(model, part, *input).map_err(fault)?;
                    joined.sees(part, *input).map_err(fault)?;
                    joined.join(part, output, start).map_err(fault)?;
                }
            }
            ModelOp::Slice { begin, stride, .. } if tiles.is_empty() => {
                let input = *node.inputs.first().ok_or_else(|| fault("no operand".to_owned()))?;
                if stride.iter().any(|step| *step != 1) {
                    return Err(fault("it leaves elements out".to_owned()));
                }
                let from = roots[input.0];
                joined.sees(from, input).map_err(fault)?;
                joined.sees(output, output).map_err(fault)?;
                let mut start = [0; 3];
                for (axis, begin) in begin.iter().enumerate() {
                    match dimension(model, input, axis) {
                        Some(place) => start[place] = *begin as u64,
                        None if *begin == 0 => {}
                        None => return Err(fault("it takes a part of the batch".to_owned())),
                    }
                }
                joined.join(output, from, start).map_err(fault)?;
            }
            _ => written.push((output, None)),
        }
    }
    let places = joined.places(&written).map_err(CheckError::Plan)?;
    Ok(roots.iter().map(|root| places[root.0]).collect())
}

/// The tiles of a layer's steps, which are those of each frame.
fn tiles(plan: &Plan, number: usize) -> Result<Vec<Tile>, String> {
    // Programs that make a layer are made of the same steps.
    let of_layer = |program: &Program| {
        let mut steps = program.lanes.iter().flat_map(|lane| &lane.steps);
        let is_made = |step: &Step| matches!(step.instruction, Instruction::Compute { .. });
        steps.any(|step| usize::from(step.layer) == number && is_made(step))
    };
    let program = plan.programs().find(|program| of_layer(program));
    let steps = program.into_iter().flat_map(|p| &p.lanes).flat_map(|lane| &lane.steps);
    let mut of_frames: BTreeMap<u8, Vec<Tile>> = BTreeMap::new();
    for step in steps.filter(|step| usize::from(step.layer) == number) {
        if let Instruction::Compute { tile, .. } = step.instruction {
            let tile = plan.tiles.get(tile as usize).ok_or("unknown tile")?;
            of_frames.entry(step.frame).or_default().push(*tile);
        }
    }
    let mut of_frames = of_frames.into_values();
    let first = of_frames.next().unwrap_or_default();
    if of_frames.any(|other| other != first) {
        return Err("frames are made in different tiles".to_owned());
    }
    Ok(first)
}

/// First element and size of a part of a tensor.
type Part = ([u64; 3], [u64; 3]);

/// The part of each operand in a concat's output.
fn concat_boxes(model: &Model, node: &Node, axis: usize) -> Result<Vec<Part>, String> {
    let output = node.outputs.first().ok_or("no output")?;
    let along = dimension(model, *output, axis).ok_or("concat along the batch")?;
    let mut start = [0; 3];
    let mut boxes = Vec::new();
    for input in &node.inputs {
        let size = shape(model, *input)?;
        boxes.push((start, size));
        start[along] += size[along];
    }
    Ok(boxes)
}

/// Whether a concat takes the bytes of an operand as they are.
fn is_exact(model: &Model, node: &Node, input: TensorId, output: TensorId) -> Result<(), String> {
    let factor = integer::requantise(model, input, output).map_err(|e| e.to_string())?;
    let clamp = integer::clamp(model, node).map_err(|e| e.to_string())?;
    let zero = |id: TensorId| model.tensor(id).quantisation.as_ref().map(|q| q.zero());
    let exact = (factor.q31, factor.shift) == (1 << 30, 1)
        && zero(input) == zero(output)
        && (i32::from(clamp.0), i32::from(clamp.1)) == (-128, 127);
    if model.tensor(input).is_constant() {
        return Err("a constant operand must be copied".to_owned());
    }
    exact.then_some(()).ok_or_else(|| "an operand has another scale than the output".to_owned())
}

fn same_shape(model: &Model, root: TensorId, named: TensorId) -> Result<(), String> {
    let same = shape(model, root)? == shape(model, named)?;
    same.then_some(()).ok_or_else(|| "an operand was made in another shape".to_owned())
}

/// Sets of tensors with the distances between their first elements.
struct Joined<'a> {
    model: &'a Model,
    parent: Vec<usize>,
    /// Distance of each tensor's first element from its parent's.
    distance: Vec<[i64; 3]>,
    /// Tensors below each, itself included.
    size: Vec<usize>,
    /// The shape in which those see a tensor whose parts it has or is; a reshape may have given it.
    seen: Vec<Option<[u64; 3]>>,
}

impl<'a> Joined<'a> {
    fn new(model: &'a Model) -> Self {
        let count = model.tensors.len();
        Self {
            model,
            parent: (0..count).collect(),
            distance: vec![[0; 3]; count],
            size: vec![1; count],
            seen: vec![None; count],
        }
    }

    /// Says that a tensor is seen in the shape of `named`, one of its names: it has one shape for
    /// all, since boxes are boxes in one shape only.
    fn sees(&mut self, tensor: TensorId, named: TensorId) -> Result<(), String> {
        let size = shape(self.model, named)?;
        if self.seen[tensor.0].replace(size).is_some_and(|before| before != size) {
            return Err("an operand is taken in two shapes".to_owned());
        }
        Ok(())
    }

    /// The shape of a tensor that has parts or is one.
    fn shape(&self, tensor: usize) -> Result<[u64; 3], String> {
        self.seen[tensor].map_or_else(|| shape(self.model, TensorId(tensor)), Ok)
    }

    fn find(&self, mut tensor: usize) -> (usize, [i64; 3]) {
        let mut sum = [0; 3];
        while self.parent[tensor] != tensor {
            sum = add(sum, self.distance[tensor], 1);
            tensor = self.parent[tensor];
        }
        (tensor, sum)
    }

    /// Says that `part` starts at `start` of `whole`.
    fn join(&mut self, part: TensorId, whole: TensorId, start: [u64; 3]) -> Result<(), String> {
        let start = start.map(|at| i64::try_from(at).unwrap_or(i64::MAX / 4));
        let ((a, from_a), (b, from_b)) = (self.find(part.0), self.find(whole.0));
        let wanted = add(from_b, start, 1);
        if a == b {
            let same = from_a == wanted;
            return same.then_some(()).ok_or_else(|| "its parts lie at two places".to_owned());
        }
        // From the root of the part to the root of the whole.
        let distance = add(wanted, from_a, -1);
        let (below, above, sign) = if self.size[a] > self.size[b] { (b, a, -1) } else { (a, b, 1) };
        self.parent[below] = above;
        self.distance[below] = distance.map(|d| d * sign);
        self.size[above] += self.size[below];
        Ok(())
    }

    fn places(&self, written: &[(TensorId, Option<Part>)]) -> Result<Vec<Place>, String> {
        let count = self.parent.len();
        let found: Vec<(usize, [i64; 3])> = (0..count).map(|t| self.find(t)).collect();
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (tensor, (root, _)) in found.iter().enumerate() {
            members[*root].push(tensor);
        }
        let mut places: Vec<Place> = (0..count).map(|t| Place::alone(TensorId(t))).collect();
        for group in members.iter().filter(|group| group.len() > 1) {
            let largest = group.iter().max_by_key(|t| shapes::bytes(self.model, TensorId(**t)));
            let Some(root) = largest.copied() else { continue };
            let whole = self.shape(root)?;
            let name = |tensor: usize| &self.model.tensor(TensorId(tensor)).name;
            for tensor in group.iter().copied() {
                let own = self.shape(tensor)?;
                let start = add(found[tensor].1, found[root].1, -1);
                let start = start.map(|at| u64::try_from(at).unwrap_or(u64::MAX / 4));
                if (0..3).any(|axis| start[axis] + own[axis] > whole[axis]) {
                    let (part, whole) = (name(tensor), name(root));
                    return Err(format!("tensor '{part}' lies outside '{whole}', its whole"));
                }
                let inside = Some(Inside { shape: own, start, whole });
                places[tensor] = Place { root: TensorId(root), inside };
            }
        }
        let boxes: Vec<(TensorId, [[u64; 2]; 3], TensorId)> = written
            .iter()
            .filter_map(|(id, part)| {
                let place = places[id.0];
                let inside = place.inside?;
                let (start, size) = part.unwrap_or(([0; 3], inside.shape));
                let range = |axis: usize| {
                    let first = inside.start[axis] + start[axis];
                    [first, first + size[axis]]
                };
                Some((place.root, [range(0), range(1), range(2)], *id))
            })
            .collect();
        for (index, (root, first, id)) in boxes.iter().enumerate() {
            let meets = |other: &&(TensorId, [[u64; 2]; 3], TensorId)| {
                other.0 == *root
                    && first.iter().zip(&other.1).all(|(a, b)| a[0] < b[1] && b[0] < a[1])
            };
            if let Some((_, _, other)) = boxes[..index].iter().find(meets) {
                let name = |id: &TensorId| &self.model.tensor(*id).name;
                let (a, b) = (name(id), name(other));
                return Err(format!("tensors '{a}' and '{b}' are the same part of a tensor"));
            }
        }
        Ok(places)
    }
}

fn add(a: [i64; 3], b: [i64; 3], sign: i64) -> [i64; 3] {
    [0, 1, 2].map(|axis| a[axis] + sign * b[axis])
}
