//! Depthwise convolution with a channel multiplier; weights HWC.

use super::conv::Conv;
use crate::channels::Channels;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};

/// Output channels whose sums are held together.
const BLOCK: usize = 8;

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
    op.window.check()?;
    let outputs = tile.channels;
    if op.groups == 0
        || outputs == 0
        || input.layout.channels.checked_mul(op.groups) != Some(outputs)
        || output.layout.channels < outputs
    {
        return Err(KernelError::Shape);
    }
    let area = op.window.size[0].wrapping_mul(op.window.size[1]);
    if weights.len() < area.wrapping_mul(outputs) || channels.len() < outputs {
        return Err(KernelError::ConstantsTooShort);
    }
    let layout = output.layout;
    for y in tile.outputs(0) {
        for x in tile.outputs(1) {
            let start = layout.column(x);
            let pixel = output.row(y)?.get_mut(start..start.wrapping_add(outputs));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            let see = Seen { op, tile, input, weights, y, x };
            for (block, bytes) in pixel.chunks_mut(BLOCK).enumerate() {
                let first = block * BLOCK;
                let sums = if op.groups == 1 {
                    if bytes.len() == BLOCK {
                        see.sums::<BLOCK>(first)?
                    } else {
                        see.partial_sums(first, bytes.len())?
                    }
                } else {
                    see.multiplied_sums(first, bytes.len())?
                };
                for (offset, (byte, sum)) in bytes.iter_mut().zip(sums).enumerate() {
                    let channel =
                        channels.get(first + offset).ok_or(KernelError::ConstantsTooShort)?;
                    *byte = op.output.byte(sum.wrapping_add(channel.bias), channel.factor);
                }
            }
        }
    }
    Ok(())
}

/// One output pixel.
struct Seen<'s, 'a> {
    op: &'s Conv,
    tile: &'s Tile,
    input: &'s Source<'a>,
    weights: &'s [u8],
    y: i32,
    x: i32,
}

impl Seen<'_, '_> {
    /// Visits each tap that sees input, with the pixel's bytes and the tap's weights.
    #[inline(always)]
    fn taps(
        &self,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let Self { op, tile, input, weights, .. } = self;
        let (rows, columns) = (op.window.taps(0, self.y, tile), op.window.taps(1, self.x, tile));
        let layout = &input.layout;
        let step = layout.column_pitch.wrapping_mul(op.window.dilation[1] as usize);
        let mut y = rows.position;
        for row in rows.first..rows.first + rows.count {
            let line = input.row(y)?;
            let mut start = layout.column(columns.position);
            let tap = row * op.window.size[1] + columns.first;
            let mut weight = tap * tile.channels;
            for _ in 0..columns.count {
                let pixel = line.get(start..start.wrapping_add(layout.channels));
                let weights = weights.get(weight..weight + tile.channels);
                visit(
                    pixel.ok_or(KernelError::OutOfBounds)?,
                    weights.ok_or(KernelError::ConstantsTooShort)?,
                )?;
                start = start.wrapping_add(step);
                weight += tile.channels;
            }
            y = y.wrapping_add(op.window.dilation[0]);
        }
        Ok(())
    }

    /// Sums of `N` channels from `first` on, multiplier 1.
    #[inline]
    fn sums<const N: usize>(&self, first: usize) -> Result<[i32; N], KernelError> {
        let zero = i32::from(self.op.input_zero);
        let mut sums = [0i32; N];
        self.taps(|pixel, weights| {
            let pixel = pixel.get(first..).and_then(<[u8]>::first_chunk::<N>);
            let weights = weights.get(first..).and_then(<[u8]>::first_chunk::<N>);
            let (Some(pixel), Some(weights)) = (pixel, weights) else {
                return Err(KernelError::OutOfBounds);
            };
            for ((sum, x), w) in sums.iter_mut().zip(pixel).zip(weights) {
                *sum = sum.wrapping_add((i32::from(*x as i8) - zero) * i32::from(*w as i8));
            }
            Ok(())
        })?;
        Ok(sums)
    }

    /// Sums of fewer than [`BLOCK`] channels, multiplier 1.
    fn partial_sums(&self, first: usize, count: usize) -> Result<[i32; BLOCK], KernelError> {
        let mut sums = [0; BLOCK];
        for (offset, sum) in sums.iter_mut().enumerate().take(count) {
            let [only] = self.sums::<1>(first + offset)?;
            *sum = only;
        }
        Ok(sums)
    }

    /// Sums of up to [`BLOCK`] channels, any multiplier.
    fn multiplied_sums(&self, first: usize, count: usize) -> Result<[i32; BLOCK], KernelError> {
        let zero = i32::from(self.op.input_zero);
        let mut sums = [0i32; BLOCK];
        self.taps(|pixel, weights| {
            let channels = first..first + count;
            for (sum, channel) in sums.iter_mut().zip(channels) {
                let x = pixel.get(channel / self.op.groups).ok_or(KernelError::OutOfBounds)?;
                let w = weights.get(channel).ok_or(KernelError::ConstantsTooShort)?;
                *sum = sum.wrapping_add((i32::from(*x as i8) - zero) * i32::from(*w as i8));
            }
            Ok(())
        })?;
        Ok(sums)
    }
}
