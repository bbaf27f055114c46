//! From the model's nodes to layers, tensors, ops, views and steps.
//!
//! A reshape is no layer: its output is another name for its input's bytes.

mod layer;
mod program;

pub use layer::{Layer, layers, tensors};
pub use program::program;

use crate::PlanError;
use tilewright_model::{Model, Node, TensorId};

/// The tensor whose bytes a tensor names: itself unless a reshape made it.
pub fn roots(model: &Model) -> Vec<TensorId> {
    let mut roots: Vec<TensorId> = (0..model.tensors.len()).map(TensorId).collect();
    for node in &model.nodes {
        if let (tilewright_model::Op::Reshape, [input, ..], [output]) =
            (&node.op, node.inputs.as_slice(), node.outputs.as_slice())
        {
            roots[output.0] = roots[input.0];
        }
    }
    roots
}

fn unsupported(node: &Node, reason: impl Into<String>) -> PlanError {
    PlanError::Unsupported {
        node: node.name.clone(),
        op: node.op.name().to_owned(),
        reason: reason.into(),
    }
}

/// Height, width and channels of an activation.
fn shape(model: &Model, id: TensorId) -> Result<[u32; 3], PlanError> {
    let tensor = model.tensor(id);
    let bad = |reason: &str| PlanError::BadShape {
        tensor: tensor.name.clone(),
        shape: tensor.shape.to_string(),
        reason: reason.to_owned(),
    };
    let hwc = tensor.shape.hwc().ok_or_else(|| bad("only batch 1 and up to 4 dimensions"))?;
    if hwc[0] > 0x7fff || hwc[1] > 0x7fff {
        return Err(bad("height and width may be at most 32767"));
    }
    if hwc.contains(&0) {
        return Err(bad("it has no elements"));
    }
    let bytes = hwc.iter().try_fold(1u32, |n, d| n.checked_mul(u32::try_from(*d).ok()?));
    bytes.ok_or_else(|| bad("larger than 4 GiB"))?;
    Ok(hwc.map(|dim| dim as u32))
}
