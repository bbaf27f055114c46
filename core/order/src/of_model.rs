//! A model as a graph to be put in order.

use super::graph::{Effect, Graph, Operator, Tensor};
use tilewright_model::{Model, Op, TensorId};

impl Graph {
    /// The graph of a model's nodes, in their order, each tensor with the bytes that `bytes` gives
    /// it.
    #[must_use]
    pub fn of_model(model: &Model, bytes: impl Fn(&tilewright_model::Tensor) -> u64) -> Self {
        let indices = |ids: &[TensorId]| -> Vec<usize> { ids.iter().map(|id| id.0).collect() };
        let tensor = |tensor: &tilewright_model::Tensor| Tensor {
            name: tensor.name.clone(),
            // Constants lie in flash and count for nothing.
            bytes: if tensor.is_constant() { 0 } else { bytes(tensor) },
        };
        Self {
            tensors: model.tensors.iter().map(tensor).collect(),
            operators: model
                .nodes
                .iter()
                .map(|node| Operator {
                    name: node.name.clone(),
                    effect: effect(&node.op),
                    inputs: indices(&node.inputs),
                    outputs: indices(&node.outputs),
                    after: Vec::new(),
                    covered: Vec::new(),
                })
                .collect(),
            inputs: indices(&model.inputs),
            outputs: indices(&model.outputs),
            ..Self::default()
        }
    }
}

fn effect(op: &Op) -> Effect {
    match op {
        Op::Add { .. }
        | Op::Sub { .. }
        | Op::Mul { .. }
        | Op::Div { .. }
        | Op::Maximum
        | Op::Minimum
        | Op::Activation(_)
        | Op::Unary(_)
        | Op::Prelu
        | Op::Requantise
        | Op::BatchNorm { .. } => Effect::Elementwise,
        Op::Reshape => Effect::Alias,
        Op::Concat { .. } => Effect::Concat,
        _ => Effect::Plain,
    }
}
