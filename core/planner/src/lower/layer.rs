//! Layers and the lives of tensors.

use super::{roots, shape, unsupported};
use crate::PlanError;
use tilewright_model::{DType, Model, NodeId, Op, TensorId};
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
        let kernel = match &node.op {
            Op::Reshape => continue,
            Op::Conv { .. } => Kernel::Conv,
            Op::DepthwiseConv { .. } => Kernel::Depthwise,
            Op::FullyConnected { .. } => Kernel::FullyConnected,
            Op::MaxPool { .. } => Kernel::MaxPool,
            Op::AveragePool { count_padding: true, uncounted, .. } if *uncounted != [0, 0] => {
                return Err(unsupported(node, "its kernel cannot leave out a part of the padding"));
            }
            Op::AveragePool { .. } => Kernel::AveragePool,
            Op::Add { .. } if !same_shapes(model, &node.inputs) => {
                return Err(unsupported(node, "its kernel cannot broadcast"));
            }
            Op::Add { .. } => Kernel::Add,
            Op::Pad { .. } => Kernel::Pad,
            Op::Concat { .. } | Op::Activation(_) => Kernel::Requantise,
            Op::Softmax => Kernel::Softmax,
            Op::Transpose { .. } => {
                return Err(unsupported(node, "no pass could fold it and no kernel transposes"));
            }
            Op::BatchNorm { .. } => {
                return Err(unsupported(node, "batch norm must be folded before quantisation"));
            }
            _ => return Err(unsupported(node, "no kernel computes it")),
        };
        let mut reads: Vec<TensorId> = Vec::new();
        for input in &node.inputs {
            let root = roots[input.0];
            if !model.tensor(root).is_constant() && !reads.contains(&root) {
                reads.push(root);
            }
        }
        let weighted = matches!(kernel, Kernel::Conv | Kernel::Depthwise | Kernel::FullyConnected);
        let activations = if weighted { 1 } else { node.inputs.len() };
        if node.inputs.iter().take(activations).any(|id| model.tensor(*id).is_constant()) {
            return Err(unsupported(
                node,
                "an operand is constant where an activation is expected",
            ));
        }
        if node.inputs.iter().skip(activations).any(|id| !model.tensor(*id).is_constant()) {
            return Err(unsupported(node, "weights or bias are not constant"));
        }
        layers.push(Layer { node: NodeId(index), kernel, reads, writes: node.outputs.clone() });
    }
    Ok(layers)
}

fn same_shapes(model: &Model, ids: &[TensorId]) -> bool {
    ids.windows(2).all(|pair| model.tensor(pair[0]).shape == model.tensor(pair[1]).shape)
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
        if tensor.dtype != DType::I8 {
            return Err(PlanError::NotQuantised {
                tensor: tensor.name.clone(),
                dtype: tensor.dtype.name(),
            });
        }
        let shape = shape(model, TensorId(index))?;
        planned.push(PlannedTensor {
            tensor: index as u32,
            name: tensor.name.clone(),
            shape,
            bytes: Bytes(shape.iter().map(|d| u64::from(*d)).product()),
            space: Space::Arena,
            offset: 0,
            first,
            end,
        });
    }
    Ok(planned)
}
