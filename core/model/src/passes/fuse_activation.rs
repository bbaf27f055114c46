//! Moves an activation function into the node that makes its operand, past reshapes and
//! transposes, where nobody else reads what lies between.

use super::edit;
use crate::graph::Model;
use crate::op::{Activation, Op};

/// Runs the pass; says how many activations it fused.
pub fn run(model: &mut Model) -> usize {
    let mut changes = 0;
    let mut index = 0;
    while index < model.nodes.len() {
        if fuse(model, index) {
            changes += 1;
        } else {
            index += 1;
        }
    }
    changes
}

fn fuse(model: &mut Model, index: usize) -> bool {
    let Op::Activation(activation) = model.nodes[index].op else { return false };
    let mut value = model.nodes[index].inputs[0];
    let result = model.nodes[index].outputs[0];
    let holder = loop {
        // Under another quantisation the limits are others.
        if edit::differ(model, value, result) {
            return false;
        }
        let Some(producer) = edit::private_producer(model, value) else { return false };
        match &model.nodes[producer].op {
            Op::Reshape | Op::Transpose { .. } => value = model.nodes[producer].inputs[0],
            op if op.activation().is_some() || matches!(op, Op::Activation(_)) => break producer,
            _ => return false,
        }
    };
    let held = match &model.nodes[holder].op {
        Op::Activation(held) => *held,
        op => op.activation().unwrap_or_default(),
    };
    let Some(joined) = both(held, activation) else { return false };
    if !edit::bypass(model, index) {
        return false;
    }
    // The holder comes before the node that is gone, so its index stands.
    match &mut model.nodes[holder].op {
        Op::Activation(held) => *held = joined,
        op => {
            if let Some(held) = op.activation_mut() {
                *held = joined;
            }
        }
    }
    true
}

/// One activation after another, if that is one activation: what both ranges let through.
fn both(first: Activation, second: Activation) -> Option<Activation> {
    let ((low, high), (second_low, second_high)) = (first.range(), second.range());
    let range = (low.max(second_low), high.min(second_high));
    [Activation::None, Activation::Relu, Activation::Relu6, Activation::ReluN1To1]
        .into_iter()
        .find(|activation| activation.range() == range)
}
