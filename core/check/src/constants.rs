//! Constant blocks: whole, disjoint, and those that the steps use.

use crate::CheckError;
use crate::node::Meaning;
use tilewright_model::Model;
use tilewright_plan::kernel::CHANNEL_CONSTANT_BYTES;
use tilewright_plan::{ConstantRole, Plan, Role, View};

/// Checks the blocks themselves.
///
/// # Errors
/// Names the first wrong block.
pub fn check(plan: &Plan, model: &Model) -> Result<(), CheckError> {
    let mut ranges = Vec::new();
    for (index, block) in plan.constants.iter().enumerate() {
        let wrong = |reason: &str| CheckError::Constant { index, reason: reason.to_owned() };
        let node = model.nodes.get(block.node as usize).ok_or_else(|| wrong("unknown node"))?;
        let weights = node.inputs.get(1).ok_or_else(|| wrong("its node has no weights"))?;
        let weights = model.tensor(*weights);
        let end = block.offset.checked_add(block.bytes.0);
        if end.is_none_or(|end| end > plan.space(block.space).0) {
            return Err(wrong("reaches past the end of its space"));
        }
        let expected = match block.role {
            ConstantRole::Weights => weights.bytes().unwrap_or(usize::MAX) as u64,
            ConstantRole::Channels => {
                let output = node.outputs.first().map(|id| model.tensor(*id).shape.dims());
                let channels = output.and_then(|dims| dims.last()).copied().unwrap_or(0) as u64;
                channels * CHANNEL_CONSTANT_BYTES
            }
        };
        if block.bytes.0 != expected {
            return Err(wrong("has another length than its node needs"));
        }
        ranges.push((block.space, block.offset, block.offset + block.bytes.0, index));
    }
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        let [(space, _, end, _), (next_space, start, _, index)] = pair else { continue };
        if space == next_space && end > start {
            return Err(CheckError::Constant {
                index: *index,
                reason: "overlaps another block".to_owned(),
            });
        }
    }
    Ok(())
}

/// Checks that a step's weights or channel constants are its node's, from its first channel on.
///
/// # Errors
/// Says what is wrong.
pub fn check_use(
    plan: &Plan,
    node: u32,
    op: u32,
    role: Role,
    view: &View,
    meaning: &Meaning,
) -> Result<(), String> {
    let (wanted, per_channel) = match role {
        Role::Weights => (ConstantRole::Weights, meaning.weights_per_channel),
        _ => (ConstantRole::Channels, CHANNEL_CONSTANT_BYTES),
    };
    let block = plan
        .constants
        .iter()
        .find(|c| c.node == node && c.op == op && c.role == wanted)
        .ok_or("the node's weights or constants are not in the plan")?;
    let expected = block.offset + meaning.channel_start * per_channel;
    let found = (view.space(), u64::from(view.offset), view.elements());
    if found != (Some(block.space), expected, meaning.channels * per_channel) {
        return Err("uses other weights or constants than its node's".to_owned());
    }
    Ok(())
}
