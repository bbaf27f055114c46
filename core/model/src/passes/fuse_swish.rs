//! A value times its own sigmoid becomes a SiLU, times its own hard sigmoid a hard swish.

use super::edit;
use crate::graph::{Model, TensorId};
use crate::op::{Activation, Op, Unary};

/// Runs the pass; says how many products it rewrote.
pub fn run(model: &mut Model) -> usize {
    let mut changes = 0;
    for index in 0..model.nodes.len() {
        let Op::Mul { activation: Activation::None } = model.nodes[index].op else { continue };
        let [first, second] = model.nodes[index].inputs[..] else { continue };
        let found = [(first, second), (second, first)]
            .into_iter()
            .find_map(|(value, gate)| gated(model, value, gate).map(|function| (value, function)));
        if let Some((value, function)) = found {
            model.nodes[index].op = Op::Unary(function);
            model.nodes[index].inputs = vec![value];
            changes += 1;
        }
    }
    changes
}

/// What a value times `gate` is, if nobody else reads the gate and it has no quantisation.
fn gated(model: &Model, value: TensorId, gate: TensorId) -> Option<Unary> {
    if model.tensor(gate).quantisation.is_some() {
        return None;
    }
    let node = &model.nodes[edit::private_producer(model, gate)?];
    if node.inputs[0] != value {
        return None;
    }
    match node.op {
        Op::Unary(Unary::Sigmoid) => Some(Unary::Silu),
        Op::Unary(Unary::HardSigmoid { alpha, beta })
            if (alpha * 6.0 - 1.0).abs() < 1e-5 && beta == 0.5 =>
        {
            Some(Unary::HardSwish)
        }
        _ => None,
    }
}
