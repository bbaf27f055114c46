//! What a pad fills with.

use crate::graph::{Model, Node};
use crate::op::Op;
use crate::tensor::Quantisation;

/// The step of a node's result that is nearest to what the node fills with: a pad's filler, for
/// other operators real 0. 0 where the result is not quantised.
#[must_use]
pub fn filler(model: &Model, node: &Node) -> i8 {
    let real = if let Op::Pad { filler, .. } = node.op { filler } else { 0.0 };
    let result = node.outputs.first().and_then(|id| model.tensor(*id).quantisation.as_ref());
    let step = |quantisation: &Quantisation| quantisation.quantise(&[real]).first().copied();
    result.and_then(step).unwrap_or(0)
}
