//! Layers as swapping sees them: what is read, what window slides, what weights, what time.

use tilewright_model::Model;
use tilewright_plan::{Instruction, Kernel, Op, Plan, PoolBehind, Work};
use tilewright_planner::costs::Costs;

/// How many bytes the weights of a depthwise convolution are counted as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depthwise {
    /// A window for each channel, as there are.
    #[default]
    True,
    /// A window for each pair of channels, as of a convolution: what the SwapNN paper's figures for
    /// MobileNet seem to count.
    Dense,
}

/// An activation that a layer reads.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The layer that makes it (index among those of swapping); nothing of the model's inputs.
    pub producer: Option<usize>,
    /// Height, width, channels.
    pub shape: [u32; 3],
}

/// How a layer is cut.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// Squares of the output, each from a window of the input.
    Squares(Window),
    /// Runs of the output, each from as large a share of the whole input.
    Runs,
    /// At once: the whole input is read by one task.
    Whole,
}

/// Height and width of a window that slides over the input, and its stride.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Extent, dilation included.
    pub size: [u32; 2],
    pub stride: [u32; 2],
}

/// A layer, with those that are computed with it.
#[derive(Clone, Debug)]
pub struct SwapLayer {
    /// Its first layer's position in the plan.
    pub layer: u16,
    /// Name of that.
    pub name: String,
    /// What it reads.
    pub operands: Vec<Operand>,
    /// Height, width, channels of the output.
    pub output: [u32; 3],
    /// How it is cut.
    pub way: Way,
    /// Bytes of weights.
    pub weights: u64,
    /// Cycles of all of it.
    pub cycles: u64,
}

/// The layers of a lowered plan.
pub fn layers(plan: &Plan, model: &Model, costs: &Costs, depthwise: Depthwise) -> Vec<SwapLayer> {
    let steps = steps(plan, costs);
    let mut readers = vec![0u32; plan.tensors.len()];
    for tensor in plan.layers.iter().flat_map(|layer| &layer.reads) {
        readers[*tensor as usize] += 1;
    }
    for io in plan.programs().flat_map(|program| &program.outputs) {
        readers[io.tensor as usize] += 1;
    }
    let mut made_by: Vec<Option<usize>> = vec![None; plan.tensors.len()];
    let mut layers: Vec<SwapLayer> = Vec::new();
    for (position, (layer, (op, cycles))) in plan.layers.iter().zip(steps).enumerate() {
        let shape = |tensor: &u32| plan.tensors[*tensor as usize].shape;
        let output = layer.writes.first().map(shape).unwrap_or_default();
        let before = match layer.reads.as_slice() {
            [only] if is_elementwise(&layer.work) && shape(only) == output => {
                made_by[*only as usize].filter(|_| readers[*only as usize] == 1)
            }
            _ => None,
        };
        let index = before.unwrap_or(layers.len());
        if let Some(before) = before {
            layers[before].cycles += cycles;
        } else {
            let operands = layer.reads.iter().map(|tensor| Operand {
                producer: made_by[*tensor as usize],
                shape: shape(tensor),
            });
            layers.push(SwapLayer {
                layer: u16::try_from(position).unwrap_or(u16::MAX),
                name: layer.name.clone(),
                operands: operands.collect(),
                output,
                way: way(&layer.work, op),
                weights: layer.nodes.iter().map(|node| weights(model, *node, depthwise)).sum(),
                cycles,
            });
        }
        for tensor in &layer.writes {
            made_by[*tensor as usize] = Some(index);
        }
    }
    layers
}

/// For each layer the op of its first step, and the cycles of all its steps.
fn steps<'p>(plan: &'p Plan, costs: &Costs) -> Vec<(Option<&'p Op>, u64)> {
    let mut found = vec![(None, 0); plan.layers.len()];
    let lanes = plan.main.iter().flat_map(|p| &p.lanes);
    for step in lanes.flat_map(|lane| &lane.steps) {
        let Instruction::Compute { op, tile, first_view, order } = step.instruction else {
            continue;
        };
        let (operands, tile) = (plan.operands(op, first_view), plan.tiles.get(tile as usize));
        let of_layer = found.get_mut(usize::from(step.layer));
        if let (Some((op, views)), Some(tile), Some((first, cycles))) = (operands, tile, of_layer) {
            first.get_or_insert(op);
            *cycles += costs.step(op, tile, views, order).0;
        }
    }
    found
}

/// Whether each element of the output follows from that of the input, or from its pixel.
const fn is_elementwise(work: &Work) -> bool {
    matches!(
        work,
        Work::Kernel(
            Kernel::Lut
                | Kernel::Requantise
                | Kernel::Prelu
                | Kernel::Softmax
                | Kernel::LogSoftmax
                | Kernel::LocalResponse
        )
    )
}

fn way(work: &Work, op: Option<&Op>) -> Way {
    let (Work::Kernel(kernel), Some(op)) = (work, op) else { return Way::Runs };
    let point = Window { size: [1; 2], stride: [1; 2] };
    let pool = PoolBehind::of(op);
    match kernel {
        Kernel::Conv
        | Kernel::Depthwise
        | Kernel::MaxPool
        | Kernel::AveragePool
        | Kernel::ConvMaxPool => {
            // Of a pool behind it the windows' windows.
            let [mut size, mut stride] = [[0; 2]; 2];
            for axis in 0..2 {
                let dilation = u32::from(op.dilation[axis]).max(1);
                size[axis] = (u32::from(op.window[axis]).max(1) - 1) * dilation + 1;
                stride[axis] = u32::from(op.stride[axis]).max(1);
                if let Some(pool) = &pool {
                    size[axis] += (u32::from(pool.window[axis]).max(1) - 1) * stride[axis];
                    stride[axis] *= u32::from(pool.stride[axis]).max(1);
                }
            }
            Way::Squares(Window { size, stride })
        }
        Kernel::Add
        | Kernel::Sub
        | Kernel::Mul
        | Kernel::Maximum
        | Kernel::Minimum
        | Kernel::Prelu
        | Kernel::Requantise
        | Kernel::Lut
        | Kernel::Softmax
        | Kernel::LogSoftmax
        | Kernel::LocalResponse => Way::Squares(point),
        Kernel::FullyConnected | Kernel::Mean | Kernel::ArgMax => Way::Whole,
        Kernel::Pad
        | Kernel::Gather
        | Kernel::TransposeConv
        | Kernel::ResizeNearest
        | Kernel::ResizeBilinear => Way::Runs,
    }
}

/// Bytes of a node's weights; biases are not moved.
fn weights(model: &Model, node: u32, depthwise: Depthwise) -> u64 {
    let Some(node) = model.nodes.get(node as usize) else { return 0 };
    let constant = node.inputs.get(1).map(|id| model.tensor(*id)).filter(|t| t.is_constant());
    let Some(weights) = constant.filter(|_| node.op.is_weighted()) else { return 0 };
    let elements = weights.shape.elements().unwrap_or(0) as u64;
    match (&node.op, depthwise) {
        (tilewright_model::Op::DepthwiseConv { .. }, Depthwise::Dense) => {
            let channels = weights.shape.dims().last().copied().unwrap_or(1) as u64;
            elements.saturating_mul(channels)
        }
        _ => elements,
    }
}
