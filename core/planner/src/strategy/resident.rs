//! `resident`: order as given, all activations in SRAM, weights in flash.

use crate::PlanError;
use crate::allocate::{self, Buffer, PLANNING_BUDGET};
use crate::lower;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::{Bytes, InputResidency, Plan, Space};

/// Plans `model` on `board`.
///
/// # Errors
/// [`PlanError`] names the node or tensor that cannot be planned.
pub fn plan(model: &Model, board: &Board) -> Result<Plan, PlanError> {
    let layers = lower::layers(model)?;
    let mut tensors = lower::tensors(model, &layers)?;
    let buffers = tensors.iter().map(Buffer::of_tensor).collect();
    let placement = allocate::least(buffers, PLANNING_BUDGET)?.solution;
    for (tensor, offset) in tensors.iter_mut().zip(&placement.offsets) {
        tensor.offset = *offset;
    }
    let mut plan = Plan {
        model: model.name.clone(),
        board: board.id.clone(),
        strategy: super::Strategy::Resident.name().to_owned(),
        input: InputResidency::Resident,
        layers: Vec::new(),
        tensors,
        ops: Vec::new(),
        tiles: Vec::new(),
        views: Vec::new(),
        spans: Vec::new(),
        constants: Vec::new(),
        programs: Vec::new(),
        space_bytes: [Bytes(0); 6],
    };
    plan.space_bytes[Space::Arena as usize] = placement.height;
    lower::program(model, &layers, &mut plan)?;
    Ok(plan)
}
