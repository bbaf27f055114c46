//! Computes nodes whose operands are all constant.

use crate::data::Source;
use crate::graph::{Model, Node, TensorId};
use crate::tensor::DType;
use crate::{float, int8};

/// Values that all nodes together may read; nodes beyond are left to be computed at run time, so
/// that a small file cannot keep the importer busy for long.
const MOST_READS: u64 = 1 << 28;

/// Values that all constants made here may hold together, besides as many as the model's own that
/// lie in memory; nodes beyond are left likewise.
const MOST_MADE: u64 = 1 << 24;

/// What may still be done.
struct Room {
    reads: u64,
    made: u64,
}

/// Runs the pass; says how many nodes became constants.
pub fn run(model: &mut Model) -> usize {
    let before = model.nodes.len();
    let mut index = 0;
    let sources = model.tensors.iter().filter_map(|tensor| tensor.source.as_ref()?.data());
    let own: u64 = sources.map(|data| data.len() as u64).sum();
    let mut room = Room { reads: MOST_READS, made: MOST_MADE.saturating_add(own) };
    while index < model.nodes.len() {
        if fold(model, index, &mut room).is_some() {
            model.nodes.remove(index);
        } else {
            index += 1;
        }
    }
    before - model.nodes.len()
}

fn fold(model: &mut Model, index: usize, room: &mut Room) -> Option<()> {
    let node = &model.nodes[index];
    if !node.inputs.iter().all(|id| model.tensor(*id).is_constant()) {
        return None;
    }
    let output = *node.outputs.first()?;
    let taps = node.op.window().map_or(1, |window| window.size[0].saturating_mul(window.size[1]));
    let made = model.tensor(output).shape.elements()?;
    let reads = made.checked_mul(taps)? as u64;
    let left = room.reads.checked_sub(reads.max(model.macs(node)))?;
    *room = Room { reads: left, made: room.made.checked_sub(made as u64)? };
    let mut alone = Model { short_products: model.short_products, ..Model::default() };
    let inputs: Vec<TensorId> =
        node.inputs.iter().map(|id| alone.add_tensor(model.tensor(*id).clone())).collect();
    let result = alone.add_tensor(model.tensor(output).clone());
    alone.outputs.push(result);
    alone.nodes.push(Node { inputs, outputs: vec![result], ..node.clone() });
    let is_integer = alone.tensors.iter().any(|tensor| tensor.dtype == DType::I8);
    let run = if is_integer { int8::run } else { float::run };
    let value = run(&alone, &[], &mut |_, _| {}).ok()?.pop()?;
    model.tensors[output.0].source = Some(Source::inline(value));
    Some(())
}
