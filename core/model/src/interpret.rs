//! What the two reference interpreters share: binding inputs, keeping tensors alive for as long as
//! they are read, and operators that only move values.

pub(crate) mod broadcast;
pub(crate) mod layout;
pub(crate) mod resize;
pub(crate) mod slide;

use std::cell::Cell;

use thiserror::Error;

use crate::data::Data;
use crate::graph::{Model, Node, NodeId, TensorId};
use crate::integer::IntegerError;
use crate::tensor::DType;
use crate::verify::VerifyError;

/// Why a model could not be interpreted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// The graph is faulty.
    #[error(transparent)]
    Model(#[from] VerifyError),
    /// Another number of inputs than the model takes.
    #[error("{given} inputs given, but the model takes {taken}")]
    InputCount {
        /// Given.
        given: usize,
        /// Taken.
        taken: usize,
    },
    /// An input of the wrong size or type.
    #[error("input '{tensor}' takes {taken} {taken_type} values, but {given} {given_type} came")]
    Input {
        /// The input.
        tensor: String,
        /// Values that it takes.
        taken: usize,
        /// Their type.
        taken_type: &'static str,
        /// Values given.
        given: usize,
        /// Their type.
        given_type: &'static str,
    },
    /// A constant's values are not at hand.
    #[error("the values of tensor '{tensor}' are not at hand")]
    NoValues {
        /// The tensor.
        tensor: String,
    },
    /// A node has no integer parameters.
    #[error(transparent)]
    Integer(#[from] IntegerError),
    /// A node cannot be computed with this arithmetic.
    #[error("node '{node}': {reason}")]
    Unsupported {
        /// The node.
        node: String,
        /// Why not.
        reason: &'static str,
    },
    /// The model holds operators without meaning here.
    #[error("nothing here computes {operators}")]
    Opaque {
        /// Their names with those of their nodes, in words.
        operators: String,
    },
    /// The caller asked for an end.
    #[error("the run was stopped")]
    Stopped,
}

/// Called after each node with its results.
pub type Observe<'a> = dyn FnMut(NodeId, &[Data]) + 'a;

/// Asked every few output pixels, and after each node, whether to stop. What it measures, a clock or
/// a flag, is the caller's.
pub type Stop<'a> = dyn Fn() -> bool + 'a;

/// A [`Stop`] that never stops.
#[must_use]
pub const fn never() -> bool {
    false
}

/// Gives the result of a node from its operands. Once the stop has said yes the result may be
/// unfinished; it is thrown away.
pub(crate) type Compute<'a> =
    dyn FnMut(NodeId, &Node, &[&Data], &Stop<'_>) -> Result<Data, RunError> + 'a;

enum Slot<'a> {
    Empty,
    Borrowed(&'a Data),
    Owned(Data),
}

impl Slot<'_> {
    fn data(&self) -> Option<&Data> {
        match self {
            Slot::Empty => None,
            Slot::Borrowed(data) => Some(data),
            Slot::Owned(data) => Some(data),
        }
    }
}

/// Runs the nodes in order; `compute` gives the result of one. Tensors are dropped after the last
/// node that reads them.
pub(crate) fn execute(
    model: &Model,
    inputs: &[Data],
    observe: &mut Observe<'_>,
    stop: &Stop<'_>,
    compute: &mut Compute<'_>,
) -> Result<Vec<Data>, RunError> {
    check_inputs(model, inputs)?;
    // A kernel that was told to stop leaves holes: that answer is final.
    let stopped = Cell::new(false);
    let stop = || {
        stopped.set(stopped.get() || stop());
        stopped.get()
    };
    let mut slots: Vec<Slot<'_>> = model
        .tensors
        .iter()
        .map(|tensor| tensor.source.as_ref().and_then(|source| source.data()))
        .map(|data| data.map_or(Slot::Empty, Slot::Borrowed))
        .collect();
    for (id, data) in model.inputs.iter().zip(inputs) {
        slots[id.0] = Slot::Borrowed(data);
    }
    let last_reads = last_reads(model);
    for (index, node) in model.nodes.iter().enumerate() {
        for id in &node.inputs {
            if let (Slot::Empty, Some(source)) = (&slots[id.0], &model.tensor(*id).source) {
                let values = source.values().into_owned();
                if values.len() == source.len() {
                    slots[id.0] = Slot::Owned(values);
                }
            }
        }
        let operands: Vec<&Data> =
            node.inputs.iter().map(|id| values(model, &slots, *id)).collect::<Result<_, _>>()?;
        // A tensor without values may have any number of rows and columns, which nobody is to walk.
        let output = node.outputs.first().map(|id| model.tensor(*id));
        let empty = output.filter(|output| output.shape.elements() == Some(0));
        let result = match empty.and_then(|output| Data::none(output.dtype)) {
            Some(none) => none,
            None => compute(NodeId(index), node, &operands, &stop)?,
        };
        if stop() {
            return Err(RunError::Stopped);
        }
        observe(NodeId(index), std::slice::from_ref(&result));
        for id in &node.inputs {
            if last_reads[id.0] == Some(index) {
                slots[id.0] = Slot::Empty;
            }
        }
        if let Some(id) = node.outputs.first()
            && last_reads[id.0].is_some()
        {
            slots[id.0] = Slot::Owned(result);
        }
    }
    model.outputs.iter().map(|id| values(model, &slots, *id).cloned()).collect()
}

fn check_inputs(model: &Model, inputs: &[Data]) -> Result<(), RunError> {
    if inputs.len() != model.inputs.len() {
        return Err(RunError::InputCount { given: inputs.len(), taken: model.inputs.len() });
    }
    for (id, data) in model.inputs.iter().zip(inputs) {
        let tensor = model.tensor(*id);
        let taken = tensor.shape.elements().unwrap_or(usize::MAX);
        if data.len() != taken || data.dtype() != tensor.dtype {
            return Err(RunError::Input {
                tensor: tensor.name.clone(),
                taken,
                taken_type: tensor.dtype.name(),
                given: data.len(),
                given_type: data.dtype().name(),
            });
        }
    }
    Ok(())
}

fn values<'s>(model: &Model, slots: &'s [Slot<'_>], id: TensorId) -> Result<&'s Data, RunError> {
    slots[id.0].data().ok_or_else(|| RunError::NoValues { tensor: model.tensor(id).name.clone() })
}

/// For each tensor the index of the last node that reads it; the number of nodes for outputs of
/// the model.
fn last_reads(model: &Model) -> Vec<Option<usize>> {
    let mut last = vec![None; model.tensors.len()];
    for (index, node) in model.nodes.iter().enumerate() {
        for id in &node.inputs {
            last[id.0] = Some(index);
        }
    }
    for id in &model.outputs {
        last[id.0] = Some(model.nodes.len());
    }
    last
}

/// Refuses models whose activations are not all of one type, but for the integers that an index has,
/// and models with opaque operators.
pub(crate) fn check_types(model: &Model, dtype: DType) -> Result<(), RunError> {
    if let Some(operators) = model.opaque_in_words() {
        return Err(RunError::Opaque { operators });
    }
    for node in &model.nodes {
        for id in &node.outputs {
            let found = model.tensor(*id).dtype;
            if found != dtype && found != DType::I32 {
                return Err(RunError::Unsupported {
                    node: node.name.clone(),
                    reason: match dtype {
                        DType::F32 => "its result is no float: this is a quantised model",
                        _ => "its result is not int8: quantise the model first",
                    },
                });
            }
        }
    }
    Ok(())
}
