//! The graph.

use std::collections::BTreeMap;

use crate::op::Op;
use crate::tensor::{DType, Tensor};

/// Index of a tensor in its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TensorId(pub usize);

/// Index of a node in its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeId(pub usize);

/// An operator with its operands.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Node {
    /// Name, for messages and reports.
    pub name: String,
    /// What it computes.
    pub op: Op,
    /// Operands: activations, then weights, then bias.
    pub inputs: Vec<TensorId>,
    /// Results.
    pub outputs: Vec<TensorId>,
}

/// A neural network.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Model {
    /// Name.
    pub name: String,
    /// All tensors.
    pub tensors: Vec<Tensor>,
    /// All nodes, in an order in which they can be executed.
    pub nodes: Vec<Node>,
    /// Tensors that the user gives.
    pub inputs: Vec<TensorId>,
    /// Tensors that the user gets.
    pub outputs: Vec<TensorId>,
    /// What the file says of itself: `labels` holds class names separated by commas.
    pub metadata: BTreeMap<String, String>,
}

impl Model {
    /// The tensor with this id, which must be one of this model's.
    #[must_use]
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// Adds a tensor.
    pub fn add_tensor(&mut self, tensor: Tensor) -> TensorId {
        self.tensors.push(tensor);
        TensorId(self.tensors.len() - 1)
    }

    /// For each tensor, the node that makes it.
    #[must_use]
    pub fn producers(&self) -> Vec<Option<NodeId>> {
        let mut producers = vec![None; self.tensors.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for output in &node.outputs {
                producers[output.0] = Some(NodeId(index));
            }
        }
        producers
    }

    /// For each tensor, the nodes that read it, in order.
    #[must_use]
    pub fn consumers(&self) -> Vec<Vec<NodeId>> {
        let mut consumers = vec![Vec::new(); self.tensors.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for input in &node.inputs {
                let list: &mut Vec<NodeId> = &mut consumers[input.0];
                if list.last() != Some(&NodeId(index)) {
                    list.push(NodeId(index));
                }
            }
        }
        consumers
    }

    /// Whether the model computes with int8 already: some node's result is int8.
    #[must_use]
    pub fn is_int8(&self) -> bool {
        let mut results = self.nodes.iter().flat_map(|node| &node.outputs);
        results.any(|id| self.tensor(*id).dtype == DType::I8)
    }

    /// Multiply-accumulates of a node, nominal: padding counts. Those of convolutions and fully
    /// connected layers only; an opaque node's are unknown and count as none.
    #[must_use]
    pub fn macs(&self, node: &Node) -> u64 {
        let elements = |id: &TensorId| self.tensor(*id).shape.elements().unwrap_or(0) as u64;
        let output = node.outputs.first().map_or(0, elements);
        let weights = node.inputs.get(1).map(|id| self.tensor(*id).shape.dims());
        match (&node.op, weights) {
            (Op::Conv { .. }, Some([_, h, w, i])) => output.saturating_mul((h * w * i) as u64),
            (Op::DepthwiseConv { .. }, Some([_, h, w, _])) => output.saturating_mul((h * w) as u64),
            (Op::TransposeConv { .. }, Some([o, h, w, _])) => {
                let input = node.inputs.first().map_or(0, elements);
                input.saturating_mul((o * h * w) as u64)
            }
            (Op::FullyConnected { .. }, Some([_, i])) => output.saturating_mul(*i as u64),
            _ => 0,
        }
    }

    /// Parameters: elements of all constant tensors that nodes use.
    #[must_use]
    pub fn parameters(&self) -> u64 {
        let mut used = vec![false; self.tensors.len()];
        for input in self.nodes.iter().flat_map(|node| &node.inputs) {
            used[input.0] = true;
        }
        self.tensors
            .iter()
            .zip(used)
            .filter(|(tensor, used)| *used && tensor.is_constant())
            .map(|(tensor, _)| tensor.shape.elements().unwrap_or(0) as u64)
            .sum()
    }

    /// Bytes of a node's constant operands, each counted once; saturating.
    #[must_use]
    pub fn constant_bytes(&self, node: &Node) -> u64 {
        let first = |index: usize| !node.inputs[..index].contains(&node.inputs[index]);
        let operands = (0..node.inputs.len()).filter(|index| first(*index));
        operands
            .map(|index| self.tensor(node.inputs[index]))
            .filter(|tensor| tensor.is_constant())
            .map(|tensor| tensor.bytes().map_or(u64::MAX, |bytes| bytes as u64))
            .fold(0, u64::saturating_add)
    }

    /// Those operators that nothing here computes ([`Op::Opaque`]) with their nodes, in words: the
    /// first few of them, and how many more there are. Nothing if there is none.
    #[must_use]
    pub fn opaque_in_words(&self) -> Option<String> {
        const NAMED: usize = 5;
        let words: Vec<String> = self
            .nodes
            .iter()
            .filter(|node| matches!(node.op, Op::Opaque { .. }))
            .map(|node| format!("{} (node '{}')", node.op.name(), node.name))
            .collect();
        let named = words.get(..NAMED).unwrap_or(&words).join(", ");
        match words.len() {
            0 => None,
            count if count > NAMED => Some(format!("{named} and {} more", count - NAMED)),
            _ => Some(named),
        }
    }

    /// Names of the operators that nothing here computes ([`Op::Opaque`]), sorted, each once.
    #[must_use]
    pub fn opaque_operators(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .nodes
            .iter()
            .filter_map(
                |node| if let Op::Opaque { name } = &node.op { Some(&**name) } else { None },
            )
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Class names, if the file gives them.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        self.metadata
            .get("labels")
            .map(|labels| labels.split(',').map(|label| label.trim().to_owned()).collect())
            .unwrap_or_default()
    }
}
