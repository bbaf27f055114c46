//! Removes nodes whose results nobody reads, and tensors that nothing names.

use crate::graph::{Model, TensorId};

/// Runs the pass; says how many nodes and tensors went.
pub fn run(model: &mut Model) -> usize {
    let mut read = vec![false; model.tensors.len()];
    for id in &model.outputs {
        read[id.0] = true;
    }
    let mut alive = vec![false; model.nodes.len()];
    for (index, node) in model.nodes.iter().enumerate().rev() {
        if node.outputs.iter().any(|id| read[id.0]) {
            alive[index] = true;
            node.inputs.iter().for_each(|id| read[id.0] = true);
        }
    }
    let before = model.nodes.len() + model.tensors.len();
    let mut alive = alive.into_iter();
    model.nodes.retain(|_| alive.next().unwrap_or(true));
    drop_tensors(model);
    before - model.nodes.len() - model.tensors.len()
}

/// Drops tensors that neither nodes nor the interface name, and renumbers the rest.
pub(crate) fn drop_tensors(model: &mut Model) {
    let mut used = vec![false; model.tensors.len()];
    let named = model.nodes.iter().flat_map(|node| node.inputs.iter().chain(&node.outputs));
    for id in named.chain(&model.inputs).chain(&model.outputs) {
        used[id.0] = true;
    }
    let mut renumbered = Vec::with_capacity(used.len());
    let mut next = 0;
    for used in &used {
        renumbered.push(TensorId(next));
        next += usize::from(*used);
    }
    let mut keep = used.into_iter();
    model.tensors.retain(|_| keep.next().unwrap_or(true));
    let ids =
        model.nodes.iter_mut().flat_map(|node| node.inputs.iter_mut().chain(&mut node.outputs));
    for id in ids.chain(&mut model.inputs).chain(&mut model.outputs) {
        *id = renumbered[id.0];
    }
}
