//! Nodes that compute what another has computed already.

use super::edit;
use crate::graph::{Model, Node};
use crate::op::Op;

/// Runs the pass; says how many nodes went.
pub fn run(model: &mut Model) -> usize {
    let before = model.nodes.len();
    let mut index = 0;
    while index < model.nodes.len() {
        match earlier(model, index) {
            Some(output) => {
                let gone = model.nodes.remove(index);
                edit::redirect(model, gone.outputs[0], output);
            }
            None => index += 1,
        }
    }
    before - model.nodes.len()
}

/// The result of an earlier node with the same operator, operands and kind of result.
fn earlier(model: &Model, index: usize) -> Option<crate::graph::TensorId> {
    let node = &model.nodes[index];
    let output = *node.outputs.first()?;
    // What an opaque operator does may differ from time to time.
    if matches!(node.op, Op::Opaque { .. }) || edit::is_output(model, output) {
        return None;
    }
    let kind = |node: &Node| {
        let tensor = model.tensor(*node.outputs.first()?);
        Some((tensor.dtype, &tensor.shape, &tensor.quantisation))
    };
    let same = |other: &&Node| {
        other.inputs == node.inputs && other.op == node.op && kind(other) == kind(node)
    };
    model.nodes[..index].iter().find(same)?.outputs.first().copied()
}
