//! Transposed convolution; weights OHWI.

use super::SMALL;
use super::dot::{BLOCK, dot_block, less_sum, split_filters};
use super::reached::{Along, Reached, each_pixel};
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
    op.window.check()?;
    let (inputs, outputs) = (input.layout.channels, tile.channels);
    if outputs == 0 || output.layout.channels < outputs {
        return Err(KernelError::Shape);
    }
    let area = op.window.size[0].checked_mul(op.window.size[1]);
    let filter = area.and_then(|area| area.checked_mul(inputs)).unwrap_or(usize::MAX);
    let filters = outputs.checked_mul(filter).and_then(|length| weights.get(..length));
    let filters = filters.ok_or(KernelError::ConstantsTooShort)?;
    if filter == 0 || channels.len() < outputs {
        return Err(KernelError::ConstantsTooShort);
    }
    if SMALL {
        let (pitch, zeros) =
            ([op.window.size[1] * inputs, inputs], [op.input_zero, op.weight_zero]);
        return each_pixel(tile, output, &mut |[y, x], pixel| {
            let [rows, columns] = [along(op, tile, 0, y), along(op, tile, 1, x)];
            for (channel, byte) in pixel.iter_mut().enumerate() {
                let weights = filters.get(channel * filter..).unwrap_or(&[]);
                let sum = Reached { input, first: 0, count: inputs, weights, pitch, zeros };
                let sum = [sum.sum(&rows, &columns)?];
                op.output.write(&sum, channels.from(channel), core::slice::from_mut(byte));
            }
            Ok(())
        });
    }
    let layout = output.layout;
    for y in tile.outputs(0) {
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let start = layout.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(outputs));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            let blocks = pixel.chunks_mut(BLOCK).zip(filters.chunks(filter.saturating_mul(BLOCK)));
            for (block, (bytes, filters)) in blocks.enumerate() {
                let mut sums = [0; BLOCK];
                reach(op, tile, input, [y, x], split_filters(filters, filter), &mut sums)?;
                op.output.write(&sums, channels.from(block * BLOCK), bytes);
            }
        }
    }
    Ok(())
}

/// Adds the products of all input pixels that reach an output pixel, for [`BLOCK`] filters, of
/// which those behind the last channel may be empty.
fn reach(
    op: &TransposeConv,
    tile: &Tile,
    input: &Source<'_>,
    output: [i32; 2],
    filters: [&[u8]; BLOCK],
    sums: &mut [i32; BLOCK],
) -> Result<(), KernelError> {
    let [height, width] = op.window.size;
    let inputs = input.layout.channels;
    let (zero, factor) = (i32::from(op.input_zero), i32::from(op.weight_zero));
    for ky in 0..height {
        let Some(y) = origin(op, tile, 0, output[0], ky) else { continue };
        let line = input.row(y)?;
        for kx in 0..width {
            let Some(x) = origin(op, tile, 1, output[1], kx) else { continue };
            let start = input.layout.column(x);
            let seen = line.get(start..start.wrapping_add(inputs));
            let seen = seen.ok_or(KernelError::OutOfBounds)?;
            let tap = (ky * width + kx) * inputs;
            let mut weights = filters.map(|filter| filter.get(tap..).unwrap_or(&[]));
            let [first, ..] = weights;
            for weights in &mut weights {
                // The sums of channels that do not exist are not looked at.
                if weights.is_empty() {
                    *weights = first;
                }
            }
            if factor != 0 {
                for sum in &mut *sums {
                    *sum = less_sum(seen, zero, factor, *sum);
                }
            }
            dot_block(seen, weights, zero, sums);
        }
    }
    Ok(())
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
