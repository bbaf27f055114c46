//! `resident`: order as given, all activations in SRAM, weights in flash.

use crate::PlanError;
use crate::allocate::{self, Buffer, PLANNING_BUDGET};
use crate::lower;
use tilewright_board::Board;
use tilewright_model::Model;
use tilewright_plan::Plan;

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
    let strategy = super::Strategy::Resident;
    super::in_arena(model, board, strategy, &layers, tensors, placement.height)
}
