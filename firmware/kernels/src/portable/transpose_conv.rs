//! Transposed convolution; weights OHWI.

use super::conv::{Conv, pixels};
use super::reached::Along;
use crate::channels::Channels;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile, Window};

/// What a transposed convolution computes: input (y, x) adds its products with the weights to the
/// outputs (y · stride − padding + tap · dilation).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransposeConv {
    /// The window over the output.
    pub window: Window,
    /// Zero point of the input.
    pub input_zero: i8,
    /// As [`super::Conv::weight_zero`].
    pub weight_zero: i8,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Convolves a tile, transposed. Each output gathers what reaches it, so that tiles need no more
/// than what reaches them.
///
/// `weights`: for each output channel of the tile, window rows × window columns × input channels.
/// `channels`: constants of the tile's output channels.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn transpose_conv(
    op: &TransposeConv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    let TransposeConv { window, input_zero, weight_zero, output: to } = *op;
    let as_conv = Conv { window, groups: 1, input_zero, weight_zero, output: to };
    // Most taps see nothing where strides are above one: no copy of what is seen.
    let along = |axis: usize, at: i32| along(op, tile, axis, at);
    pixels(&as_conv, tile, input, output, weights, channels, &mut [], &along)
}

/// The taps through which input reaches an output along an axis.
fn along(op: &TransposeConv, tile: &Tile, axis: usize, output: i32) -> Along {
    let mut along = Along { first: 0, count: 0, step: 0, place: 0, ahead: 0 };
    for tap in 0..op.window.size[axis] {
        let Some(place) = origin(op, tile, axis, output, tap) else { continue };
        match along.count {
            0 => (along.first, along.place) = (tap, place),
            // Those behind are as far apart.
            _ if along.step == 0 => {
                (along.step, along.ahead) = (tap - along.first, place.wrapping_sub(along.place));
            }
            _ => {}
        }
        along.count += 1;
    }
    along
}

/// The input row or column that reaches an output's through a tap, if there is one.
#[inline]
fn origin(op: &TransposeConv, tile: &Tile, axis: usize, output: i32, tap: usize) -> Option<i32> {
    let reached = output
        .wrapping_add(op.window.padding[axis])
        .wrapping_sub((tap as i32).wrapping_mul(op.window.dilation[axis]));
    let stride = op.window.stride[axis].max(1);
    let at = reached.div_euclid(stride);
    let exact = at.wrapping_mul(stride) == reached;
    let exists = at >= tile.valid_start[axis] && at < tile.valid_end[axis];
    (exact && exists).then_some(at)
}
