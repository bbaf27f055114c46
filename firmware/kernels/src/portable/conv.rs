//! Convolution, grouped and dilated; weights OHWI.

use super::dot::{BLOCK, dot, dot_block};
use crate::channels::Channels;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Taps, Target, Tile, Window};

/// What a convolution or a depthwise convolution computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv {
    /// The window.
    pub window: Window,
    /// Groups; for a depthwise convolution the channel multiplier.
    pub groups: usize,
    /// Zero point of the input.
    pub input_zero: i8,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Convolves a tile.
///
/// `weights`: for each output channel of the tile, window rows × window columns × input channels
/// of the group. `channels`: constants of the tile's output channels.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn conv(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    op.window.check()?;
    let (inputs, outputs) = (input.layout.channels, tile.channels);
    if op.groups == 0
        || outputs == 0
        || !inputs.is_multiple_of(op.groups)
        || !outputs.is_multiple_of(op.groups)
        || output.layout.channels < outputs
    {
        return Err(KernelError::Shape);
    }
    let group_inputs = inputs / op.groups;
    let group_outputs = outputs / op.groups;
    let filter = op.window.size[0].wrapping_mul(op.window.size[1]).wrapping_mul(group_inputs);
    let filters = weights.get(..outputs.wrapping_mul(filter));
    let filters = filters.ok_or(KernelError::ConstantsTooShort)?;
    if filter == 0 || channels.len() < outputs {
        return Err(KernelError::ConstantsTooShort);
    }
    let layout = output.layout;
    for y in tile.outputs(0) {
        let rows = op.window.taps(0, y, tile);
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let columns = op.window.taps(1, x, tile);
            let start = layout.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(outputs));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            let groups = pixel
                .chunks_exact_mut(group_outputs)
                .zip(filters.chunks_exact(group_outputs * filter));
            for (group, (pixel, filters)) in groups.enumerate() {
                let see =
                    Seen { op, input, rows, columns, group_inputs, first: group * group_inputs };
                see.channels(pixel, filters, filter, channels.from(group * group_outputs))?;
            }
        }
    }
    Ok(())
}

/// What one output pixel of one group sees of the input.
struct Seen<'s, 'a> {
    op: &'s Conv,
    input: &'s Source<'a>,
    rows: Taps,
    columns: Taps,
    /// Input channels of a group, and the first of this group.
    group_inputs: usize,
    first: usize,
}

impl Seen<'_, '_> {
    /// Computes the output channels of the group.
    #[inline]
    fn channels(
        &self,
        pixel: &mut [u8],
        filters: &[u8],
        filter: usize,
        channels: Channels<'_>,
    ) -> Result<(), KernelError> {
        let (blocks, rest) = pixel.as_chunks_mut::<BLOCK>();
        let done = blocks.len() * BLOCK;
        let block_filters = filters.chunks_exact(BLOCK * filter);
        for (index, (bytes, filters)) in blocks.iter_mut().zip(block_filters).enumerate() {
            let first = index * BLOCK;
            let sums = self.block(filters, filter)?;
            for (offset, (byte, sum)) in bytes.iter_mut().zip(sums).enumerate() {
                *byte = self.finish(sum, first + offset, channels)?;
            }
        }
        let rest_filters = filters.get(done * filter..).unwrap_or(&[]).chunks_exact(filter);
        for (offset, (byte, filter)) in rest.iter_mut().zip(rest_filters).enumerate() {
            *byte = self.finish(self.single(filter)?, done + offset, channels)?;
        }
        Ok(())
    }

    #[inline]
    fn finish(&self, sum: i32, channel: usize, channels: Channels<'_>) -> Result<u8, KernelError> {
        let channel = channels.get(channel).ok_or(KernelError::ConstantsTooShort)?;
        Ok(self.op.output.byte(sum.wrapping_add(channel.bias), channel.factor))
    }

    /// Sums of products of [`BLOCK`] output channels, whose filters follow each other.
    #[inline]
    fn block(&self, filters: &[u8], filter: usize) -> Result<[i32; BLOCK], KernelError> {
        let zero = i32::from(self.op.input_zero);
        let mut sums = [0; BLOCK];
        self.runs(|inputs, start| {
            let end = start + inputs.len();
            let run = |channel: usize| {
                let base = channel * filter;
                filters.get(base + start..base + end).ok_or(KernelError::ConstantsTooShort)
            };
            let weights = [run(0)?, run(1)?, run(2)?, run(3)?];
            sums = dot_block(inputs, weights, zero, sums);
            Ok(())
        })?;
        Ok(sums)
    }

    /// Sum of products of one output channel.
    #[inline]
    fn single(&self, filter: &[u8]) -> Result<i32, KernelError> {
        let zero = i32::from(self.op.input_zero);
        let mut sum = 0;
        self.runs(|inputs, start| {
            let weights = filter.get(start..start + inputs.len());
            sum = dot(inputs, weights.ok_or(KernelError::ConstantsTooShort)?, zero, sum);
            Ok(())
        })?;
        Ok(sum)
    }

    /// Visits runs of input bytes that meet runs of a filter, with the filter's offset.
    #[inline(always)]
    fn runs(
        &self,
        mut visit: impl FnMut(&[u8], usize) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let Self { op, input, rows, columns, group_inputs, first } = self;
        if columns.count == 0 {
            return Ok(());
        }
        let layout = &input.layout;
        let filter_row = op.window.size[1] * group_inputs;
        let filter_start = columns.first * group_inputs;
        let start = layout.column(columns.position).wrapping_add(*first);
        let contiguous = op.groups == 1 && op.window.dilation[1] == 1 && layout.is_dense();
        let mut y = rows.position;
        for tap in rows.first..rows.first + rows.count {
            let line = input.row(y)?;
            let mut filter = tap * filter_row + filter_start;
            if contiguous {
                let run = line.get(start..start.wrapping_add(columns.count * group_inputs));
                visit(run.ok_or(KernelError::OutOfBounds)?, filter)?;
            } else {
                let step = layout.column_pitch.wrapping_mul(op.window.dilation[1] as usize);
                let mut start = start;
                for _ in 0..columns.count {
                    let run = line.get(start..start.wrapping_add(*group_inputs));
                    visit(run.ok_or(KernelError::OutOfBounds)?, filter)?;
                    start = start.wrapping_add(step);
                    filter += group_inputs;
                }
            }
            y = y.wrapping_add(op.window.dilation[0]);
        }
        Ok(())
    }
}
