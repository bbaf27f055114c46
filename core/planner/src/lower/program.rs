//! Ops, views, constants and the steps of the core lane.

use super::layer::Layer;
use super::{roots, shape, unsupported};
use crate::PlanError;
use tilewright_model::integer::{self, IntegerError, Multiplier};
use tilewright_model::{Model, Node, Op as ModelOp, TensorId, Window};
use tilewright_plan::kernel::CHANNEL_CONSTANT_BYTES;
use tilewright_plan::{
    Bytes, Constant, ConstantRole, Instruction, Io, Lane, LaneKind, Op, Plan, PlannedLayer,
    Program, Space, Step, Tile, View,
};

/// Blocks of weights start at multiples of this.
const WEIGHTS_ALIGNMENT: u64 = 16;

/// Fills `plan`, whose tensors are placed, with layers, tables and one program.
///
/// # Errors
/// Names the first node that no kernel runs as it is.
pub fn program(model: &Model, layers: &[Layer], plan: &mut Plan) -> Result<(), PlanError> {
    let roots = roots(model);
    let mut places = vec![None; model.tensors.len()];
    for (index, tensor) in (0u32..).zip(&plan.tensors) {
        places[tensor.tensor as usize] = Some(index);
    }
    let places = roots.iter().map(|root| places[root.0]).collect();
    let mut builder = Builder { model, places, plan, steps: Vec::new() };
    for layer in layers {
        builder.layer(layer)?;
    }
    let inputs = builder.io(&model.inputs, &[])?;
    let outputs = builder.io(&model.outputs, &model.labels())?;
    let steps = builder.steps;
    plan.programs.push(Program {
        name: "main".to_owned(),
        boot: false,
        stages: 1,
        lanes: vec![Lane { kind: LaneKind::Core, steps }],
        inputs,
        outputs,
    });
    Ok(())
}

struct Builder<'a> {
    model: &'a Model,
    /// For each tensor of the model, the planned tensor that holds its bytes.
    places: Vec<Option<u32>>,
    plan: &'a mut Plan,
    steps: Vec<Step>,
}

/// A part of an output tensor: its first row, column and channel, and its size.
#[derive(Clone, Copy)]
struct Part {
    start: [u32; 3],
    size: [u32; 3],
}

impl Builder<'_> {
    fn layer(&mut self, layer: &Layer) -> Result<(), PlanError> {
        let node = &self.model.nodes[layer.node.0];
        let reads = layer.reads.iter().filter_map(|id| self.planned(*id)).collect();
        let writes = layer.writes.iter().filter_map(|id| self.planned(*id)).collect();
        let number = u16::try_from(self.plan.layers.len())
            .map_err(|_| unsupported(node, "the model has more than 65535 layers"))?;
        self.plan.layers.push(PlannedLayer {
            node: layer.node.0 as u32,
            name: node.name.clone(),
            kernel: layer.kernel,
            macs: self.model.macs(node),
            reads,
            writes,
        });
        let output = *node.outputs.first().ok_or_else(|| unsupported(node, "no output"))?;
        let input = *node.inputs.first().ok_or_else(|| unsupported(node, "no operand"))?;
        if let ModelOp::Concat { axis } = node.op {
            return self.concat(layer, number, axis, output);
        }
        let mut op = self.op(layer, node, input, output)?;
        let mut views: Vec<View> = Vec::with_capacity(4);
        let whole = Part { start: [0; 3], size: shape(self.model, output)? };
        match &node.op {
            ModelOp::Add { .. } => {
                let second =
                    *node.inputs.get(1).ok_or_else(|| unsupported(node, "one operand only"))?;
                if shape(self.model, input)? != whole.size
                    || shape(self.model, second)? != whole.size
                {
                    return Err(unsupported(node, "operands of different shapes"));
                }
                op.input_zero[1] = self.zero(second);
                views.push(self.view(input)?);
                views.push(self.view(second)?);
                views.push(self.view(output)?);
            }
            ModelOp::FullyConnected { .. } => {
                let elements: u32 = shape(self.model, input)?.iter().product();
                views.push(View::whole(Space::Arena, self.offset(input)?, 1, 1, elements));
                views.push(self.view(output)?);
            }
            _ => {
                views.push(self.view(input)?);
                views.push(self.view(output)?);
            }
        }
        let op_index = self.push_op(op);
        if matches!(
            node.op,
            ModelOp::Conv { .. } | ModelOp::DepthwiseConv { .. } | ModelOp::FullyConnected { .. }
        ) {
            let (weights, channels) = self.constants(layer, node, op_index, whole.size[2])?;
            views.push(weights);
            views.push(channels);
        }
        let input_shape = shape(self.model, input)?;
        self.push_step(number, op_index, whole, input_shape, views);
        Ok(())
    }

    /// Each operand is copied to its place, scales adjusted.
    fn concat(
        &mut self,
        layer: &Layer,
        number: u16,
        axis: usize,
        output: TensorId,
    ) -> Result<(), PlanError> {
        let node = &self.model.nodes[layer.node.0];
        // Dimensions are counted from the last: channels, width, height.
        let rank = self.model.tensor(output).shape.rank();
        let dimension = match rank.checked_sub(axis) {
            Some(1) => 2,
            Some(2) => 1,
            Some(3) => 0,
            _ => return Err(unsupported(node, "concat along the batch")),
        };
        let whole = shape(self.model, output)?;
        let base = self.view(output)?;
        let mut start = [0u32; 3];
        for input in &node.inputs {
            let size = shape(self.model, *input)?;
            let part = Part { start, size };
            let mut op = self.op(layer, node, *input, output)?;
            let scale = self.requantise(node, *input, output)?;
            op.scalars[..2].copy_from_slice(&[scale.q31, scale.shift]);
            let op = self.push_op(op);
            let [h, w, c] = size;
            let [y, x, first, width, depth] =
                [start[0], start[1], start[2], whole[1], whole[2]].map(u64::from);
            let offset = u64::from(base.offset) + (y * width + x) * depth + first;
            let target = View {
                offset: u32::try_from(offset)
                    .map_err(|_| unsupported(node, "its output lies past 4 GiB"))?,
                c,
                h: h as u16,
                w: w as u16,
                y0: start[0] as i16,
                x0: start[1] as i16,
                ring_rows: h as u16,
                ..base
            };
            let source = self.view(*input)?;
            self.push_step(number, op, part, size, vec![source, target]);
            start[dimension] += size[dimension];
        }
        Ok(())
    }

    fn op(
        &self,
        layer: &Layer,
        node: &Node,
        input: TensorId,
        output: TensorId,
    ) -> Result<Op, PlanError> {
        let integer_error =
            |source: IntegerError| PlanError::Integer { node: node.name.clone(), source };
        let (clamp_min, clamp_max) = integer::clamp(self.model, node).map_err(integer_error)?;
        let mut op = Op {
            kernel: layer.kernel as u16,
            window: [1, 1],
            stride: [1, 1],
            dilation: [1, 1],
            groups: 1,
            input_zero: [self.zero(input), 0],
            output_zero: self.zero(output),
            clamp_min: i16::from(clamp_min),
            clamp_max: i16::from(clamp_max),
            ..Op::default()
        };
        if let Some(window) = node.op.window() {
            self.window(node, window, &mut op)?;
        }
        match &node.op {
            ModelOp::Conv { groups, .. } => op.groups = self.small(node, *groups, "groups")?,
            ModelOp::DepthwiseConv { multiplier, .. } => {
                op.groups = self.small(node, *multiplier, "channel multiplier")?;
            }
            ModelOp::MaxPool { window, .. } | ModelOp::AveragePool { window, .. }
                if window.dilation != [1, 1] =>
            {
                return Err(unsupported(node, "a dilated pooling window"));
            }
            ModelOp::AveragePool { window, count_padding: true, .. }
                if window.padding != Default::default() =>
            {
                return Err(unsupported(node, "padding that counts in the mean"));
            }
            ModelOp::Add { .. } => {
                let p = integer::add(self.model, node).map_err(integer_error)?;
                op.scalars[..6].copy_from_slice(&[
                    p.first.q31,
                    p.first.shift,
                    p.second.q31,
                    p.second.shift,
                    p.output.q31,
                    p.output.shift,
                ]);
            }
            ModelOp::Activation(_) => {
                let scale = self.requantise(node, input, output)?;
                op.scalars[..2].copy_from_slice(&[scale.q31, scale.shift]);
            }
            ModelOp::Softmax => {
                let p = integer::softmax(self.model, node).map_err(integer_error)?;
                op.scalars[..3].copy_from_slice(&[p.multiplier, p.left_shift, p.diff_min]);
            }
            ModelOp::Pad { amounts } => {
                let [(0, 0), (top, _), (left, _), (0, 0)] = amounts.as_slice() else {
                    return Err(unsupported(node, "padding of other than height and width"));
                };
                op.padding =
                    [self.small(node, *top, "padding")?, self.small(node, *left, "padding")?];
            }
            _ => {}
        }
        Ok(op)
    }

    fn window(&self, node: &Node, window: &Window, op: &mut Op) -> Result<(), PlanError> {
        for axis in 0..2 {
            op.window[axis] = self.small(node, window.size[axis], "window")?;
            op.stride[axis] = self.small(node, window.stride[axis], "stride")?;
            op.dilation[axis] = self.small(node, window.dilation[axis], "dilation")?;
        }
        op.padding = [
            self.small(node, window.padding.top, "padding")?,
            self.small(node, window.padding.left, "padding")?,
        ];
        Ok(())
    }

    fn small(&self, node: &Node, value: usize, what: &str) -> Result<u16, PlanError> {
        u16::try_from(value).map_err(|_| unsupported(node, format!("{what} of {value}")))
    }

    fn requantise(
        &self,
        node: &Node,
        input: TensorId,
        output: TensorId,
    ) -> Result<Multiplier, PlanError> {
        integer::requantise(self.model, input, output)
            .map_err(|source| PlanError::Integer { node: node.name.clone(), source })
    }

    /// Blocks for weights and channel constants, and the views of them.
    fn constants(
        &mut self,
        layer: &Layer,
        node: &Node,
        op: u32,
        channels: u32,
    ) -> Result<(View, View), PlanError> {
        let weights = node.inputs.get(1).ok_or_else(|| unsupported(node, "no weights"))?;
        let too_large = || unsupported(node, "weights larger than 4 GiB");
        let bytes = self.model.tensor(*weights).bytes().ok_or_else(too_large)? as u64;
        let weights = (ConstantRole::Weights, Space::Weights, bytes, WEIGHTS_ALIGNMENT);
        let constants = (
            ConstantRole::Channels,
            Space::Constants,
            u64::from(channels) * CHANNEL_CONSTANT_BYTES,
            4,
        );
        let mut views = [View::default(); 2];
        for (view, (role, space, bytes, alignment)) in views.iter_mut().zip([weights, constants]) {
            let used = &mut self.plan.space_bytes[space as usize];
            let offset = used.align_up(alignment).0;
            *used = Bytes(offset + bytes);
            let address = u32::try_from(offset).ok().zip(u32::try_from(bytes).ok());
            let (offset32, bytes32) = address.ok_or_else(too_large)?;
            *view = View::bytes(space, offset32, bytes32);
            let node = layer.node.0 as u32;
            let bytes = Bytes(bytes);
            self.plan.constants.push(Constant { node, role, op, space, offset, bytes });
        }
        let [weights, constants] = views;
        Ok((weights, constants))
    }

    fn push_op(&mut self, op: Op) -> u32 {
        self.plan.ops.push(op);
        (self.plan.ops.len() - 1) as u32
    }

    fn push_step(
        &mut self,
        layer: u16,
        op: u32,
        part: Part,
        input_shape: [u32; 3],
        views: Vec<View>,
    ) {
        let small = |v: u32| v as u16;
        self.plan.tiles.push(Tile {
            output_start: [small(part.start[0]), small(part.start[1])],
            output_size: [small(part.size[0]), small(part.size[1])],
            channel_start: part.start[2],
            channels: part.size[2],
            valid_start: [0, 0],
            valid_size: [small(input_shape[0]), small(input_shape[1])],
        });
        let tile = (self.plan.tiles.len() - 1) as u32;
        let first_view = self.plan.views.len() as u32;
        self.plan.views.extend(views);
        self.steps.push(Step {
            after: [None; 3],
            stage: 0,
            layer,
            instruction: Instruction::Compute { op, tile, first_view },
        });
    }

    /// Index in the plan of the tensor that holds `id`'s bytes.
    fn planned(&self, id: TensorId) -> Option<u32> {
        self.places[id.0]
    }

    fn offset(&self, id: TensorId) -> Result<u32, PlanError> {
        let tensor = self.model.tensor(id);
        let planned = self.planned(id).and_then(|index| self.plan.tensors.get(index as usize));
        planned.and_then(|planned| u32::try_from(planned.offset).ok()).ok_or_else(|| {
            PlanError::BadShape {
                tensor: tensor.name.clone(),
                shape: tensor.shape.to_string(),
                reason: "it has no place in the first 4 GiB".to_owned(),
            }
        })
    }

    fn view(&self, id: TensorId) -> Result<View, PlanError> {
        let [h, w, c] = shape(self.model, id)?;
        Ok(View::whole(Space::Arena, self.offset(id)?, h as u16, w as u16, c))
    }

    fn zero(&self, id: TensorId) -> i16 {
        let zero = self.model.tensor(id).quantisation.as_ref().map_or(0, |q| q.zero());
        zero.clamp(-128, 127) as i16
    }

    fn io(&mut self, ids: &[TensorId], labels: &[String]) -> Result<Vec<Io>, PlanError> {
        let mut io = Vec::new();
        for id in ids {
            let view = self.view(*id)?;
            let tensor = self.planned(*id).unwrap_or(0);
            self.plan.views.push(view);
            let quantisation = self.model.tensor(*id).quantisation.as_ref();
            io.push(Io {
                tensor,
                view: (self.plan.views.len() - 1) as u32,
                scale: quantisation.map_or(1.0, |q| q.scale(0)),
                zero: self.zero(*id),
                labels: if view.elements() == labels.len() as u64 {
                    labels.to_vec()
                } else {
                    Vec::new()
                },
            });
        }
        Ok(io)
    }
}
