//! Copies with a change of scale and a clamp.

use super::runs::{copy, runs};
use crate::clamp::clamp;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};
use crate::requantise::Multiplier;

/// What a requantisation computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requantise {
    /// Zero point of the input.
    pub input_zero: i8,
    /// Input scale / output scale.
    pub factor: Multiplier,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Requantises a box of the tile's shape. With [`Multiplier::ONE`], equal zero points and no
/// clamp it is an exact copy.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn requantise(
    op: &Requantise,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let same_scale = op.factor == Multiplier::ONE && op.input_zero == op.output.zero;
    let factor = op.factor.prepare();
    let zero = i32::from(op.input_zero);
    runs(tile, input, output, |input, output| {
        if same_scale {
            copy(output, input);
            clamp(&op.output, output);
        } else {
            for (byte, x) in output.iter_mut().zip(input) {
                *byte = op.output.byte(i32::from(*x as i8) - zero, &factor);
            }
        }
    })
}
