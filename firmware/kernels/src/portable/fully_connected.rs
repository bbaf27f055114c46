//! Fully connected; weights OI.

use super::conv::{Conv, conv};
use crate::channels::Channels;
use crate::error::KernelError;
use crate::geometry::{Layout, Output, Source, Target, Tile, Window};

/// What a fully connected layer computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullyConnected {
    /// Zero point of the input.
    pub input_zero: i8,
    /// As [`super::Conv::weight_zero`].
    pub weight_zero: i8,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Multiplies a vector by a matrix. The input is the whole of a contiguous box of any shape.
///
/// `weights`: output channels of the tile × input elements. `channels`: constants of the tile's
/// output channels.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn fully_connected(
    op: &FullyConnected,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    let (op, tile, input) = as_pixel(op, tile, input)?;
    conv(&op, &tile, &input, output, weights, channels)
}

/// A convolution of one pixel with as many channels as there are inputs, its tile and its input.
#[inline]
pub(crate) fn as_pixel<'a>(
    op: &FullyConnected,
    tile: &Tile,
    input: &Source<'a>,
) -> Result<(Conv, Tile, Source<'a>), KernelError> {
    let inputs = input.vector()?;
    let [y, x] = tile.output_start;
    let layout = Layout { first: [y, x], ..Layout::whole(1, 1, inputs.len()) };
    let valid_end = [y.saturating_add(1), x.saturating_add(1)];
    let tile = Tile { output_size: [1, 1], valid_start: [y, x], valid_end, ..*tile };
    let window = Window { size: [1, 1], stride: [1, 1], dilation: [1, 1], padding: [0, 0] };
    let FullyConnected { input_zero, weight_zero, output: to } = *op;
    let op = Conv { window, groups: 1, input_zero, weight_zero, output: to };
    Ok((op, tile, Source::new(inputs, layout)?))
}
