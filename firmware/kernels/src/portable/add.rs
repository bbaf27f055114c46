//! Sum and difference of two tensors.

use super::runs::each_pair;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};
use crate::requantise::{Factor, Multiplier};

/// Left shift of both inputs before they are scaled.
const LEFT_SHIFT: u32 = 20;

/// What an addition or subtraction computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Add {
    /// Zero points of the inputs.
    pub input_zero: [i8; 2],
    /// Factors of the inputs, applied after a left shift of 20 bits.
    pub input: [Multiplier; 2],
    /// Factor of the sum.
    pub sum: Multiplier,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Adds two boxes, each of the tile's shape or broadcast to it.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn add(
    op: &Add,
    tile: &Tile,
    first: &Source<'_>,
    second: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    combine(op, tile, [first, second], output, 1)
}

/// Takes the second box from the first, each of the tile's shape or broadcast to it.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn sub(
    op: &Add,
    tile: &Tile,
    first: &Source<'_>,
    second: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    combine(op, tile, [first, second], output, -1)
}

/// Adds the second box times `sign`: one copy of the loop for both.
#[inline(never)]
pub(crate) fn combine(
    op: &Add,
    tile: &Tile,
    sources: [&Source<'_>; 2],
    output: &mut Target<'_>,
    sign: i32,
) -> Result<(), KernelError> {
    let (factors, sum) = (op.input.map(Multiplier::prepare), op.sum.prepare());
    let zeros = op.input_zero.map(i32::from);
    let scaled = |byte: u8, zero: i32, factor: &Factor| {
        factor.apply((i32::from(byte as i8) - zero) << LEFT_SHIFT)
    };
    each_pair(tile, sources, output, |a, b| {
        let a = scaled(a, zeros[0], &factors[0]);
        let b = scaled(b, zeros[1], &factors[1]);
        op.output.byte(a.wrapping_add(b.wrapping_mul(sign)), &sum)
    })
}
