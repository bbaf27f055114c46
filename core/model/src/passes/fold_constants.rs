//! Computes nodes whose operands are all constant.

use crate::data::Source;
use crate::graph::{Model, Node, TensorId};
use crate::tensor::DType;
use crate::{float, int8};

/// Values that all nodes together may read; nodes beyond are left to be computed at run time, so
/// that a small file cannot keep the importer busy for long.
const MOST_READS: u64 = 1 << 28;

/// Runs the pass; says how many nodes became constants.
pub fn run(model: &mut Model) -> usize {
    let before = model.nodes.len();
    let mut index = 0;
    let mut left = MOST_READS;
    while index < model.nodes.len() {
        if fold(model, index, &mut left).is_some() {
            model.nodes.remove(index);
        } else {
            index += 1;
        }
    }
    before - model.nodes.len()
}

fn fold(model: &mut Model, index: usize, left: &mut u64) -> Option<()> {
    let node = &model.nodes[index];
    if !node.inputs.iter().all(|id| model.tensor(*id).is_constant()) {
        return None;
    }
    let output = *node.outputs.first()?;
    let taps = node.op.window().map_or(1, |window| window.size[0].saturating_mul(window.size[1]));
    let reads = model.tensor(output).shape.elements()?.checked_mul(taps)? as u64;
    *left = left.checked_sub(reads.max(model.macs(node)))?;
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
