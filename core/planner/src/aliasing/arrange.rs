//! Offsets for the tensors of layers in a given order, some of which share bytes.

use super::overlap_offset::{self, OverlapOffset};
use super::parts::Parts;
use super::slices;
use crate::PlanError;
use crate::lower::{self, Layer};
use crate::narrow::narrow;
use tilewright_allocate::{Buffer, Overlap, TENSOR_ALIGNMENT};
use tilewright_model::{Model, TensorId};
use tilewright_plan::{
    Bytes, Instruction, Op, Plan, PlannedLayer, PlannedTensor, Role, Tile, View,
};

/// Which ways to share bytes are made use of.
#[derive(Clone, Debug, Default)]
pub struct Aliasing {
    /// Operands of concats are made where the output lies.
    pub parts: bool,
    /// Besides, slices are read where their operand lies.
    pub slices: bool,
    /// Elementwise layers write over an operand.
    pub in_place: bool,
    /// Layers in rows overlap with what they read.
    pub rows: bool,
    /// Concats and slices, as nodes, that copy all the same.
    pub copied: Vec<usize>,
}

impl Aliasing {
    /// The tensors that lie in others.
    pub fn parts_of(&self, model: &Model, layers: &[Layer]) -> Parts {
        if !self.parts {
            return Parts::none();
        }
        let mut parts = Parts::of(model, layers);
        if self.slices {
            slices::add(model, layers, &mut parts);
        }
        if self.copied.is_empty() {
            return parts;
        }
        // Never more than without: the bound of orders counts what is shared at most.
        parts.without(model, layers, &self.copied)
    }
}

/// Tensors with their places.
#[derive(Clone, Debug)]
pub struct Arranged {
    /// The tensors.
    pub tensors: Vec<PlannedTensor>,
    /// Which of them lie in others.
    pub parts: Parts,
    /// Bytes of the arena.
    pub height: Bytes,
}

/// A tensor, or several one after the other in the same place, with all that lie in them.
#[derive(Clone, Copy, Debug)]
struct Block {
    first: u32,
    end: u32,
    bytes: Bytes,
    /// Whether it is a single tensor, or several that are written over each other.
    plain: bool,
    /// Whether it is needed after the last layer.
    kept: bool,
}

/// Places the tensors of `layers`, at most about `budget` units of work. Layers for which `shares`
/// says no share nothing but parts.
///
/// # Errors
/// [`PlanError`] names the node or tensor that cannot be planned.
pub fn arrange(
    model: &Model,
    layers: &[Layer],
    aliasing: &Aliasing,
    shares: &dyn Fn(usize) -> bool,
    budget: u64,
) -> Result<Arranged, PlanError> {
    arrange_given(model, layers, aliasing, (shares, Given::NOTHING), budget)
}

/// What is known of some tensors before they are placed. Layers that use them should share nothing.
#[derive(Clone, Copy)]
pub struct Given<'g> {
    /// Tensors (indices into those of a plan) that lie elsewhere: they take no place.
    pub is_elsewhere: &'g dyn Fn(usize) -> bool,
    /// Tensors that take other bytes, for another time.
    pub held: &'g [Held],
    /// Tensors that may overlap.
    pub overlaps: &'g [AllowedOverlap],
}

impl Given<'_> {
    /// Nothing is.
    pub const NOTHING: Self = Self { is_elsewhere: &|_| false, held: &[], overlaps: &[] };
}

/// A tensor with the bytes that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The tensor, an index into those of a plan.
    pub tensor: usize,
    /// Its bytes.
    pub bytes: Bytes,
    /// First layer that needs the bytes, and one past the last: besides those that use the tensor.
    pub life: [u32; 2],
}

/// A tensor that may lie over what is no longer needed of another, if it begins so much below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowedOverlap {
    /// The tensor that is read.
    pub read: usize,
    /// The tensor that is written.
    pub written: usize,
    /// How far the offset of the written one lies below that of the other.
    pub below: u64,
}

/// As [`arrange`], with what is known of some tensors.
///
/// # Errors
/// [`PlanError`] names the node or tensor that cannot be planned.
pub fn arrange_given(
    model: &Model,
    layers: &[Layer],
    aliasing: &Aliasing,
    (shares, given): (&dyn Fn(usize) -> bool, Given<'_>),
    budget: u64,
) -> Result<Arranged, PlanError> {
    let parts = aliasing.parts_of(model, layers);
    let mut tensors = lower::tensors(model, layers)?;
    let mut blocks = Blocks::of(model, &parts, &mut tensors)?;
    for (tensor, block) in blocks.blocks.iter_mut().enumerate() {
        if (given.is_elsewhere)(tensor) {
            block.bytes = Bytes(0);
        }
    }
    let up = |bytes: u64| Bytes(bytes).align_up(TENSOR_ALIGNMENT);
    for Held { tensor, bytes, life } in given.held {
        let block = &mut blocks.blocks[*tensor];
        block.bytes = up(bytes.0);
        block.first = block.first.min(life[0]);
        block.end = block.end.max(life[1]);
    }
    let mut overlaps = Vec::new();
    if aliasing.in_place || aliasing.rows {
        let draft = lower::draft(model, layers, &parts, tensors.clone())?;
        let steps = single_steps(model, layers, &parts, &draft);
        for (position, step) in steps.into_iter().enumerate() {
            let Some(step) = step.filter(|_| shares(position)) else { continue };
            if !(aliasing.in_place && blocks.write_over(position, &step)) && aliasing.rows {
                overlaps.extend(blocks.overlap(position, &step).map(|(_, overlap)| overlap));
            }
        }
    }
    overlaps.extend(given.overlaps.iter().map(|AllowedOverlap { read, written, below }| {
        let buffers = [*read, *written].map(|tensor| blocks.number(tensor));
        let [above, own] = buffers.map(|block| blocks.blocks[block].bytes);
        let below = up(*below).clamp(Bytes(1), own.max(Bytes(1))).0;
        Overlap { buffers, above: above.0.max(1), below }
    }));
    let (buffers, overlaps) = blocks.problem(&overlaps);
    let placement = tilewright_allocate::least_sharing(buffers, overlaps, budget)?.solution;
    for (index, tensor) in tensors.iter_mut().enumerate() {
        tensor.offset += placement.offsets[blocks.number(index)];
    }
    for Held { tensor, life, .. } in given.held {
        let tensor = &mut tensors[*tensor];
        tensor.first = tensor.first.min(life[0]);
        tensor.end = tensor.end.max(life[1]);
    }
    Ok(Arranged { tensors, parts, height: placement.height })
}

/// Bytes that a layer's output can have in common with what it reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Savings {
    /// Where it writes over an operand.
    pub in_place: u64,
    /// Where rows overlap.
    pub in_rows: u64,
}

/// What each layer can save, if nothing else hinders that.
///
/// # Errors
/// [`PlanError`] names the node or tensor that cannot be planned.
pub fn savings(model: &Model, layers: &[Layer], parts: &Parts) -> Result<Vec<Savings>, PlanError> {
    let mut tensors = lower::tensors(model, layers)?;
    let blocks = Blocks::of(model, parts, &mut tensors)?;
    let draft = lower::draft(model, layers, parts, tensors)?;
    let steps = single_steps(model, layers, parts, &draft);
    let saved = |(position, step): (usize, Option<Single<'_>>)| {
        let Some(step) = step else { return Savings::default() };
        let output = blocks.blocks[blocks.number(step.output)].bytes;
        let over = blocks.dying(position, &step).into_iter();
        let over = over.filter(|(operand, _)| step.can_write_over(*operand));
        let over = over.map(|(_, block)| blocks.blocks[block].bytes.min(output).0).max();
        let rows = blocks.overlap(position, &step).map(|(saved, _)| saved);
        Savings { in_place: over.unwrap_or_default(), in_rows: rows.unwrap_or_default() }
    };
    Ok(steps.into_iter().enumerate().map(saved).collect())
}

/// A layer's only step, or the first of a concat, with the tensors of its operands.
pub struct Single<'p> {
    /// The op.
    pub op: &'p Op,
    tile: &'p Tile,
    views: &'p [View],
    /// Operand and tensor (an index into the plan's) of each activation that is read.
    pub inputs: Vec<(usize, usize)>,
    /// The tensor that is written.
    pub output: usize,
    /// Of a concat, the tensors that later steps read.
    later: Option<Vec<usize>>,
}

impl Single<'_> {
    /// Whether other steps of the layer follow.
    pub const fn is_first_of_several(&self) -> bool {
        self.later.is_some()
    }

    /// The operands of a tensor.
    fn operands_of(&self, is_in: impl Fn(usize) -> bool) -> Vec<usize> {
        self.inputs.iter().filter(|(_, t)| is_in(*t)).map(|(operand, _)| *operand).collect()
    }

    /// How far the output must lie from the tensors for which `is_in` says yes, which are one block.
    pub fn overlap_offset(&self, is_in: impl Fn(usize) -> bool) -> Option<OverlapOffset> {
        overlap_offset::overlap_offset(self.op, self.tile, self.views, &self.operands_of(is_in))
    }

    /// Whether the step may write over an operand.
    pub fn can_write_over(&self, operand: usize) -> bool {
        let kernel = self.op.kernel().filter(|_| self.later.is_none());
        kernel.is_some_and(|kernel| overlap_offset::can_write_over(kernel, self.views, operand))
    }
}

/// Of each layer its step, if it has one only and that is its whole work; of a concat the first.
pub fn single_steps<'p>(
    model: &Model,
    layers: &[Layer],
    parts: &Parts,
    plan: &'p Plan,
) -> Vec<Option<Single<'p>>> {
    let roots = lower::roots(model);
    let mut number = vec![usize::MAX; model.tensors.len()];
    for (index, tensor) in plan.tensors.iter().enumerate() {
        number[tensor.tensor as usize] = index;
    }
    let mut of_layer: Vec<Vec<(&'p Op, &'p Tile, &'p [View])>> = vec![Vec::new(); layers.len()];
    let core = plan.programs().flat_map(|program| program.lanes.first());
    for step in core.flat_map(|lane| &lane.steps) {
        let Instruction::Compute { op, tile, first_view, .. } = step.instruction else { continue };
        let operands = plan.operands(op, first_view).zip(plan.tiles.get(tile as usize));
        let slot = of_layer.get_mut(usize::from(step.layer));
        if let (Some(slot), Some(((op, views), tile))) = (slot, operands) {
            slot.push((op, tile, views));
        }
    }
    let index = |id: TensorId| -> Option<usize> {
        let constant = model.tensor(id).is_constant();
        Some(number[roots[id.0].0]).filter(|tensor| !constant && *tensor != usize::MAX)
    };
    let single = |((layer, planned), steps): ((&Layer, &PlannedLayer), Vec<_>)| {
        let node = &model.nodes[layer.node.0];
        let output = *planned.writes.first()? as usize;
        let (op, tile, views): (&Op, &Tile, &[View]) = *steps.first()?;
        if let tilewright_model::Op::Concat { axis } = node.op {
            let copied = lower::copied(model, layer, parts, axis).ok()?;
            let mut read = copied.iter().map(|copied| index(node.inputs[copied.operand]));
            let inputs = vec![(0, read.next()??)];
            let later = Some(read.flatten().collect());
            return Some(Single { op, tile, views, inputs, output, later });
        }
        if steps.len() > 1 {
            return None;
        }
        let roles = op.roles();
        let inputs = roles
            .iter()
            .zip(&node.inputs)
            .enumerate()
            .filter(|(_, (role, _))| **role == Role::Input)
            .filter_map(|(operand, (_, id))| Some((operand, index(*id)?)));
        let inputs = inputs.collect();
        Some(Single { op, tile, views, inputs, output, later: None })
    };
    layers.iter().zip(&plan.layers).zip(of_layer).map(single).collect()
}

struct Blocks {
    blocks: Vec<Block>,
    /// The block of each tensor, before any is written over.
    own: Vec<usize>,
    /// The block in whose place a block lies: itself, or one that it was written over.
    place: Vec<usize>,
}

impl Blocks {
    /// A block for each tensor that is part of no other; sets the tensors' places in them.
    fn of(model: &Model, parts: &Parts, tensors: &mut [PlannedTensor]) -> Result<Self, PlanError> {
        let mut index = vec![usize::MAX; model.tensors.len()];
        for (number, tensor) in tensors.iter().enumerate() {
            index[tensor.tensor as usize] = number;
        }
        let mut own: Vec<usize> = (0..tensors.len()).collect();
        let mut blocks: Vec<Block> = tensors
            .iter()
            .map(|tensor| Block {
                first: tensor.first,
                end: tensor.end,
                bytes: tensor.bytes.align_up(TENSOR_ALIGNMENT),
                plain: true,
                kept: false,
            })
            .collect();
        for number in 0..tensors.len() {
            let id = TensorId(tensors[number].tensor as usize);
            let Some(part) = parts.place(id) else { continue };
            let root = index[part.root.0];
            let (block, tensor) = (tensors[root].clone(), &mut tensors[number]);
            let [_, columns, channels] = part.whole;
            let size = lower::shape(model, id)?;
            let [y, x, c] = part.start.map(u64::from);
            let pixel = u64::from(channels);
            tensor.offset = (y * u64::from(columns) + x) * pixel + c;
            let pitch = [columns * channels, channels];
            let dense = size[2] == channels && size[1] == columns;
            let one_row = size[0] == 1 && (size[1] == 1 || size[2] == channels);
            tensor.pitch = (!dense && !one_row).then_some(pitch);
            own[number] = root;
            let whole = &mut blocks[root];
            whole.first = whole.first.min(tensor.first).min(block.first);
            whole.end = whole.end.max(tensor.end);
            whole.plain = false;
        }
        let roots = lower::roots(model);
        for output in &model.outputs {
            if let Some(block) = own.get(index[roots[output.0].0]) {
                blocks[*block].kept = true;
            }
        }
        for (number, root) in own.iter().enumerate() {
            if number != *root {
                tensors[*root].first = tensors[*root].first.min(blocks[*root].first);
            }
        }
        let place = (0..blocks.len()).collect();
        Ok(Self { blocks, own, place })
    }

    /// The block in whose place a tensor lies.
    fn number(&self, tensor: usize) -> usize {
        self.place[self.own[tensor]]
    }

    /// The operands' blocks that nothing needs after a layer.
    fn dying(&self, position: usize, step: &Single<'_>) -> Vec<(usize, usize)> {
        let last = narrow::<u32>(position + 1);
        let is_later =
            |block: usize| step.later.iter().flatten().any(|tensor| self.number(*tensor) == block);
        let dies = |block: usize| {
            self.blocks[block].end == last && !self.blocks[block].kept && !is_later(block)
        };
        let inputs = step.inputs.iter().map(|(operand, tensor)| (*operand, self.number(*tensor)));
        inputs.filter(|(_, block)| dies(*block)).collect()
    }

    /// Whether the output's block begins with a layer.
    fn begins(&self, position: usize, step: &Single<'_>) -> bool {
        let block = self.own[step.output];
        self.place[block] == block && self.blocks[block].first == narrow::<u32>(position)
    }

    /// Puts a layer's output in the place of an operand, if it can be.
    fn write_over(&mut self, position: usize, step: &Single<'_>) -> bool {
        let output = self.own[step.output];
        if !self.begins(position, step) || !self.blocks[output].plain {
            return false;
        }
        let found = self.dying(position, step).into_iter().find(|(operand, block)| {
            let twice = step.inputs.iter().filter(|(_, t)| self.number(*t) == *block).count() > 1;
            self.blocks[*block].plain && !twice && step.can_write_over(*operand)
        });
        let Some((_, block)) = found else { return false };
        let Block { end, bytes, kept, .. } = self.blocks[output];
        self.blocks[block].end = end;
        self.blocks[block].kept = kept;
        self.blocks[block].bytes = self.blocks[block].bytes.max(bytes);
        self.place[output] = block;
        true
    }

    /// The overlap of a layer's output with the operand with which it saves most, and how much.
    fn overlap(&self, position: usize, step: &Single<'_>) -> Option<(u64, Overlap)> {
        let output = self.number(step.output);
        if !self.begins(position, step) {
            return None;
        }
        let up = |distance: u64| Bytes(distance).align_up(TENSOR_ALIGNMENT).0;
        let bytes = |block: usize| self.blocks[block].bytes.0;
        let candidates = self.dying(position, step).into_iter().filter_map(|(_, block)| {
            let offset = step.overlap_offset(|tensor| self.number(tensor) == block)?;
            let above = up(offset.above).min(bytes(block));
            let below = up(offset.below).min(bytes(output));
            let least = (above + bytes(output)).max(bytes(block));
            let least = least.min((below + bytes(block)).max(bytes(output)));
            let saved = (bytes(block) + bytes(output)).saturating_sub(least);
            Some((saved, Overlap { buffers: [block, output], above, below }))
        });
        candidates.max_by_key(|(saved, _)| *saved).filter(|(saved, _)| *saved > 0)
    }

    /// The blocks to place; those written over another's place take none.
    fn problem(&self, overlaps: &[Overlap]) -> (Vec<Buffer>, Vec<Overlap>) {
        let buffers = self.blocks.iter().enumerate().map(|(number, block)| {
            let bytes = if self.is_used(number) { block.bytes } else { Bytes(0) };
            Buffer::new(block.first.into(), block.end.max(block.first).into(), bytes)
                .aligned(TENSOR_ALIGNMENT)
        });
        (buffers.collect(), overlaps.to_vec())
    }

    fn is_used(&self, block: usize) -> bool {
        self.place[block] == block && self.own[block] == block
    }
}
