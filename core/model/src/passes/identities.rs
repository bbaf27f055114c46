//! Removes nodes that change nothing, and joins reshapes that follow each other.

use super::edit;
use crate::graph::{Model, Node};
use crate::op::{Activation, Op, Padding};

/// Runs the pass; says how many nodes went or were joined.
pub fn run(model: &mut Model) -> usize {
    let mut changes = join_reshapes(model);
    let mut index = 0;
    while index < model.nodes.len() {
        if is_identity(model, &model.nodes[index]) && edit::bypass(model, index) {
            changes += 1;
        } else {
            index += 1;
        }
    }
    changes
}

fn is_identity(model: &Model, node: &Node) -> bool {
    let same_shape = || {
        let shape = |ids: &[_]| ids.first().map(|id| &model.tensor(*id).shape);
        shape(&node.inputs) == shape(&node.outputs)
    };
    // Under another quantisation the values are others.
    let (Some(operand), Some(result)) = (node.inputs.first(), node.outputs.first()) else {
        return false;
    };
    if edit::differ(model, *operand, *result) {
        return false;
    }
    match &node.op {
        Op::Activation(activation) => *activation == Activation::None,
        Op::Requantise => true,
        Op::Slice { stride, .. } => same_shape() && stride.iter().all(|stride| *stride > 0),
        Op::SpaceToDepth { block } | Op::DepthToSpace { block } => *block == 1,
        Op::Resize { places, .. } => same_shape() && places.is_none(),
        Op::Mean { .. } => same_shape(),
        Op::Reshape => same_shape(),
        Op::Transpose { permutation } => permutation.is_sorted(),
        Op::Pad { amounts, .. } => amounts.iter().all(|pair| *pair == (0, 0)),
        Op::Concat { .. } => node.inputs.len() == 1,
        Op::MaxPool { window, activation } | Op::AveragePool { window, activation, .. } => {
            window.size == [1, 1]
                && window.stride == [1, 1]
                && window.padding == Padding::default()
                && *activation == Activation::None
        }
        _ => false,
    }
}

fn join_reshapes(model: &mut Model) -> usize {
    let mut changes = 0;
    let producers = model.producers();
    for index in 0..model.nodes.len() {
        if model.nodes[index].op != Op::Reshape {
            continue;
        }
        let input = model.nodes[index].inputs[0];
        let Some(producer) = producers[input.0].map(|id| &model.nodes[id.0]) else { continue };
        if producer.op == Op::Reshape {
            model.nodes[index].inputs[0] = producer.inputs[0];
            edit::inherit(model, input, model.nodes[index].outputs[0]);
            changes += 1;
        }
    }
    changes
}
