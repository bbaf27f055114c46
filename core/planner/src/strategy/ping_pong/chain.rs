//! Whether a network is a chain: each layer reads what the one before wrote, and nothing else.

use crate::lower::{Layer, roots};
use tilewright_model::{Model, TensorId};
use tilewright_report::Unsupported;

/// The activation tensors of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The input, then what each layer writes.
    pub tensors: Vec<TensorId>,
}

/// Why a network is no chain: the operator at which it branches, and how.
fn branches(operator: &str, how: &str) -> Unsupported {
    Unsupported::new(
        format!("the network is not a chain: {how}"),
        format!("operator '{operator}'"),
        "Choose the strategy 'reordered', which plans networks with branches.",
    )
}

/// The tensors that the layers pass on, one to the next.
///
/// # Errors
/// Names the first operator that reads or feeds several.
pub fn chain(model: &Model, layers: &[Layer]) -> Result<Chain, Unsupported> {
    let ([input], [output]) = (model.inputs.as_slice(), model.outputs.as_slice()) else {
        let operator = model.outputs.last().map(|id| model.tensor(*id).name.clone());
        let (inputs, outputs) = (model.inputs.len(), model.outputs.len());
        let how = format!("it has {inputs} inputs and {outputs} outputs");
        return Err(branches(&operator.unwrap_or_default(), &how));
    };
    let name = |layer: &Layer| model.nodes[layer.node.0].name.clone();
    let mut tensors = vec![*input];
    let mut last = *input;
    // What made the last tensor.
    let mut maker = model.tensor(*input).name.clone();
    for layer in layers {
        let operator = name(layer);
        if layer.reads.len() > 1 {
            let reason = format!("'{operator}' reads {} activations", layer.reads.len());
            return Err(branches(&operator, &reason));
        }
        if layer.reads != [last] {
            let read = layer.reads.first().map_or("", |id| model.tensor(*id).name.as_str());
            let reason =
                format!("'{operator}' reads '{read}', not what '{maker}' before it has made");
            return Err(branches(&operator, &reason));
        }
        let [made] = layer.writes.as_slice() else {
            let reason = format!("'{operator}' makes {} tensors", layer.writes.len());
            return Err(branches(&operator, &reason));
        };
        tensors.push(*made);
        last = *made;
        maker = operator;
    }
    if roots(model)[output.0] != last {
        let output = model.tensor(*output).name.clone();
        let reason = format!("the output '{output}' is made before the last operator, '{maker}'");
        return Err(branches(&maker, &reason));
    }
    Ok(Chain { tensors })
}
