//! A hard sigmoid that is written out, min(max(x + 3, 0), 6) / 6, becomes one operator; where x times
//! the minimum is divided, a hard swish.

use super::edit;
use super::fold_batch_norm::affine;
use crate::graph::{Model, TensorId};
use crate::op::{Activation, Op, Unary};

/// Runs the pass; says how many it found.
pub fn run(model: &mut Model) -> usize {
    let mut changes = 0;
    for index in 0..model.nodes.len() {
        if let Some((function, input)) = written_out(model, index) {
            model.nodes[index].op = Op::Unary(function);
            model.nodes[index].inputs = vec![input];
            changes += 1;
        }
    }
    changes
}

/// What the division by six at `index` ends, and of which value.
fn written_out(model: &Model, index: usize) -> Option<(Unary, TensorId)> {
    let (factor, offset) = uniform(model, index)?;
    if (factor * 6.0 - 1.0).abs() > 1e-5 || offset != 0.0 {
        return None;
    }
    let between = hidden(model, model.nodes[index].inputs[0])?;
    if let Some(input) = clipped(model, between) {
        return Some((Unary::HardSigmoid { alpha: 1.0 / 6.0, beta: 0.5 }, input));
    }
    let product = &model.nodes[between];
    let Op::Mul { activation: Activation::None } = product.op else { return None };
    let [first, second] = product.inputs[..] else { return None };
    let of = |value, gate| clipped(model, hidden(model, gate)?).filter(|input| *input == value);
    Some((Unary::HardSwish, of(first, second).or_else(|| of(second, first))?))
}

/// x, if the node is min(max(x + 3, 0), 6).
fn clipped(model: &Model, index: usize) -> Option<TensorId> {
    let node = &model.nodes[index];
    if node.op != Op::Activation(Activation::Relu6) {
        return None;
    }
    let sum = hidden(model, node.inputs[0])?;
    (uniform(model, sum)? == (1.0, 3.0)).then(|| model.nodes[sum].inputs[0])
}

/// The node whose result only one other node reads, under no quantisation of its own.
fn hidden(model: &Model, id: TensorId) -> Option<usize> {
    edit::private_producer(model, id).filter(|_| model.tensor(id).quantisation.is_none())
}

/// Factor and summand of a normalisation that are the same for all channels.
fn uniform(model: &Model, index: usize) -> Option<(f64, f64)> {
    let (factors, offsets) = affine(model, index)?;
    let same = |values: &[f64]| values.iter().all(|value| *value == values[0]);
    (!factors.is_empty() && same(&factors) && same(&offsets)).then(|| (factors[0], offsets[0]))
}
