//! Tensors that lie in others: operands of concats that are made where the output lies, so that
//! nothing is copied, and slices ([`slices`]).

use std::collections::{BTreeMap, BTreeSet};

use super::slices;
use crate::lower::{self, Layer, place_of};
use tilewright_model::{Model, Op, TensorId, integer};
use tilewright_plan::{Gaps, Work};

/// A tensor's place in another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The tensor that it is a box of; part of no other.
    pub root: TensorId,
    /// The box's first row, column and channel in the root.
    pub start: [u32; 3],
    /// Rows, columns and channels of the root, as those see it that made or read the box.
    pub whole: [u32; 3],
}

/// Which tensors lie in others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    places: Vec<Option<Part>>,
    /// Operands of concats, as node and index, that need not be copied.
    joined: Vec<(usize, usize)>,
    /// Slices that are read where their operand lies: of each node its output.
    slices: BTreeMap<usize, TensorId>,
    /// The slices in each tensor, with their boxes; few of each.
    boxes: BTreeMap<TensorId, Vec<(TensorId, slices::Place)>>,
}

impl Parts {
    /// No tensor lies in another: every concat copies its operands, every slice what it takes.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// As many operands of concats as can be are made where the output lies. A concat of operands
    /// that all lie in another's output already is a part of that, as in dense blocks.
    #[must_use]
    pub fn of(model: &Model, layers: &[Layer]) -> Self {
        Self::disentangled(model, layers, None)
    }

    /// These without the parts of some concats, and without some slices, as nodes.
    #[must_use]
    pub fn without(&self, model: &Model, layers: &[Layer], nodes: &[usize]) -> Self {
        let allowed = |node: &usize| !nodes.contains(node);
        let joined: Vec<_> =
            self.joined.iter().copied().filter(|(node, _)| allowed(node)).collect();
        let mut parts = Self::disentangled(model, layers, Some(&joined));
        // A slice of a slice is known after that one: in a slice that is copied none lies.
        for (node, output) in self.slices.iter().filter(|(node, _)| allowed(node)) {
            let of = model.nodes[*node].inputs.first();
            let stays = of.is_none_or(|of| !self.is_slice(*of) || parts.is_slice(*of));
            let Some(part) = self.place(*output).filter(|_| stays) else { continue };
            let own = self.slices_of(part.root).iter().find(|(slice, _)| slice == output);
            if let Some((_, (_, size))) = own {
                parts.add_slice(*node, *output, part, *size);
            }
        }
        parts
    }

    /// Nodes that make or read tensors that are parts of others: concats and slices.
    #[must_use]
    pub fn nodes(&self) -> Vec<usize> {
        let concats = self.joined.iter().map(|(node, _)| *node);
        let mut nodes: Vec<usize> = concats.chain(self.slices.keys().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The tensors in which a concat's operands or a slice lie.
    #[must_use]
    pub fn wholes_of(&self, model: &Model, node: usize) -> BTreeSet<TensorId> {
        let of_node = self.joined.iter().filter(|(other, _)| *other == node);
        let joined = of_node.map(|(_, input)| model.nodes[node].inputs[*input]);
        let inside = joined.chain(self.slices.get(&node).copied());
        inside.filter_map(|id| self.place(id)).map(|part| part.root).collect()
    }

    fn disentangled(model: &Model, layers: &[Layer], allowed: Option<&[(usize, usize)]>) -> Self {
        let mut facts = Facts::of(model, layers);
        // Whatever the order of the layers, the same tensors are parts: bounds of orders rely on it.
        let mut by_node: Vec<&Layer> = layers.iter().collect();
        by_node.sort_by_key(|layer| layer.node);
        loop {
            let this = Self::with(model, &by_node, &facts, allowed);
            let Some(tensor) = this.entangled(model, &by_node) else { return this };
            facts.made[tensor.0] = false;
            facts.anywhere[tensor.0] = false;
        }
    }

    /// A tensor among whose bytes lie some that its own layer reads: kernels take disjoint runs.
    fn entangled(&self, model: &Model, layers: &[&Layer]) -> Option<TensorId> {
        let range = |id: TensorId| -> Option<(TensorId, u64, u64)> {
            let own = lower::shape(model, id).ok()?;
            let part = self.place(id).unwrap_or(Part { root: id, start: [0; 3], whole: own });
            let [_, columns, channels] = part.whole.map(u64::from);
            let [h, w, c] = own.map(u64::from);
            let [y, x, z] = part.start.map(u64::from);
            let at = |y: u64, x: u64, z: u64| (y * columns + x) * channels + z;
            Some((part.root, at(y, x, z), at(y + h - 1, x + w - 1, z + c)))
        };
        let meet = |made: TensorId, read: TensorId| {
            let (Some(a), Some(b)) = (range(made), range(read)) else { return false };
            a.0 == b.0 && a.1 < b.2 && b.1 < a.2
        };
        let joins = |layer: &Layer| matches!(model.nodes[layer.node.0].op, Op::Concat { .. });
        layers.iter().filter(|layer| !joins(layer)).find_map(|layer| {
            let made = layer.writes.iter().find(|id| self.place(**id).is_some())?;
            layer.reads.iter().any(|read| meet(*made, *read)).then_some(*made)
        })
    }

    /// Parts of concats; of those operands alone that are `allowed`, as node and index.
    fn with(
        model: &Model,
        layers: &[&Layer],
        facts: &Facts,
        allowed: Option<&[(usize, usize)]>,
    ) -> Self {
        let mut this = Self { places: vec![None; model.tensors.len()], ..Self::default() };
        // From the last concat back: what a tensor is part of is known before its own parts.
        for layer in layers.iter().rev() {
            let node = &model.nodes[layer.node.0];
            let (Op::Concat { axis }, Some(output)) = (&node.op, node.outputs.first()) else {
                continue;
            };
            let rank = model.tensor(*output).shape.rank();
            let Some(along) = place_of(rank, *axis) else { continue };
            let mut offset = 0;
            let boxes: Vec<(usize, TensorId, [u32; 3], [u32; 3])> = node
                .inputs
                .iter()
                .enumerate()
                .map_while(|(index, input)| {
                    let size = lower::shape(model, *input).ok()?;
                    let mut start = [0; 3];
                    start[along] = offset;
                    offset += size[along];
                    Some((index, *input, start, size))
                })
                .filter(|(_, input, ..)| is_exact(model, node, *input, *output))
                .collect();
            if boxes.len() == node.inputs.len() && this.places[output.0].is_none() {
                this.places[output.0] = this.common(&boxes, facts, *output);
            }
            let Ok(whole) = lower::shape(model, *output) else { continue };
            let alone = Part { root: *output, start: [0; 3], whole };
            let outer = this.places[output.0].unwrap_or(alone);
            let is_allowed = |(index, ..): &(usize, TensorId, [u32; 3], [u32; 3])| {
                allowed.is_none_or(|allowed| allowed.contains(&(layer.node.0, *index)))
            };
            for (index, input, start, size) in boxes.into_iter().filter(is_allowed) {
                let start = [0, 1, 2].map(|axis| start[axis] + outer.start[axis]);
                let part = Part { start, ..outer };
                let known = this.places[input.0];
                let once = node.inputs.iter().filter(|other| **other == input).count() == 1;
                let free = known.is_none()
                    && once
                    && !facts.is_root(&this.places, input)
                    && (facts.anywhere[input.0]
                        || facts.made[input.0] && is_run(size, outer.whole));
                if free {
                    this.places[input.0] = Some(part);
                }
                if free || known == Some(part) && once {
                    this.joined.push((layer.node.0, index));
                }
            }
        }
        this
    }

    /// The place of a concat whose operands all lie side by side in another tensor.
    fn common(
        &self,
        boxes: &[(usize, TensorId, [u32; 3], [u32; 3])],
        facts: &Facts,
        output: TensorId,
    ) -> Option<Part> {
        let (_, first, start, _) = boxes.first()?;
        let place = self.places[first.0]?;
        let mut origin = [0; 3];
        for axis in 0..3 {
            origin[axis] = place.start[axis].checked_sub(start[axis])?;
        }
        let beside = boxes.iter().all(|(_, input, start, _)| {
            let start = [0, 1, 2].map(|axis| start[axis] + origin[axis]);
            self.places[input.0] == Some(Part { start, ..place })
        });
        (beside && facts.anywhere[output.0]).then_some(Part { start: origin, ..place })
    }

    /// Where a tensor lies in another, if it does.
    #[must_use]
    pub fn place(&self, tensor: TensorId) -> Option<Part> {
        self.places.get(tensor.0).copied().flatten()
    }

    /// Whether an operand of a concat need not be copied.
    #[must_use]
    pub fn is_joined(&self, node: usize, input: usize) -> bool {
        self.joined.contains(&(node, input))
    }

    /// Reads a slice where its operand lies: node `node` has no step, its output of this size is
    /// `part`.
    pub fn add_slice(&mut self, node: usize, output: TensorId, part: Part, size: [u32; 3]) {
        self.places[output.0] = Some(part);
        self.slices.insert(node, output);
        self.boxes.entry(part.root).or_default().push((output, (part.start, size)));
    }

    /// Whether a node is a slice that is read where its operand lies.
    #[must_use]
    pub fn is_read_in_place(&self, node: usize) -> bool {
        self.slices.contains_key(&node)
    }

    /// Whether a tensor is a slice that is read where its operand lies.
    #[must_use]
    pub fn is_slice(&self, tensor: TensorId) -> bool {
        let root = self.place(tensor).map(|part| part.root);
        root.is_some_and(|root| self.slices_of(root).iter().any(|(slice, _)| *slice == tensor))
    }

    /// The slices that are read where `root` lies, with their boxes.
    #[must_use]
    pub fn slices_of(&self, root: TensorId) -> &[(TensorId, slices::Place)] {
        self.boxes.get(&root).map_or(&[], Vec::as_slice)
    }

    /// Whether other tensors lie in a tensor.
    #[must_use]
    pub fn has_parts(&self, tensor: TensorId) -> bool {
        self.places.iter().flatten().any(|part| part.root == tensor)
    }
}

/// Whether a box of this size is one run of bytes in a tensor of shape `whole`.
pub fn is_run([h, w, c]: [u32; 3], whole: [u32; 3]) -> bool {
    (c == whole[2] && (w == whole[1] || h == 1)) || (h == 1 && w == 1)
}

/// Whether a concat takes an operand's bytes as they are.
fn is_exact(
    model: &Model,
    node: &tilewright_model::Node,
    input: TensorId,
    output: TensorId,
) -> bool {
    let zero = |id: TensorId| model.tensor(id).quantisation.as_ref().map(|q| q.zero());
    let factor = integer::requantise(model, input, output);
    factor.is_ok_and(|factor| (factor.q31, factor.shift) == (1 << 30, 1))
        && zero(input) == zero(output)
        && integer::clamp(model, node).is_ok_and(|clamp| clamp == (i8::MIN, i8::MAX))
}

/// What keeps tensors from lying in others.
struct Facts {
    /// Whether a layer makes the tensor, and no other name is given to its bytes.
    made: Vec<bool>,
    /// Whether besides all that use it take rows and pixels that do not follow each other.
    anywhere: Vec<bool>,
    /// Places in which a tensor is looked for as root.
    count: usize,
}

/// Whether a layer's operands may lie in rows with gaps between them.
pub fn takes_views(work: &Work) -> bool {
    matches!(work, Work::Kernel(kernel) if kernel.spec().gaps != Gaps::Neither)
}

impl Facts {
    fn of(model: &Model, layers: &[Layer]) -> Self {
        let roots = lower::roots(model);
        let count = model.tensors.len();
        let (mut made, mut anywhere) = (vec![false; count], vec![false; count]);
        for layer in layers {
            let steps =
                matches!(layer.work, Work::Kernel(kernel) if kernel.spec().gaps == Gaps::Both);
            for output in &layer.writes {
                made[output.0] = true;
                // Kernels of two operands see a tensor aligned at its last dimension.
                anywhere[output.0] = steps && model.tensor(*output).shape.rank() == 4;
            }
        }
        for layer in layers {
            for input in &layer.reads {
                anywhere[input.0] &= takes_views(&layer.work);
            }
        }
        let other_names = (0..count).filter(|tensor| roots[*tensor].0 != *tensor);
        for renamed in other_names.flat_map(|tensor| [tensor, roots[tensor].0]) {
            made[renamed] = false;
            anywhere[renamed] = false;
        }
        for output in &model.outputs {
            anywhere[roots[output.0].0] = false;
        }
        Self { made, anywhere, count }
    }

    /// Whether a tensor has parts already.
    fn is_root(&self, places: &[Option<Part>], tensor: TensorId) -> bool {
        places.iter().take(self.count).flatten().any(|part| part.root == tensor)
    }
}
