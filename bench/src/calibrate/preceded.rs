//! Another kernel in front of the one that is calibrated, as in networks: how much of its code is where the core keeps
//! code depends on which ran before.

use super::{Subject, layers};
use tilewright_model::{Model, TensorId};
use tilewright_plan::Kernel;

/// Multiply-accumulates of the layer in front: few, but all of its kernel's code runs.
const MACS: u64 = 20_000;

/// A model of the layer in front: a depthwise layer before convolutions, else a convolution. Nothing before pools that are
/// computed with convolutions: their strategy plans chains alone.
pub fn front(subject: Subject) -> Option<Model> {
    let kernel = match subject {
        Subject::Plain(Kernel::ConvMaxPool) => return None,
        Subject::Plain(Kernel::Conv) | Subject::Transformed | Subject::Sparse => Kernel::Depthwise,
        Subject::Plain(_) => Kernel::Conv,
    };
    let macs = |model: &Model| model.nodes.iter().map(|node| model.macs(node)).sum::<u64>();
    layers::models(kernel).into_iter().filter(|m| macs(m) >= MACS).min_by_key(macs)
}

/// A model behind another, each with inputs and outputs of its own.
pub fn by(front: &Model, model: &Model) -> Model {
    let mut both = model.clone();
    let first = both.tensors.len();
    let moved = |ids: &[TensorId]| -> Vec<TensorId> {
        ids.iter().map(|id| TensorId(id.0 + first)).collect()
    };
    both.tensors.extend(front.tensors.iter().cloned().map(|mut tensor| {
        tensor.name.insert_str(0, "front/");
        tensor
    }));
    let nodes = front.nodes.iter().cloned().map(|mut node| {
        node.name.insert_str(0, "front/");
        (node.inputs, node.outputs) = (moved(&node.inputs), moved(&node.outputs));
        node
    });
    both.nodes.splice(0..0, nodes);
    both.inputs.extend(moved(&front.inputs));
    both.outputs.extend(moved(&front.outputs));
    both
}
