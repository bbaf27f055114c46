//! From the model's nodes to layers, tensors, ops, views and steps.
//!
//! A reshape is no layer: its output is another name for its input's bytes.

mod fuse;
mod gather;
mod layer;
mod op;
mod program;

pub use fuse::{fuse_pools, fuse_pools_where};
pub use layer::{Layer, awaits_int8, layers, tensors};
pub use program::{InImage, Stored, copied, order_rows, program};

use crate::PlanError;
use crate::aliasing::Parts;
use tilewright_model::{Model, Node, TensorId};
use tilewright_plan::{Bytes, InputResidency, Plan, PlannedTensor};
use tilewright_report::Unsupported;

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

/// A plan with nothing but tensors.
pub fn blank(model: &Model, tensors: Vec<PlannedTensor>) -> Plan {
    Plan {
        model: model.name.clone(),
        board: String::new(),
        strategy: String::new(),
        input: InputResidency::Resident,
        layers: Vec::new(),
        tensors,
        ops: Vec::new(),
        tiles: Vec::new(),
        views: Vec::new(),
        spans: Vec::new(),
        constants: Vec::new(),
        boot: None,
        main: None,
        subnetworks: Vec::new(),
        space_bytes: [Bytes(0); 6],
        sector_checksums: None,
    }
}

/// The layers as a plan whose tensors lie at their places in the tensors that they are part of,
/// else at 0: the geometry of its steps is right before any tensor has its place.
///
/// # Errors
/// Names the first node that no kernel runs as it is.
pub fn draft(
    model: &Model,
    layers: &[Layer],
    parts: &Parts,
    tensors: Vec<PlannedTensor>,
) -> Result<Plan, PlanError> {
    draft_stored(model, layers, parts, tensors, (Stored::IMAGE, &[]))
}

/// As [`draft`], with weights elsewhere, but for what of each layer lies in the plan image.
///
/// # Errors
/// Names the first node that no kernel runs as it is.
pub fn draft_stored(
    model: &Model,
    layers: &[Layer],
    parts: &Parts,
    tensors: Vec<PlannedTensor>,
    stored: (Stored, &[InImage]),
) -> Result<Plan, PlanError> {
    let mut plan = blank(model, tensors);
    program(model, layers, parts, stored, &mut plan)?;
    Ok(plan)
}

fn unsupported(node: &Node, reason: impl Into<String>) -> PlanError {
    let remedy = "Replace the operator in the model by supported ones.";
    Unsupported::new(reason, place(node), remedy).into()
}

/// A node as the place of an error.
fn place(node: &Node) -> String {
    format!("node '{}' ({})", node.name, node.op.name())
}

/// Rows or columns of the largest box: coordinates are 16-bit integers.
const LARGEST_SIDE: usize = 0x7fff;

fn bad_shape(model: &Model, id: TensorId, reason: &str) -> PlanError {
    let tensor = model.tensor(id);
    let place = format!("tensor '{}' of shape {}", tensor.name, tensor.shape);
    Unsupported::new(reason, place, "Export the model for batch 1 and a smaller input.").into()
}

/// Height, width and channels of an activation.
pub fn shape(model: &Model, id: TensorId) -> Result<[u32; 3], PlanError> {
    let bad = |reason: &str| bad_shape(model, id, reason);
    let hwc = model.tensor(id).shape.hwc();
    let hwc = hwc.ok_or_else(|| bad("only batch 1 and up to 4 dimensions"))?;
    sized(hwc).map_err(bad)
}

/// Height, width and channels of an operand that broadcasts: its dimensions, aligned at the last.
fn aligned_shape(model: &Model, id: TensorId) -> Result<[u32; 3], PlanError> {
    let bad = |reason: &str| bad_shape(model, id, reason);
    let hwc = match *model.tensor(id).shape.dims() {
        [1, h, w, c] | [h, w, c] => [h, w, c],
        [w, c] => [1, w, c],
        [c] => [1, 1, c],
        [] => [1; 3],
        _ => return Err(bad("only batch 1 and up to 4 dimensions")),
    };
    sized(hwc).map_err(bad)
}

/// A shape for the bytes of any tensor: its own if it has one, else one row.
fn flat_shape(model: &Model, id: TensorId) -> Result<[u32; 3], PlanError> {
    let tensor = model.tensor(id);
    match tensor.shape.hwc() {
        Some([h, w, _]) if h <= LARGEST_SIDE && w <= LARGEST_SIDE => shape(model, id),
        _ => {
            let bad = |reason: &str| bad_shape(model, id, reason);
            let elements = tensor.shape.elements().unwrap_or(usize::MAX);
            sized([1, 1, elements]).map_err(bad)
        }
    }
}

fn sized(hwc: [usize; 3]) -> Result<[u32; 3], &'static str> {
    if hwc[0] > LARGEST_SIDE || hwc[1] > LARGEST_SIDE {
        return Err("height and width may be at most 32767");
    }
    if hwc.contains(&0) {
        return Err("it has no elements");
    }
    let [Ok(h), Ok(w), Ok(c)] = hwc.map(u32::try_from) else { return Err("larger than 4 GiB") };
    h.checked_mul(w).and_then(|row| row.checked_mul(c)).ok_or("larger than 4 GiB")?;
    Ok([h, w, c])
}

/// Which of height, width and channels a tensor of `rank` dimensions has its dimension `axis` as;
/// nothing for the batch and what stands before it.
pub fn place_of(rank: usize, axis: usize) -> Option<usize> {
    match rank.checked_sub(axis) {
        Some(1) => Some(2),
        Some(2) => Some(1),
        Some(3) => Some(0),
        _ => None,
    }
}
