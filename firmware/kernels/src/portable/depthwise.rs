//! Depthwise convolution with a channel multiplier; weights HWC.

use core::ops::Range;

use super::SMALL;
use super::conv::Conv;
use super::dot::Element;
use super::reached::{Along, Reached, each_pixel};
use crate::channels::Channels;
use crate::error::KernelError;
use crate::geometry::{Source, Taps, Target, Tile};

/// Output channels whose sums are held together, on the stack.
const BLOCK: usize = 32;

/// Convolves each channel of a tile by itself: output channel `c` sees input channel
/// `c / multiplier`, the multiplier being `op.groups`.
///
/// `weights`: window rows × window columns × output channels of the tile. `channels`: constants
/// of the tile's output channels.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn depthwise(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    check(op, tile, input, output, weights, channels)?;
    some_channels(op, tile, input, output, weights, channels, 0..tile.channels)
}

/// Whether the operands fit the tile.
#[inline(never)]
pub fn check(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    op.window.check()?;
    let outputs = tile.channels;
    if op.groups == 0
        || outputs == 0
        || input.layout.channels.checked_mul(op.groups) != Some(outputs)
        || output.layout.channels < outputs
    {
        return Err(KernelError::Shape);
    }
    let area = op.window.size[0].checked_mul(op.window.size[1]);
    let needed = area.and_then(|area| area.checked_mul(outputs)).unwrap_or(usize::MAX);
    if weights.len() < needed || channels.len() < outputs {
        return Err(KernelError::ConstantsTooShort);
    }
    Ok(())
}

/// Convolves a range of the tile's output channels; the operands have passed [`check`].
#[inline(never)]
pub fn some_channels(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
    range: Range<usize>,
) -> Result<(), KernelError> {
    if SMALL {
        let zeros = [op.input_zero, op.weight_zero];
        let pitch = [op.window.size[1] * tile.channels, tile.channels];
        return each_pixel(tile, output, &mut |[y, x], pixel| {
            let rows = Along::seen(&op.window, 0, y, tile);
            let columns = Along::seen(&op.window, 1, x, tile);
            for (channel, byte) in pixel.iter_mut().enumerate() {
                let weights = weights.get(channel..).unwrap_or(&[]);
                let first = channel / op.groups.max(1);
                let sum = Reached { input, first, count: 1, weights, pitch, zeros };
                let sum = [sum.sum(&rows, &columns)?];
                op.output.write(&sum, channels.from(channel), core::slice::from_mut(byte));
            }
            Ok(())
        });
    }
    let layout = output.layout;
    for y in tile.outputs(0) {
        let rows = op.window.taps(0, y, tile);
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let columns = op.window.taps(1, x, tile);
            let seen = Seen { op, input, weights, outputs: tile.channels, rows, columns };
            let (start, mut first) = (layout.column(x), range.start);
            while first < range.end {
                let end = range.end.min(first + BLOCK);
                let bytes = line.get_mut(start.wrapping_add(first)..start.wrapping_add(end));
                let mut sums = [0; BLOCK];
                let sums = sums.get_mut(..end - first).unwrap_or(&mut []);
                seen.add_taps(first, sums)?;
                let bytes = bytes.ok_or(KernelError::OutOfBounds)?;
                op.output.write(sums, channels.from(first), bytes);
                first = end;
            }
        }
    }
    Ok(())
}

/// What one output pixel sees.
struct Seen<'s, 'a> {
    op: &'s Conv,
    input: &'s Source<'a>,
    weights: &'s [u8],
    /// Output channels of the tile.
    outputs: usize,
    rows: Taps,
    columns: Taps,
}

impl Seen<'_, '_> {
    /// Adds the products of all taps that see input to the sums of the output channels from
    /// `first` on.
    fn add_taps(&self, first: usize, sums: &mut [i32]) -> Result<(), KernelError> {
        let Self { op, input, weights, outputs, rows, columns } = self;
        let layout = &input.layout;
        let (zero, weight_zero) = (i32::from(op.input_zero), i32::from(op.weight_zero));
        let step = layout.column_pitch.wrapping_mul(op.window.dilation[1] as usize);
        let multiplier = op.groups;
        let (first_input, inputs) = if multiplier == 1 {
            (first, sums.len())
        } else {
            let first_input = first / multiplier;
            (first_input, (first + sums.len()).div_ceil(multiplier) - first_input)
        };
        let mut y = rows.position;
        for row in rows.first..rows.first + rows.count {
            let line = input.row(y)?;
            let mut start = layout.column(columns.position).wrapping_add(first_input);
            let mut weight = (row * op.window.size[1] + columns.first) * outputs + first;
            for _ in 0..columns.count {
                let pixel = line.get(start..start.wrapping_add(inputs));
                let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
                let weights = weights.get(weight..weight + sums.len());
                let weights = weights.ok_or(KernelError::ConstantsTooShort)?;
                if multiplier == 1 {
                    add_differences(sums, pixel, weights, [zero, weight_zero]);
                } else {
                    let skipped = first - first_input * multiplier;
                    let (mut at, mut left) = (0, multiplier - skipped);
                    for (sum, w) in sums.iter_mut().zip(weights) {
                        let x = pixel.get(at).map_or(0, |x| x.value() - zero);
                        *sum = sum.wrapping_add(x.wrapping_mul(w.value() - weight_zero));
                        left -= 1;
                        if left == 0 {
                            (at, left) = (at + 1, multiplier);
                        }
                    }
                }
                start = start.wrapping_add(step);
                weight += outputs;
            }
            y = y.wrapping_add(op.window.dilation[0]);
        }
        Ok(())
    }
}

/// Adds `(x − zero) · (w − weight zero)` to each sum.
#[inline(never)]
fn add_differences(sums: &mut [i32], inputs: &[u8], weights: &[u8], [zero, weight_zero]: [i32; 2]) {
    for ((sum, x), w) in sums.iter_mut().zip(inputs).zip(weights) {
        *sum = sum.wrapping_add((x.value() - zero).wrapping_mul(w.value() - weight_zero));
    }
}
