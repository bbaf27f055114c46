//! Layers and the lives of tensors.

use super::{flat_shape, roots};
use crate::PlanError;
use crate::narrow::narrow;
use tilewright_model::{DType, Model, Node, NodeId, Op, ResizeMode, TensorId};
use tilewright_plan::{Bytes, Kernel, PlannedTensor, Space, SparseCuts, Work};
use tilewright_report::LayerRow;

/// A node that executes, perhaps with the pool behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The node.
    pub node: NodeId,
    /// The max pool that is computed with it, so that the node's own output is never stored.
    pub pool: Option<NodeId>,
    /// What computes it.
    pub work: Work,
    /// Activations that it reads, reshapes resolved.
    pub reads: Vec<TensorId>,
    /// Activations that it writes.
    pub writes: Vec<TensorId>,
    /// Where its weights are cut, if they are stored without their zeros.
    pub sparse: Option<SparseCuts>,
}

/// The layers of a model in the order of its nodes.
pub fn layers(model: &Model) -> Vec<Layer> {
    let roots = roots(model);
    let mut layers = Vec::new();
    for (index, node) in model.nodes.iter().enumerate() {
        if matches!(node.op, Op::Reshape) {
            continue;
        }
        let mut reads: Vec<TensorId> = Vec::new();
        for input in &node.inputs {
            let root = roots[input.0];
            if !model.tensor(root).is_constant() && !reads.contains(&root) {
                reads.push(root);
            }
        }
        let found = kernel(model, node).and_then(|kernel| {
            operands(model, node, kernel, &reads)?;
            Ok(kernel)
        });
        let work = found.map_or_else(|reason| no_kernel(node, reason), Work::Kernel);
        let writes = node.outputs.clone();
        let sparse = node.inputs.get(1).filter(|_| node.op.is_weighted());
        let sparse = sparse.and_then(|weights| model.sparse.get(weights));
        let sparse = sparse.and_then(|blocks| {
            SparseCuts::from_starts(blocks.each, blocks.channels, &blocks.starts)
        });
        layers.push(Layer { node: NodeId(index), pool: None, work, reads, writes, sparse });
    }
    layers
}

/// Whether a kernel would compute a node if the model were not one of floats.
pub fn awaits_int8(model: &Model, node: &Node) -> bool {
    let is_float = |id: &TensorId| model.tensor(*id).dtype == DType::F32;
    kernel(model, node).is_ok() && node.outputs.iter().any(is_float)
}

/// The work of a node that no kernel computes, for this reason.
pub fn no_kernel(node: &Node, reason: String) -> Work {
    Work::NoKernel { op: node.op.name().to_owned(), reason }
}

/// Whether a node's operands are of a kind that its kernel takes: constant where it wants
/// constants, int8 where it computes.
fn operands(model: &Model, node: &Node, kernel: Kernel, reads: &[TensorId]) -> Result<(), String> {
    let constant = |id: &TensorId| model.tensor(*id).is_constant();
    if node.op.is_weighted() {
        let (input, weights) = node.inputs.split_at_checked(1).unwrap_or_default();
        if input.iter().any(constant) {
            return Err("its input is constant: fold it first".to_owned());
        }
        if !weights.iter().all(constant) {
            return Err("weights or bias are not constant".to_owned());
        }
    } else if reads.is_empty() {
        return Err("all of its operands are constant: fold it first".to_owned());
    }
    let results = if kernel.spec().result_bytes == 4 { DType::I32 } else { DType::I8 };
    let wanted = reads.iter().map(|id| (id, DType::I8));
    let wanted = wanted.chain(node.outputs.iter().map(|id| (id, results)));
    let mut tensors = wanted.map(|(id, dtype)| (model.tensor(*id), dtype));
    match tensors.find(|(tensor, dtype)| tensor.dtype != *dtype) {
        Some((tensor, dtype)) => Err(format!(
            "tensor '{}' is {}, kernels compute on {}",
            tensor.name,
            tensor.dtype.name(),
            dtype.name()
        )),
        None => Ok(()),
    }
}

/// Whether a fully connected layer has several rows of inputs.
fn has_rows(model: &Model, node: &Node) -> bool {
    let input = node.inputs.first().map(|id| model.tensor(*id).shape.dims());
    input.and_then(<[usize]>::first).is_some_and(|rows| *rows > 1)
}

/// The kernel that does a node's work, or why there is none.
fn kernel(model: &Model, node: &Node) -> Result<Kernel, String> {
    Ok(match &node.op {
        Op::Reshape => return Err("a reshape moves nothing".to_owned()),
        Op::Conv { .. } => Kernel::Conv,
        Op::DepthwiseConv { .. } => Kernel::Depthwise,
        Op::TransposeConv { .. } => Kernel::TransposeConv,
        // The same filters for each pixel of a row.
        Op::FullyConnected { .. } if has_rows(model, node) => Kernel::Conv,
        Op::FullyConnected { .. } => Kernel::FullyConnected,
        Op::MaxPool { .. } => Kernel::MaxPool,
        Op::AveragePool { .. } => Kernel::AveragePool,
        Op::Mean { .. } => Kernel::Mean,
        Op::Add { .. } => Kernel::Add,
        Op::Sub { .. } => Kernel::Sub,
        Op::Mul { .. } => Kernel::Mul,
        Op::Maximum => Kernel::Maximum,
        Op::Minimum => Kernel::Minimum,
        Op::Prelu => Kernel::Prelu,
        Op::Pad { .. } => Kernel::Pad,
        Op::Concat { .. } => Kernel::Requantise,
        Op::Activation(_) | Op::Unary(_) | Op::Requantise => Kernel::Lut,
        Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::SpaceToDepth { .. }
        | Op::DepthToSpace { .. } => Kernel::Gather,
        Op::Resize { mode: ResizeMode::Nearest, .. } => Kernel::ResizeNearest,
        Op::Resize { mode: ResizeMode::Bilinear, .. } => Kernel::ResizeBilinear,
        Op::Softmax => Kernel::Softmax,
        Op::LogSoftmax => Kernel::LogSoftmax,
        Op::ArgMax { .. } => Kernel::ArgMax,
        Op::BatchNorm { .. } => {
            return Err("batch norm must be folded before quantisation".to_owned());
        }
        Op::Div { .. } => {
            return Err("a division by other than constants has no int8 form".to_owned());
        }
        Op::LocalResponseNorm { .. } => Kernel::LocalResponse,
        Op::Opaque { .. } => {
            return Err(LayerRow::NONE.to_owned());
        }
    })
}

/// The activation tensors with their lives, not yet placed.
///
/// # Errors
/// Names the first tensor that is too large to be planned.
pub fn tensors(model: &Model, layers: &[Layer]) -> Result<Vec<PlannedTensor>, PlanError> {
    let roots = roots(model);
    let end_of_time = narrow(layers.len().max(1));
    let mut lives: Vec<Option<(u32, u32)>> = vec![None; model.tensors.len()];
    for input in &model.inputs {
        lives[input.0] = Some((0, 1));
    }
    for (position, layer) in (0u32..).zip(layers) {
        for output in &layer.writes {
            lives[output.0] = Some((position, position + 1));
        }
        for input in &layer.reads {
            if let Some((_, end)) = &mut lives[input.0] {
                *end = (*end).max(position + 1);
            }
        }
    }
    for output in &model.outputs {
        if let Some((_, end)) = &mut lives[roots[output.0].0] {
            *end = end_of_time;
        }
    }
    let mut planned = Vec::new();
    for (index, life) in lives.into_iter().enumerate() {
        let Some((first, end)) = life else { continue };
        let tensor = &model.tensors[index];
        let shape = match tensor.shape.elements() {
            Some(0) => [1, 1, 0],
            _ => flat_shape(model, TensorId(index))?,
        };
        planned.push(PlannedTensor {
            tensor: narrow(index),
            name: tensor.name.clone(),
            shape,
            bytes: Bytes(tensor.bytes().unwrap_or(usize::MAX) as u64),
            space: Space::Arena,
            offset: 0,
            pitch: None,
            ring: None,
            block: None,
            first,
            end,
        });
    }
    Ok(planned)
}
