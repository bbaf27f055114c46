//! Another kernel in front of the one that is calibrated, as in networks: how much of its code is where the core keeps
//! code depends on which ran before.

use super::{Subject, layers};
use tilewright_model::{Model, TensorId};
use tilewright_plan::Kernel;

/// Multiply-accumulates of the layer in front: few, but all of its kernel's code runs.
const MACS: u64 = 20_000;

/// A model of the layers in front: a depthwise layer before convolutions, else a convolution; as in networks a pool behind
/// it before fully connected layers, and one of these before a softmax. Nothing before pools that are computed with
/// convolutions: their strategy plans chains alone.
pub fn front(subject: Subject) -> Option<Model> {
    let kernels: &[Kernel] = match subject {
        Subject::Plain(Kernel::ConvMaxPool) => &[],
        Subject::Plain(Kernel::Conv) | Subject::Transformed | Subject::Sparse => {
            &[Kernel::Depthwise]
        }
        Subject::Plain(Kernel::FullyConnected) => &[Kernel::Conv, Kernel::AveragePool],
        Subject::Plain(Kernel::Softmax | Kernel::LogSoftmax) => {
            &[Kernel::Conv, Kernel::FullyConnected]
        }
        Subject::Plain(_) => &[Kernel::Conv],
    };
    let layers = kernels.iter().filter_map(|kernel| smallest(*kernel));
    layers.reduce(|before, layer| by(&before, &layer))
}

/// The smallest layer of a kernel with so many multiply-accumulates, if it has any.
fn smallest(kernel: Kernel) -> Option<Model> {
    let macs = |model: &Model| model.nodes.iter().map(|node| model.macs(node)).sum::<u64>();
    let is_small = |model: &Model| kernel.spec().filter.is_some() && macs(model) < MACS;
    layers::models(kernel).into_iter().filter(|model| !is_small(model)).min_by_key(macs)
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
