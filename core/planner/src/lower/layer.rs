//! Layers and the lives of tensors.

use super::{flat_shape, roots, unsupported};
use crate::PlanError;
use tilewright_model::{DType, Model, Node, NodeId, Op, ResizeMode, TensorId};
use tilewright_plan::{Bytes, Kernel, PlannedTensor, Space};

/// A node that executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The node.
    pub node: NodeId,
    /// The kernel of its steps.
    pub kernel: Kernel,
    /// Activations that it reads, reshapes resolved.
    pub reads: Vec<TensorId>,
    /// Activations that it writes.
    pub writes: Vec<TensorId>,
}

/// The layers of a model in the order of its nodes.
///
/// # Errors
/// Names the first node that no kernel runs.
pub fn layers(model: &Model) -> Result<Vec<Layer>, PlanError> {
    let roots = roots(model);
    let mut layers = Vec::new();
    for (index, node) in model.nodes.iter().enumerate() {
        let Some(kernel) = kernel(node)? else { continue };
        let mut reads: Vec<TensorId> = Vec::new();
        for input in &node.inputs {
            let root = roots[input.0];
            if !model.tensor(root).is_constant() && !reads.contains(&root) {
                reads.push(root);
            }
        }
        let constant = |id: &TensorId| model.tensor(*id).is_constant();
        if node.op.is_weighted() {
            let (input, weights) = node.inputs.split_at_checked(1).unwrap_or_default();
            if input.iter().any(constant) {
                return Err(unsupported(node, "its input is constant: fold it first"));
            }
            if !weights.iter().all(constant) {
                return Err(unsupported(node, "weights or bias are not constant"));
            }
        } else if reads.is_empty() {
            return Err(unsupported(node, "all of its operands are constant: fold it first"));
        }
        layers.push(Layer { node: NodeId(index), kernel, reads, writes: node.outputs.clone() });
    }
    Ok(layers)
}

/// The kernel that does a node's work; nothing if there is none to do.
fn kernel(node: &Node) -> Result<Option<Kernel>, PlanError> {
    Ok(Some(match &node.op {
        Op::Reshape => return Ok(None),
        Op::Conv { .. } => Kernel::Conv,
        Op::DepthwiseConv { .. } => Kernel::Depthwise,
        Op::TransposeConv { .. } => Kernel::TransposeConv,
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
            return Err(unsupported(node, "batch norm must be folded before quantisation"));
        }
        Op::Div { .. } => {
            return Err(unsupported(node, "a division by other than constants has no int8 form"));
        }
        Op::LocalResponseNorm { .. } => Kernel::LocalResponse,
        Op::Opaque { .. } => {
            return Err(unsupported(node, "no kernel computes it"));
        }
    }))
}

/// The activation tensors with their lives, not yet placed.
///
/// # Errors
/// Names the first tensor that is not int8 or whose shape cannot be planned.
pub fn tensors(model: &Model, layers: &[Layer]) -> Result<Vec<PlannedTensor>, PlanError> {
    let roots = roots(model);
    let end_of_time = layers.len().max(1) as u32;
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
        if !matches!(tensor.dtype, DType::I8 | DType::I32) {
            return Err(PlanError::NotQuantised {
                tensor: tensor.name.clone(),
                dtype: tensor.dtype.name(),
            });
        }
        let shape = flat_shape(model, TensorId(index))?;
        planned.push(PlannedTensor {
            tensor: index as u32,
            name: tensor.name.clone(),
            shape,
            bytes: Bytes(tensor.bytes().unwrap_or(usize::MAX) as u64),
            space: Space::Arena,
            offset: 0,
            pitch: None,
            first,
            end,
        });
    }
    Ok(planned)
}
