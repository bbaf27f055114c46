//! Moves functions of one value that never fall behind max pools: the largest of the results is the
//! result of the largest. They are computed of fewer values then, and a convolution meets its pool.

use super::edit;
use crate::graph::{Model, Node};
use crate::integer;
use crate::op::{Activation, Op};
use crate::tensor::DType;

/// Runs the pass; says how many functions it moved.
pub fn run(model: &mut Model) -> usize {
    let mut changes = 0;
    for index in 0..model.nodes.len() {
        changes += usize::from(sink(model, index).is_some());
    }
    changes
}

/// Makes the pool at `index` read what the function before it reads, and the function the pool's
/// result.
fn sink(model: &mut Model, index: usize) -> Option<()> {
    let Op::MaxPool { activation: Activation::None, .. } = model.nodes[index].op else {
        return None;
    };
    let (between, output) =
        (*model.nodes[index].inputs.first()?, *model.nodes[index].outputs.first()?);
    let function = edit::private_producer(model, between)?;
    if !never_falls(model, &model.nodes[function]) || edit::differ(model, between, output) {
        return None;
    }
    let input = *model.nodes[function].inputs.first()?;
    let mut pooled = model.tensor(input).clone();
    pooled.shape = model.tensor(output).shape.clone();
    pooled.name = edit::unique(model, &format!("{}.largest", pooled.name));
    let pooled = model.add_tensor(pooled);
    let pool = Node { inputs: vec![input], outputs: vec![pooled], ..model.nodes[index].clone() };
    let last =
        Node { inputs: vec![pooled], outputs: vec![output], ..model.nodes[function].clone() };
    model.nodes[function] = pool;
    model.nodes[index] = last;
    Some(())
}

/// Whether a node is a function of one value whose result never falls as the value rises.
fn never_falls(model: &Model, node: &Node) -> bool {
    let operator = match &node.op {
        Op::Activation(_) | Op::Requantise => true,
        Op::Unary(unary) => unary.never_falls(),
        _ => false,
    };
    if !operator || node.inputs.first().is_none_or(|id| model.tensor(*id).is_constant()) {
        return false;
    }
    if node.inputs.first().is_some_and(|id| model.tensor(*id).dtype == DType::F32) {
        return true;
    }
    // Results of 0 to 127, then of -128 to -1.
    integer::table(model, node).is_ok_and(|table| {
        let (positive, negative) = table.split_at(128);
        let in_order: Vec<i8> = negative.iter().chain(positive).copied().collect();
        in_order.is_sorted()
    })
}
