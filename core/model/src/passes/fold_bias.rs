//! Folds the addition of a constant that is the same at every pixel into the bias before it.

use super::edit;
use crate::graph::{Model, TensorId};
use crate::op::{Activation, Op};

/// Runs the pass; says how many additions went.
pub fn run(model: &mut Model) -> usize {
    let before = model.nodes.len();
    let mut index = 0;
    while index < model.nodes.len() {
        if !fold(model, index) {
            index += 1;
        }
    }
    before - model.nodes.len()
}

fn fold(model: &mut Model, index: usize) -> bool {
    let node = &model.nodes[index];
    let Op::Add { activation } = node.op else { return false };
    let [first, second] = node.inputs[..] else { return false };
    for (value, constant) in [(first, second), (second, first)] {
        let Some(offset) = channel_values(model, constant) else { continue };
        let Some(producer) = edit::private_producer(model, value) else { continue };
        let weighted = &model.nodes[producer];
        if !edit::is_weighted(model, weighted) || weighted.op.activation() != Some(Activation::None)
        {
            continue;
        }
        edit::scale_outputs(model, producer, &vec![1.0; offset.len()], &offset);
        if let Some(fused) = model.nodes[producer].op.activation_mut() {
            *fused = activation;
        }
        model.nodes[index].inputs = vec![value];
        return edit::bypass(model, index);
    }
    false
}

/// The values along the last dimension, if they are the same everywhere else.
fn channel_values(model: &Model, id: TensorId) -> Option<Vec<f64>> {
    let values = edit::constant(model, id)?;
    let channels = *model.tensor(id).shape.dims().last()?;
    let mut rows = values.chunks_exact(channels.max(1));
    let first = rows.next()?;
    rows.all(|row| row == first).then(|| first.iter().map(|value| f64::from(*value)).collect())
}
