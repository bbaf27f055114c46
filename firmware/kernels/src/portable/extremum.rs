//! The larger or smaller of two values. Inputs and output share scale and zero point.

use super::runs::each_pair;
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
    extremum(op, tile, [first, second], output, true)
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
    extremum(op, tile, [first, second], output, false)
}

/// One loop for both, which are rare.
#[inline(never)]
fn extremum(
    op: &Output,
    tile: &Tile,
    sources: [&Source<'_>; 2],
    output: &mut Target<'_>,
    larger: bool,
) -> Result<(), KernelError> {
    each_pair(tile, sources, output, |a, b| {
        let (a, b) = (a as i8, b as i8);
        op.clamp(if (a > b) == larger { a } else { b } as u8)
    })
}
