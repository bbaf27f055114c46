//! The larger or smaller of two values. Inputs and output share scale and zero point.

use super::pairs::pairs;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};

/// Takes the larger of two boxes' elements, then clamps; each box has the tile's shape or is
/// broadcast to it. The output's zero point is not used.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn maximum(
    op: &Output,
    tile: &Tile,
    first: &Source<'_>,
    second: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    pairs(tile, [first, second], output, |a, b| op.clamp((a as i8).max(b as i8) as u8))
}

/// Takes the smaller of two boxes' elements, as [`maximum`] does the larger.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn minimum(
    op: &Output,
    tile: &Tile,
    first: &Source<'_>,
    second: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    pairs(tile, [first, second], output, |a, b| op.clamp((a as i8).min(b as i8) as u8))
}
