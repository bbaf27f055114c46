//! Features that do not depend on how kernels are made: for the cost sets of others' kernels.

use super::Feature;
use tilewright_plan::{Op, PoolBehind, Role, Tile, View};

/// Products (padding included) as `nominal_macs`, elements of the output as `results`, and elements
/// of the inputs as `operands`.
pub fn nominal(op: &Op, tile: &Tile, operands: &[View]) -> [Feature; 3] {
    let channels = u64::from(tile.channels);
    let pixels = tile.output_size.map(u64::from).iter().product::<u64>();
    let results = pixels.saturating_mul(channels);
    let roles = op.roles();
    let inputs = roles.iter().zip(operands).filter(|(role, _)| **role == Role::Input);
    let first = operands.first().copied().unwrap_or_default();
    // Of a pool behind it, each result is the maximum of results of the convolution, each of which
    // is computed once.
    let [down, across] = PoolBehind::of(op).map_or([1, 1], |pool| pool.stride);
    let length = if roles.contains(&Role::Weights) { op.filters_for(&first).length } else { 0 };
    let each = u64::from(down) * u64::from(across) * length;
    let read = inputs.map(|(_, view)| view.elements()).sum();
    [("nominal_macs", results.saturating_mul(each)), ("results", results), ("operands", read)]
}
