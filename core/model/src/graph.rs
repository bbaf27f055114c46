//! The graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::data::Data;
use crate::op::Op;
use crate::tensor::{DType, Quantisation, Tensor};

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

/// Element type of an input or output in a model's file, where the graph has another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FileType {
    /// 32-bit floats, which the file quantises or makes of int8 itself.
    Float32,
    /// 8-bit unsigned integers: values and zero point are those of int8 plus 128.
    Uint8,
    /// 64-bit integers, where the graph has those of 32 bits.
    Int64,
    /// 16-bit unsigned integers, where the graph has signed ones.
    Uint16,
    /// 32-bit unsigned integers, where the graph has signed ones.
    Uint32,
    /// 64-bit unsigned integers, where the graph has signed ones.
    Uint64,
    /// Truth values, a byte each.
    Bool,
    /// 8-bit signed integers without a scale, where the graph has unsigned ones.
    Int8,
}

impl FileType {
    /// Name as users know it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Float32 => "float32",
            Self::Uint8 => "uint8",
            Self::Int64 => "int64",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::Bool => "bool",
            Self::Int8 => "int8",
        }
    }
}

/// Element types that a file has otherwise, by position in the lists of inputs and outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FileTypes {
    /// Of [`Model::inputs`].
    pub inputs: BTreeMap<usize, FileType>,
    /// Of [`Model::outputs`].
    pub outputs: BTreeMap<usize, FileType>,
}

/// A value that lives from one run to the next: who runs the model gives it as an input, and takes
/// what it is then from an output.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct State {
    /// Name in the model's file.
    pub name: String,
    /// Position in [`Model::inputs`]: the value before a run.
    pub input: usize,
    /// Position in [`Model::outputs`]: the value after it, of the same shape and quantisation;
    /// nothing if runs do not change it.
    pub output: Option<usize>,
    /// The value before the first run; nothing if the file does not say it.
    pub initial: Option<Data>,
}

/// Weights without their zeros, in blocks of output channels.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SparseBlocks {
    /// Output channels of a block; of the last one perhaps fewer.
    pub each: u32,
    /// All output channels.
    pub channels: u32,
    /// The first byte of each block, and the end of the last.
    pub starts: Arc<[u64]>,
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
    /// Which of both are the same value at different times.
    pub states: Vec<State>,
    /// Where the file has other element types than the graph.
    pub file_types: FileTypes,
    /// Weights that are to be stored without their zeros, and where: whoever plans the model decides it.
    pub sparse: BTreeMap<TensorId, SparseBlocks>,
    /// Whether convolutions with one scale for all weights multiply scales as 32-bit floats, as
    /// TensorFlow Lite's uint8 kernels do and its int8 kernels do not.
    pub short_products: bool,
    /// What the file says of itself: `labels` holds class names, one a line or separated by commas.
    pub metadata: BTreeMap<String, String>,
    /// What was left out of the file, or changed, when it was read: whole sentences.
    pub notes: Vec<String>,
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

    /// Those operators that nothing here computes ([`Op::Opaque`]), in words: each with how many nodes it
    /// has and the first of them; how many more operators there are. Nothing if there is none.
    #[must_use]
    pub fn opaque_in_words(&self) -> Option<String> {
        const NAMED: usize = 5;
        let mut counts: Vec<(&Node, usize)> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for node in self.nodes.iter().filter(|node| matches!(node.op, Op::Opaque { .. })) {
            let at = *known.entry(node.op.name()).or_insert(counts.len());
            match counts.get_mut(at) {
                Some((_, count)) => *count += 1,
                None => counts.push((node, 1)),
            }
        }
        let in_words = |(first, count): &(&Node, usize)| match count {
            1 => format!("{} (node '{}')", first.op.name(), first.name),
            _ => format!("{count} {} (the first is node '{}')", first.op.name(), first.name),
        };
        let words: Vec<String> = counts.iter().map(in_words).collect();
        let named = words.get(..NAMED).unwrap_or(&words).join(", ");
        match words.len() {
            0 => None,
            count if count > NAMED => Some(format!("{named} and {} more operators", count - NAMED)),
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

    /// Notes that an output of the file is left out: it is a constant of this many elements.
    pub fn note_constant_output(&mut self, name: &str, elements: usize) {
        self.notes.push(format!(
            "Output '{name}' is left out: it is constant. The file has its values, {elements} in all."
        ));
    }

    /// Leaves out the outputs that are constant, states aside, with a note on each.
    pub fn leave_out_constant_outputs(&mut self) {
        let is_state = |at: usize| self.states.iter().any(|state| state.output == Some(at));
        let is_kept = |at: &usize| is_state(*at) || !self.tensor(self.outputs[*at]).is_constant();
        let kept: Vec<usize> = (0..self.outputs.len()).filter(is_kept).collect();
        if kept.len() == self.outputs.len() {
            return;
        }
        for at in (0..self.outputs.len()).filter(|at| !kept.contains(at)) {
            let tensor = self.tensor(self.outputs[at]);
            let (name, count) = (tensor.name.clone(), tensor.shape.elements().unwrap_or(0));
            self.note_constant_output(&name, count);
        }
        let place = |at: usize| kept.iter().position(|other| *other == at);
        for state in &mut self.states {
            state.output = state.output.and_then(place);
        }
        let types = std::mem::take(&mut self.file_types.outputs);
        let moved = types.into_iter().filter_map(|(at, kind)| Some((place(at)?, kind)));
        self.file_types.outputs = moved.collect();
        self.outputs = kept.iter().map(|at| self.outputs[*at]).collect();
    }

    /// The value before the first run of the state that is input `position`, if one is: zeros where
    /// the file says nothing.
    #[must_use]
    pub fn first_state(&self, position: usize) -> Option<Data> {
        let state = self.states.iter().find(|state| state.input == position)?;
        let tensor = self.tensor(*self.inputs.get(position)?);
        let count = tensor.shape.elements()?;
        let zero = tensor.quantisation.as_ref().map_or(0, Quantisation::zero).clamp(-128, 127);
        if let Some(initial) = &state.initial {
            return Some(initial.clone());
        }
        Some(match tensor.dtype {
            DType::I8 => Data::I8(vec![zero as i8; count]),
            DType::I32 => Data::I32(vec![0; count]),
            DType::F32 => Data::F32(vec![0.0; count]),
            DType::I16 | DType::I64 | DType::U8 => return None,
        })
    }

    /// Class names for an output of these sizes; none if there are none for it.
    #[must_use]
    pub fn labels_for(&self, shape: &[usize]) -> Vec<String> {
        let labels = self.labels();
        if may_name(labels.len(), shape) { labels } else { Vec::new() }
    }

    /// Class names, if the file gives them.
    #[must_use]
    pub fn labels(&self) -> Vec<String> {
        let Some(labels) = self.metadata.get("labels") else { return Vec::new() };
        let between = if labels.contains('\n') { '\n' } else { ',' };
        labels.split(between).map(|label| label.trim().to_owned()).collect()
    }
}

/// Whether so many names can be those of an output of these sizes: of its scores, with or without one for the background,
/// or of boxes with four or five other values.
#[must_use]
pub fn may_name(names: usize, shape: &[usize]) -> bool {
    let may =
        |size: &usize| size.checked_sub(names).is_some_and(|more| [0, 1, 4, 5].contains(&more));
    names > 1 && shape.iter().any(may)
}
