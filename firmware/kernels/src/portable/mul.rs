//! Product of two tensors.

use super::runs::each_pair;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};
use crate::requantise::Multiplier;

/// What a multiplication computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mul {
    /// Zero points of the inputs.
    pub input_zero: [i8; 2],
    /// Product of the input scales / output scale.
    pub product: Multiplier,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Multiplies two boxes, each of the tile's shape or broadcast to it.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn mul(
    op: &Mul,
    tile: &Tile,
    first: &Source<'_>,
    second: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let factor = op.product.prepare();
    let [a_zero, b_zero] = op.input_zero.map(i32::from);
    each_pair(tile, [first, second], output, |a, b| {
        let product = (i32::from(a as i8) - a_zero) * (i32::from(b as i8) - b_zero);
        op.output.byte(product, &factor)
    })
}
