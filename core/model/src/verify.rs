//! Checks that a graph is one. Run after import and after every pass.

use crate::graph::{Model, TensorId};
use crate::infer::result_shape;
use crate::op::Op;
use crate::tensor::DType;
use thiserror::Error;

/// What is wrong with a graph, and where.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum VerifyError {
    /// A node or the model's interface names a tensor that does not exist.
    #[error("{place} names tensor {tensor}, but the model has {tensors}")]
    UnknownTensor {
        /// Node or interface.
        place: String,
        /// The index.
        tensor: usize,
        /// Number of tensors.
        tensors: usize,
    },
    /// A tensor is read before it is made.
    #[error("node '{node}' reads tensor '{tensor}' before any node makes it")]
    ReadBeforeMade {
        /// The node.
        node: String,
        /// The tensor.
        tensor: String,
    },
    /// A tensor is made twice, or a constant or an input is made by a node.
    #[error("node '{node}' makes tensor '{tensor}', which already has its values")]
    MadeTwice {
        /// The node.
        node: String,
        /// The tensor.
        tensor: String,
    },
    /// An output of the model is never made.
    #[error("output '{tensor}' of the model is never made")]
    OutputNeverMade {
        /// The tensor.
        tensor: String,
    },
    /// A tensor's size, data or quantisation contradict each other.
    #[error("tensor '{tensor}': {reason}")]
    BadTensor {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        reason: String,
    },
    /// Shapes or operands of a node contradict its operator.
    #[error("node '{node}' ({op}): {reason}")]
    BadNode {
        /// The node.
        node: String,
        /// The operator.
        op: String,
        /// What is wrong.
        reason: String,
    },
}

impl Model {
    /// Checks the graph: indices, order, single assignment, data lengths, quantisation, and the
    /// operands, shapes and element types of each node.
    ///
    /// # Errors
    /// The first fault found.
    pub fn verify(&self) -> Result<(), VerifyError> {
        for tensor in &self.tensors {
            let bad = |reason: &str| VerifyError::BadTensor {
                tensor: tensor.name.clone(),
                reason: reason.to_owned(),
            };
            let elements = tensor.shape.elements().ok_or_else(|| bad("size overflows"))?;
            tensor.bytes().ok_or_else(|| bad("size overflows"))?;
            if let Some(source) = &tensor.source
                && (source.len() != elements || source.dtype() != tensor.dtype)
            {
                return Err(bad("its values differ from its shape or type"));
            }
            if let Some(q) = &tensor.quantisation {
                let slices =
                    match q.axis {
                        Some(axis) => *tensor.shape.dims().get(axis).ok_or_else(|| {
                            bad("quantised along a dimension that it does not have")
                        })?,
                        None => 1,
                    };
                if q.scales.len() != slices || q.zeros.len() != slices {
                    return Err(bad("number of scales differs from its dimension"));
                }
                if q.scales.iter().any(|s| !s.is_finite() || *s <= 0.0) {
                    return Err(bad("a scale is not positive and finite"));
                }
            } else if tensor.dtype == DType::I8 {
                return Err(bad("int8 without quantisation"));
            }
        }
        self.verify_order()?;
        self.verify_nodes()
    }

    fn verify_nodes(&self) -> Result<(), VerifyError> {
        for node in &self.nodes {
            if matches!(node.op, Op::Opaque { .. }) {
                continue;
            }
            let bad = |reason| VerifyError::BadNode {
                node: node.name.clone(),
                op: node.op.name().to_owned(),
                reason,
            };
            let shape = result_shape(self, node).map_err(bad)?;
            for output in &node.outputs {
                let stated = &self.tensor(*output).shape;
                if *stated != shape {
                    return Err(bad(format!("its result is {stated} but should be {shape}")));
                }
            }
        }
        Ok(())
    }

    fn verify_order(&self) -> Result<(), VerifyError> {
        let known = |id: TensorId, place: &dyn Fn() -> String| {
            if id.0 < self.tensors.len() {
                return Ok(());
            }
            Err(VerifyError::UnknownTensor {
                place: place(),
                tensor: id.0,
                tensors: self.tensors.len(),
            })
        };
        let mut made: Vec<bool> = self.tensors.iter().map(|t| t.is_constant()).collect();
        for input in &self.inputs {
            known(*input, &|| "an input of the model".to_owned())?;
            made[input.0] = true;
        }
        for node in &self.nodes {
            let place = || format!("node '{}'", node.name);
            for input in &node.inputs {
                known(*input, &place)?;
                if !made[input.0] {
                    return Err(VerifyError::ReadBeforeMade {
                        node: node.name.clone(),
                        tensor: self.tensor(*input).name.clone(),
                    });
                }
            }
            for output in &node.outputs {
                known(*output, &place)?;
                if made[output.0] {
                    return Err(VerifyError::MadeTwice {
                        node: node.name.clone(),
                        tensor: self.tensor(*output).name.clone(),
                    });
                }
                made[output.0] = true;
            }
        }
        for output in &self.outputs {
            known(*output, &|| "an output of the model".to_owned())?;
            if !made[output.0] {
                return Err(VerifyError::OutputNeverMade {
                    tensor: self.tensor(*output).name.clone(),
                });
            }
        }
        Ok(())
    }
}
