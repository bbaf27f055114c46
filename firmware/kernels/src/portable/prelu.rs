//! A slope of its own for the negative values of each channel, or of each element.

use super::runs::each_pair;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};
use crate::requantise::Multiplier;

/// What a parametric rectifier computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prelu {
    /// Zero points of the input and of the slopes.
    pub input_zero: [i8; 2],
    /// Factor of values that are not negative: input scale / output scale.
    pub positive: Multiplier,
    /// Factor of products with a slope: input scale × slopes' scale / output scale.
    pub negative: Multiplier,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Rescales values that are not negative and multiplies the others by their slopes, whose box has
/// the tile's shape or is broadcast to it.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn prelu(
    op: &Prelu,
    tile: &Tile,
    input: &Source<'_>,
    slopes: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let (positive, negative) = (op.positive.prepare(), op.negative.prepare());
    let [zero, slope_zero] = op.input_zero.map(i32::from);
    each_pair(tile, [input, slopes], output, |x, slope| {
        let x = i32::from(x as i8) - zero;
        if x >= 0 {
            op.output.byte(x, &positive)
        } else {
            op.output.byte(x * (i32::from(slope as i8) - slope_zero), &negative)
        }
    })
}
