//! Ops, views, constants and the steps of the core lane.

mod apart;
mod blocks;

use super::layer::{Layer, no_kernel};
use super::op::{op, pool_behind, zero};
use super::{
    aligned_shape, bad_shape, flat_shape, gather, place, place_of, roots, shape, unsupported,
};
use crate::PlanError;
use crate::aliasing::{Parts, overlap_offset};
use crate::narrow::narrow;
use crate::sparse;
use serde::{Deserialize, Serialize};
use tilewright_model::integer;
use tilewright_model::{Model, Node, Op as ModelOp, TensorId};
use tilewright_plan::image::STORE_ALIGNMENT;
use tilewright_plan::kernel::{CHANNEL_CONSTANT_BYTES, FACTOR_BYTES, NEAREST_BYTES, TABLE_BYTES};
use tilewright_plan::{
    Boxes, Bytes, ConstantRole, Gather, Instruction, Io, Kernel, Lane, LaneKind, Op, Plan,
    PlannedLayer, Program, Role, RowOrder, Space, Step, Tile, View, Work,
};

/// Where weights, constant operands and the constants of channels lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// Where weights and constant operands lie.
    pub weights: Space,
    /// Where the constants of channels lie.
    pub channels: Space,
    /// What blocks of weights start at multiples of.
    pub alignment: u64,
    /// Whether a convolution has a step for each of its groups, which reads a part of the input's
    /// channels.
    pub groups_apart: bool,
    /// The longest filter of a fully connected layer that lies in a pair; nothing: all that may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_pair: Option<u64>,
}

/// What of a layer's constants lies in the plan image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InImage {
    /// None.
    #[default]
    Nothing,
    /// The filters of the first `inside` output channels of a convolution or a fully connected layer,
    /// which steps compute by turns with `each` of the others. Of layers that cannot be cut so: none.
    Filters {
        /// Output channels; even, since filters lie in pairs.
        inside: u32,
        /// Output channels, even.
        each: u32,
    },
    /// All.
    All,
}

impl Stored {
    /// Bytes of the memory of weights that hold something else, before all blocks: a store's header.
    const fn reserved(&self) -> u64 {
        match self.weights {
            Space::ExternalFlash | Space::Card => STORE_ALIGNMENT as u64,
            _ => 0,
        }
    }

    /// In the plan image.
    pub const IMAGE: Self = Self {
        weights: Space::Weights,
        channels: Space::Constants,
        alignment: 16,
        groups_apart: true,
        longest_pair: None,
    };
}

/// Other constants start at multiples of this.
const CONSTANTS_ALIGNMENT: u64 = 4;

/// Most bytes of class names that go into a board's flash: ImageNet's thousand stay with whoever reads the answer.
const MOST_LABEL_BYTES: usize = 4096;

/// Fills `plan`, whose tensors are placed, with layers, tables and one program; there is no
/// program if some layer has no kernel. Of layers, by their positions, `in_image` says what lies in the plan image
/// wherever other weights do; of missing ones nothing.
///
/// # Errors
/// If the model's inputs or outputs have no place.
pub fn program(
    model: &Model,
    layers: &[Layer],
    parts: &Parts,
    (stored, in_image): (Stored, &[InImage]),
    plan: &mut Plan,
) -> Result<(), PlanError> {
    let roots = roots(model);
    let mut places = vec![None; model.tensors.len()];
    for (index, tensor) in (0u32..).zip(&plan.tensors) {
        places[tensor.tensor as usize] = Some(index);
    }
    let places = roots.iter().map(|root| places[root.0]).collect();
    plan.space_bytes[stored.weights as usize] = Bytes(stored.reserved());
    let mut readers = vec![0u32; model.tensors.len()];
    for input in model.nodes.iter().flat_map(|node| &node.inputs) {
        readers[input.0] += 1;
    }
    let steps = Vec::new();
    let mut builder = Builder { model, places, readers, parts, stored, in_image, plan, steps };
    for layer in layers {
        builder.layer(layer);
    }
    if builder.plan.layers.iter().any(|layer| layer.work.no_kernel().is_some()) {
        return Ok(());
    }
    let inputs = builder.io(&model.inputs, &[])?;
    let outputs = builder.io(&model.outputs, &model.labels())?;
    let steps = builder.steps;
    plan.main = Some(Program {
        name: "main".to_owned(),
        frames: 1,
        lanes: vec![Lane { kind: LaneKind::Core, steps }],
        inputs,
        outputs,
    });
    Ok(())
}

/// Says of each step in which order it makes its rows, now that all tensors have their places, of the layers for which
/// the function says so.
///
/// # Errors
/// Names the layer whose output lies where its input does so that no order helps.
pub fn order_rows(
    model: &Model,
    plan: &mut Plan,
    is_wanted: &dyn Fn(u16) -> bool,
) -> Result<(), PlanError> {
    let mut program = plan.main.take();
    let steps = program.iter_mut().flat_map(|p| &mut p.lanes).flat_map(|lane| &mut lane.steps);
    for step in steps.filter(|step| is_wanted(step.layer)) {
        let Instruction::Compute { op, tile, first_view, order } = &mut step.instruction else {
            continue;
        };
        let (operands, tile) = (plan.operands(*op, *first_view), plan.tiles.get(*tile as usize));
        let found = operands
            .zip(tile)
            .and_then(|((op, views), tile)| overlap_offset::order(op, tile, views));
        *order = found.ok_or_else(|| {
            let layer = &plan.layers[usize::from(step.layer)];
            unsupported(&model.nodes[layer.nodes[0] as usize], "its output lies over its input")
        })?;
    }
    plan.main = program;
    Ok(())
}

struct Builder<'a> {
    model: &'a Model,
    /// For each tensor of the model, the planned tensor that holds its bytes.
    places: Vec<Option<u32>>,
    /// How many operands each tensor of the model is.
    readers: Vec<u32>,
    parts: &'a Parts,
    stored: Stored,
    in_image: &'a [InImage],
    plan: &'a mut Plan,
    steps: Vec<Step>,
}

/// An operand of a concat that is copied.
pub struct Copied {
    /// Its index among the node's inputs.
    pub operand: usize,
    /// Its first row, column and channel in the output.
    pub start: [u32; 3],
    /// Its rows, columns and channels.
    pub size: [u32; 3],
}

/// The operands of a concat that are copied, in the order of its steps.
///
/// # Errors
/// If the concat is none of rows, columns or channels.
pub fn copied(
    model: &Model,
    layer: &Layer,
    parts: &Parts,
    axis: usize,
) -> Result<Vec<Copied>, PlanError> {
    let node = &model.nodes[layer.node.0];
    let rank = node.outputs.first().map_or(0, |output| model.tensor(*output).shape.rank());
    let along = place_of(rank, axis).ok_or_else(|| unsupported(node, "concat along the batch"))?;
    let mut start = [0u32; 3];
    let mut copied = Vec::new();
    for (index, input) in node.inputs.iter().enumerate() {
        let size = shape(model, *input)?;
        if !parts.is_joined(layer.node.0, index) {
            copied.push(Copied { operand: index, start, size });
        }
        start[along] += size[along];
    }
    let bytes = |copied: &Copied| copied.size.iter().map(|side| u64::from(*side)).product::<u64>();
    copied.sort_by_key(|copied| std::cmp::Reverse(bytes(copied)));
    Ok(copied)
}

/// A part of an output tensor: its first row, column and channel, and its size.
#[derive(Clone, Copy)]
struct Part {
    start: [u32; 3],
    size: [u32; 3],
}

impl Builder<'_> {
    /// A layer with its steps, or with the bytes of its constants alone if no kernel computes it.
    fn layer(&mut self, layer: &Layer) {
        let node = &self.model.nodes[layer.node.0];
        let pool = layer.pool.map(|pool| &self.model.nodes[pool.0]);
        let nodes = || [Some(node), pool].into_iter().flatten();
        let reads = layer.reads.iter().filter_map(|id| self.planned(*id)).collect();
        let writes = layer.writes.iter().filter_map(|id| self.planned(*id)).collect();
        let mut work = layer.work.clone();
        if let Work::Kernel(kernel) = work {
            let before = self.lengths();
            if let Err(error) = self.steps(layer, kernel) {
                self.cut(before);
                let reason = match error {
                    PlanError::Unsupported(why) if why.place == place(node) => why.what,
                    error => error.to_string(),
                };
                work = no_kernel(node, reason);
            }
        }
        if work.no_kernel().is_some() {
            let space = self.stored().weights;
            let weights = &mut self.plan.space_bytes[space as usize];
            *weights = Bytes(weights.0.saturating_add(self.model.constant_bytes(node)));
        }
        self.plan.layers.push(PlannedLayer {
            nodes: [Some(layer.node), layer.pool].iter().flatten().map(|n| narrow(n.0)).collect(),
            name: nodes().map(|node| node.name.as_str()).collect::<Vec<_>>().join(" + "),
            work,
            macs: nodes().map(|node| self.model.macs(node)).sum(),
            reads,
            writes,
        });
    }

    /// Where the constants of the layer under way lie.
    fn stored(&self) -> Stored {
        match self.in_image.get(self.plan.layers.len()) {
            Some(InImage::All) => self.image(),
            _ => self.stored,
        }
    }

    /// Where constants lie that are in the plan image.
    const fn image(&self) -> Stored {
        Stored { groups_apart: self.stored.groups_apart, ..Stored::IMAGE }
    }

    /// How long the tables are that steps add to, and what the spaces hold.
    fn lengths(&self) -> ([usize; 5], [Bytes; 6]) {
        let Plan { ops, tiles, views, constants, .. } = &*self.plan;
        let lengths = [ops.len(), tiles.len(), views.len(), constants.len(), self.steps.len()];
        (lengths, self.plan.space_bytes)
    }

    /// Takes back what came after `lengths` were taken.
    fn cut(
        &mut self,
        ([ops, tiles, views, constants, steps], space_bytes): ([usize; 5], [Bytes; 6]),
    ) {
        self.plan.ops.truncate(ops);
        self.plan.tiles.truncate(tiles);
        self.plan.views.truncate(views);
        self.plan.constants.truncate(constants);
        for block in &mut self.plan.constants {
            block.copies.retain(|reader| (reader.op as usize) < ops);
        }
        self.steps.truncate(steps);
        self.plan.space_bytes = space_bytes;
    }

    /// The steps of a layer that `kernel` computes, with their tables.
    fn steps(&mut self, layer: &Layer, kernel: Kernel) -> Result<(), PlanError> {
        if self.parts.is_read_in_place(layer.node.0) {
            return Ok(());
        }
        let node = &self.model.nodes[layer.node.0];
        let number = u16::try_from(self.plan.layers.len())
            .map_err(|_| unsupported(node, "the model has more than 65535 layers"))?;
        let output = *layer.writes.first().ok_or_else(|| unsupported(node, "no output"))?;
        let Some(&input) = node.inputs.first() else {
            return Err(unsupported(node, "no operand"));
        };
        if let ModelOp::Concat { axis } = node.op {
            return self.concat(layer, kernel, number, axis, output);
        }
        let activations = kernel.roles().iter().filter(|role| **role == Role::Input).count();
        let inputs = node.inputs.get(..activations);
        let inputs = inputs.ok_or_else(|| unsupported(node, "an operand is missing"))?;
        let mut record = op(self.model, node, kernel, inputs, output)?;
        let length = self.model.tensor(input).shape.elements().unwrap_or(usize::MAX) as u64;
        if kernel == Kernel::FullyConnected && self.stored.longest_pair.is_some_and(|l| l < length)
        {
            record.flags |= Op::NATURAL;
        }
        if let Some(cuts) = &layer.sparse {
            record = sparse::op(&record, cuts, self.filter_length(node, output)).unwrap_or(record);
        }
        if let Some(pool) = layer.pool {
            pool_behind(self.model, node, &self.model.nodes[pool.0], &mut record)?;
        }
        let copy = match kernel {
            Kernel::Gather => Some(gather::copy(self.model, node)?),
            _ => None,
        };
        let whole = match &copy {
            Some(copy) => {
                record.scalars[0] = copy.run();
                copy.output
            }
            None => self.output_size(node, kernel, input, output)?,
        };
        let [h, _, c] = whole;
        let groups = u32::from(record.groups);
        // Filters lie in pairs, which must not be of two groups.
        let stored = self.stored();
        let (groups_apart, channels) = (stored.groups_apart, (stored.channels, stored.alignment));
        let apart = groups_apart
            && kernel == Kernel::Conv
            && c.checked_div(groups).is_some_and(|each| each.is_multiple_of(2));
        if apart {
            record.groups = 1;
        }
        let op_index = self.push_op(record);
        let mut views: Vec<View> = Vec::with_capacity(4);
        for (index, id) in inputs.iter().enumerate() {
            let size = self.input_size(kernel, *id)?;
            views.push(self.operand(layer, node, op_index, index, size)?);
        }
        views.push(self.activation(output, whole)?);
        if let &[from, to] = views.as_slice()
            && !apart
            && let Some(cut) = self.cut_filters((kernel, op_index), c, &from)
        {
            let valid = self.input_size(kernel, input)?;
            return self.in_two_stores(layer, (number, op_index), cut, valid, [from, to]);
        }
        let constants = match (kernel, copy) {
            (weighted, _) if weighted.operand(Role::Weights).is_some() => {
                views.push(self.weights(layer, node, op_index, c)?);
                Some((ConstantRole::Channels, u64::from(c) * CHANNEL_CONSTANT_BYTES))
            }
            (Kernel::LocalResponse, _) => {
                let p = integer::local_response(self.model, node)
                    .map_err(|source| PlanError::Integer { node: node.name.clone(), source })?;
                Some((ConstantRole::Factors, p.factors.len() as u64 * FACTOR_BYTES))
            }
            (Kernel::Lut, _) => Some((ConstantRole::Table, TABLE_BYTES)),
            (Kernel::ResizeNearest, _) => {
                Some((ConstantRole::Nearest, (u64::from(h) + u64::from(whole[1])) * NEAREST_BYTES))
            }
            (_, Some(copy)) => Some((ConstantRole::Gather(copy.gather), Gather::BYTES)),
            _ => None,
        };
        if let Some((role, bytes)) = constants {
            let place = match role {
                ConstantRole::Channels if channels.0 != Space::Constants => channels,
                _ => (Space::Constants, CONSTANTS_ALIGNMENT),
            };
            views.push(self.block(layer, role, (op_index, None), place, bytes)?);
        }
        let valid = self.input_size(kernel, input)?;
        if apart && groups > 1 {
            return self.groups(number, (op_index, groups), whole, valid, &views);
        }
        self.push_step(number, op_index, Part { start: [0; 3], size: whole }, valid, views);
        Ok(())
    }

    /// The box of an operand as its kernel takes it.
    fn input_size(&self, kernel: Kernel, id: TensorId) -> Result<[u32; 3], PlanError> {
        match kernel.spec().boxes {
            Boxes::Vector => {
                let elements: u32 = shape(self.model, id)?.iter().product();
                Ok([1, 1, elements])
            }
            Boxes::Aligned => aligned_shape(self.model, id),
            Boxes::Flat => flat_shape(self.model, id),
            Boxes::Image => shape(self.model, id),
        }
    }

    /// The box of a node's output as its kernel takes it: dimensions that are taken together stay
    /// as one element, and a 32-bit integer counts as four channels.
    fn output_size(
        &self,
        node: &Node,
        kernel: Kernel,
        input: TensorId,
        output: TensorId,
    ) -> Result<[u32; 3], PlanError> {
        let axes = match &node.op {
            ModelOp::Mean { axes, .. } => axes.as_slice(),
            ModelOp::ArgMax { axis, .. } => std::slice::from_ref(axis),
            _ => return self.input_size(kernel, output),
        };
        let mut size = shape(self.model, input)?;
        let rank = self.model.tensor(input).shape.rank();
        for place in axes.iter().filter_map(|axis| place_of(rank, *axis)) {
            size[place] = 1;
        }
        let channels = size[2].checked_mul(kernel.spec().result_bytes);
        size[2] = channels.ok_or_else(|| unsupported(node, "too large"))?;
        Ok(size)
    }

    /// Each operand is copied to its place, scales adjusted: the largest first, which then may lie
    /// where the output will.
    fn concat(
        &mut self,
        layer: &Layer,
        kernel: Kernel,
        number: u16,
        axis: usize,
        output: TensorId,
    ) -> Result<(), PlanError> {
        let node = &self.model.nodes[layer.node.0];
        let base = self.activation(output, shape(self.model, output)?)?;
        for Copied { operand, start, size } in copied(self.model, layer, self.parts, axis)? {
            let input = node.inputs[operand];
            let part = Part { start, size };
            let op = op(self.model, node, kernel, &[input], output)?;
            let op = self.push_op(op);
            let [h, w, c] = size;
            let [y, x, first] = start.map(u64::from);
            let (row, pixel) = (u64::from(base.row_pitch), u64::from(base.column_pitch));
            let offset = u64::from(base.offset) + y * row + x * pixel + first;
            let target = View {
                offset: u32::try_from(offset)
                    .map_err(|_| unsupported(node, "its output lies past 4 GiB"))?,
                c,
                h: narrow(h),
                w: narrow(w),
                y0: narrow(start[0]),
                x0: narrow(start[1]),
                ring_rows: narrow(h),
                ..base
            };
            let source = self.operand(layer, node, op, operand, size)?;
            self.push_step(number, op, part, size, vec![source, target]);
        }
        Ok(())
    }

    /// An activation where it lies, or a constant operand's values among the weights.
    fn operand(
        &mut self,
        layer: &Layer,
        node: &Node,
        op: u32,
        index: usize,
        [h, w, c]: [u32; 3],
    ) -> Result<View, PlanError> {
        let id = node.inputs[index];
        if !self.model.tensor(id).is_constant() {
            return self.activation(id, [h, w, c]);
        }
        let input = u8::try_from(index).map_err(|_| unsupported(node, "more than 256 operands"))?;
        let bytes = u64::from(h) * u64::from(w) * u64::from(c);
        let Stored { weights: space, alignment, .. } = self.stored();
        let role = ConstantRole::Operand { input };
        let block = self.block(layer, role, (op, None), (space, alignment), bytes)?;
        Ok(View::whole(space, block.offset, narrow(h), narrow(w), c))
    }

    /// The weights of a layer with so many output channels.
    fn weights(
        &mut self,
        layer: &Layer,
        node: &Node,
        op: u32,
        channels: u32,
    ) -> Result<View, PlanError> {
        let weights = node.inputs.get(1).ok_or_else(|| unsupported(node, "no weights"))?;
        let too_large = || unsupported(node, "weights larger than 4 GiB");
        let natural = self.model.tensor(*weights).bytes().ok_or_else(too_large)? as u64;
        let channels = u64::from(channels.max(1));
        let filters = self.plan.ops[op as usize].filters(natural / channels);
        let bytes = sparse::bytes(layer.sparse.as_ref(), &filters, channels);
        let bytes = bytes.ok_or_else(too_large)?;
        let Stored { weights: space, alignment, .. } = self.stored();
        self.block(layer, ConstantRole::Weights, (op, None), (space, alignment), bytes)
    }

    /// Values of each filter of a node.
    fn filter_length(&self, node: &Node, output: TensorId) -> u64 {
        let weights = node.inputs.get(1).and_then(|id| self.model.tensor(*id).bytes());
        let channels = self.model.tensor(output).shape.dims().last();
        weights.unwrap_or(0) as u64 / channels.map_or(1, |channels| *channels as u64).max(1)
    }

    fn push_op(&mut self, op: Op) -> u32 {
        self.plan.ops.push(op);
        narrow(self.plan.ops.len() - 1)
    }

    fn push_step(
        &mut self,
        layer: u16,
        op: u32,
        part: Part,
        input_shape: [u32; 3],
        views: Vec<View>,
    ) {
        self.plan.tiles.push(Tile {
            output_start: [narrow(part.start[0]), narrow(part.start[1])],
            output_size: [narrow(part.size[0]), narrow(part.size[1])],
            channel_start: part.start[2],
            channels: part.size[2],
            valid_start: [0, 0],
            valid_size: [narrow(input_shape[0]), narrow(input_shape[1])],
        });
        let tile = narrow(self.plan.tiles.len() - 1);
        let first_view = narrow(self.plan.views.len());
        self.plan.views.extend(views);
        self.steps.push(Step {
            after: [None; 3],
            frame: 0,
            layer,
            instruction: Instruction::Compute { op, tile, first_view, order: RowOrder::Whole },
        });
    }

    /// Index in the plan of the tensor that holds `id`'s bytes.
    fn planned(&self, id: TensorId) -> Option<u32> {
        self.places[id.0]
    }

    fn offset(&self, id: TensorId) -> Result<u32, PlanError> {
        let planned = self.planned(id).and_then(|index| self.plan.tensors.get(index as usize));
        planned
            .and_then(|planned| u32::try_from(planned.offset).ok())
            .ok_or_else(|| bad_shape(self.model, id, "it has no place in the first 4 GiB"))
    }

    /// An activation as a box of this size, where it lies.
    fn activation(&self, id: TensorId, [h, w, c]: [u32; 3]) -> Result<View, PlanError> {
        let planned = self.planned(id).and_then(|index| self.plan.tensors.get(index as usize));
        let space = planned.map_or(Space::Arena, |planned| planned.space);
        let view = View::whole(space, self.offset(id)?, narrow(h), narrow(w), c);
        Ok(match planned.and_then(|planned| planned.pitch) {
            Some([row_pitch, column_pitch]) => View { row_pitch, column_pitch, ..view },
            None => view,
        })
    }

    /// The whole of a tensor, as its bytes: a 32-bit integer counts as four channels.
    fn view(&self, id: TensorId) -> Result<View, PlanError> {
        let [h, w, c] = flat_shape(self.model, id)?;
        let row = c.checked_mul(narrow(self.model.tensor(id).dtype.bytes()));
        let row = row.ok_or_else(|| bad_shape(self.model, id, "larger than 4 GiB"))?;
        let planned = self.planned(id).and_then(|index| self.plan.tensors.get(index as usize));
        let space = planned.map_or(Space::Arena, |planned| planned.space);
        let view = View::whole(space, self.offset(id)?, narrow(h), narrow(w), row);
        let pitch = planned.and_then(|planned| planned.pitch).filter(|_| space == Space::Card);
        Ok(pitch.map_or(view, |[row_pitch, _]| View { row_pitch, ..view }))
    }

    fn io(&mut self, ids: &[TensorId], labels: &[String]) -> Result<Vec<Io>, PlanError> {
        let mut io = Vec::new();
        let are_short = labels.iter().map(String::len).sum::<usize>() <= MOST_LABEL_BYTES;
        for id in ids {
            let mut view = self.view(*id)?;
            let tensor = self.planned(*id).unwrap_or(0);
            let planned = self.plan.tensors.get(tensor as usize);
            // Of an input that arrives in rows as many as are held.
            if let Some(rows) = planned.and_then(|planned| planned.ring) {
                (view.h, view.ring_rows) = (narrow(rows), narrow(rows));
            }
            self.plan.views.push(view);
            let quantisation = self.model.tensor(*id).quantisation.as_ref();
            let has_names = are_short && view.elements() == labels.len() as u64;
            io.push(Io {
                tensor,
                view: narrow(self.plan.views.len() - 1),
                scale: quantisation.map_or(1.0, |q| q.scale(0)),
                zero: zero(self.model, *id),
                labels: if has_names { labels.to_vec() } else { Vec::new() },
            });
        }
        Ok(io)
    }
}
