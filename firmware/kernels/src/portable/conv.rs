//! Convolution, grouped and dilated; weights OHWI.

use super::SMALL;
use super::dot::{BLOCK, dot, dot_block, less_sum, parts, split_filters};
use super::reached::{Along, Reached, each_pixel};
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
    /// Zero point of the weights, which few files have; padding meets none of it.
    pub weight_zero: i8,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Filters up to this length meet a copy of what they see, made once for all output channels:
/// without zero point, and with zeros for padding. On the stack: two bytes each.
const PATCH: usize = if SMALL { 0 } else { 640 };

/// Room for such a copy.
pub(super) type Patch = [i16; PATCH];

/// Room for a copy.
pub(super) const EMPTY: Patch = [0; PATCH];

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
    let filters = Filters::of(op, tile, input, weights, channels)?;
    let outputs = tile.channels;
    if output.layout.channels < outputs {
        return Err(KernelError::Shape);
    }
    let layout = output.layout;
    let mut patch = EMPTY;
    if SMALL {
        return each_pixel(tile, output, &mut |[y, x], pixel| {
            let taps = [op.window.taps(0, y, tile), op.window.taps(1, x, tile)];
            filters.results(op, input, taps, 0, pixel, &mut patch)
        });
    }
    for y in tile.outputs(0) {
        let rows = op.window.taps(0, y, tile);
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let columns = op.window.taps(1, x, tile);
            let start = layout.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(outputs));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            filters.results(op, input, [rows, columns], 0, pixel, &mut patch)?;
        }
    }
    Ok(())
}

/// The filters of a tile's output channels.
pub(super) struct Filters<'a> {
    /// All of them.
    pub bytes: &'a [u8],
    /// Bytes of one.
    pub length: usize,
    /// Input and output channels of a group.
    pub inputs: usize,
    pub outputs: usize,
    /// Constants of all output channels.
    pub channels: Channels<'a>,
}

impl<'a> Filters<'a> {
    /// Checks that filters and constants are as many as the tile needs.
    #[inline(never)]
    pub fn of(
        op: &Conv,
        tile: &Tile,
        input: &Source<'_>,
        weights: &'a [u8],
        channels: Channels<'a>,
    ) -> Result<Self, KernelError> {
        op.window.check()?;
        let (inputs, outputs) = (input.layout.channels, tile.channels);
        if op.groups == 0
            || outputs == 0
            || !inputs.is_multiple_of(op.groups)
            || !outputs.is_multiple_of(op.groups)
        {
            return Err(KernelError::Shape);
        }
        let group_inputs = inputs / op.groups;
        let area = op.window.size[0].checked_mul(op.window.size[1]);
        let length = area.and_then(|area| area.checked_mul(group_inputs)).unwrap_or(usize::MAX);
        let bytes = outputs.checked_mul(length).and_then(|length| weights.get(..length));
        let bytes = bytes.ok_or(KernelError::ConstantsTooShort)?;
        if length == 0 || channels.len() < outputs {
            return Err(KernelError::ConstantsTooShort);
        }
        Ok(Self { bytes, length, inputs: group_inputs, outputs: outputs / op.groups, channels })
    }

    /// Computes the output channels from `first` on of a pixel whose window's taps are given: as many
    /// as there are bytes.
    #[inline(never)]
    pub fn results(
        &self,
        op: &Conv,
        input: &Source<'_>,
        taps: [Taps; 2],
        first: usize,
        bytes: &mut [u8],
        patch: &mut Patch,
    ) -> Result<(), KernelError> {
        if SMALL {
            return self.one_by_one(op, input, taps, first, bytes);
        }
        let mut patch = patch.get_mut(..self.length);
        let (mut channel, mut rest) = (first, bytes);
        while !rest.is_empty() {
            // The outputs of one group.
            let group = channel / self.outputs.max(1);
            let count = ((group + 1) * self.outputs - channel).clamp(1, rest.len());
            let (bytes, behind) = rest.split_at_mut_checked(count).unwrap_or_default();
            let seen = Seen::new(op, input, taps, self, group);
            if let Some(patch) = &mut patch {
                seen.copy(patch)?;
            }
            let filters = self.bytes.get(channel * self.length..).unwrap_or(&[]);
            let channels = self.channels.from(channel);
            seen.results(patch.as_deref(), filters, self.length, channels, bytes)?;
            channel += count;
            rest = behind;
        }
        Ok(())
    }

    /// The same, an output channel at a time.
    fn one_by_one(
        &self,
        op: &Conv,
        input: &Source<'_>,
        [rows, columns]: [Taps; 2],
        first: usize,
        bytes: &mut [u8],
    ) -> Result<(), KernelError> {
        let window = &op.window;
        let [rows, columns] = [Along::of(&rows, window, 0), Along::of(&columns, window, 1)];
        for (channel, byte) in (first..).zip(bytes) {
            let reached = Reached {
                input,
                first: channel / self.outputs.max(1) * self.inputs,
                count: self.inputs,
                weights: self.bytes.get(channel * self.length..).unwrap_or(&[]),
                pitch: [op.window.size[1] * self.inputs, self.inputs],
                zeros: [op.input_zero, op.weight_zero],
            };
            let sum = reached.sum(&rows, &columns)?;
            op.output.write(&[sum], self.channels.from(channel), core::slice::from_mut(byte));
        }
        Ok(())
    }
}

/// Computes the output channels of a group from sums of products that begin with `start`.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn finish(
    op: &Conv,
    pixel: &mut [u8],
    filters: &[u8],
    filter: usize,
    channels: Channels<'_>,
    start: i32,
    block: impl Fn([&[u8]; BLOCK], &mut [i32; BLOCK]) -> Result<(), KernelError>,
    single: impl Fn(&[u8]) -> Result<i32, KernelError>,
) -> Result<(), KernelError> {
    let (blocks, rest) = pixel.as_chunks_mut::<BLOCK>();
    let done = blocks.len() * BLOCK;
    let block_filters = parts(filters, BLOCK, filter);
    for (index, (bytes, filters)) in blocks.iter_mut().zip(block_filters).enumerate() {
        let mut sums = [start; BLOCK];
        block(split_filters(filters, filter), &mut sums)?;
        op.output.write(&sums, channels.from(index * BLOCK), bytes);
    }
    let rest_filters = parts(filters, 1, filter).skip(done);
    for (offset, (to, filter)) in rest.iter_mut().zip(rest_filters).enumerate() {
        let sum = single(filter)?;
        op.output.write(&[sum], channels.from(done + offset), core::slice::from_mut(to));
    }
    Ok(())
}

/// Takes a run of input bytes that meets a run of a filter, with the filter's offset.
type Visit<'v> = dyn FnMut(&[u8], usize) -> Result<(), KernelError> + 'v;

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

impl<'s, 'a> Seen<'s, 'a> {
    #[inline(always)]
    fn new(
        op: &'s Conv,
        input: &'s Source<'a>,
        [rows, columns]: [Taps; 2],
        filters: &Filters<'_>,
        group: usize,
    ) -> Self {
        let group_inputs = filters.inputs;
        Self { op, input, rows, columns, group_inputs, first: group * group_inputs }
    }

    /// Computes output channels of the group: as many as there are bytes. `patch` is what
    /// [`Seen::copy`] made, if filters of `length` bytes are short enough for one.
    #[inline(never)]
    fn results(
        &self,
        patch: Option<&[i16]>,
        filters: &[u8],
        length: usize,
        channels: Channels<'_>,
        bytes: &mut [u8],
    ) -> Result<(), KernelError> {
        let start = self.start()?;
        if let Some(patch) = patch {
            let (block, single) = (
                |filters: [&[u8]; BLOCK], sums: &mut [i32; BLOCK]| {
                    dot_block(patch, filters, 0, sums);
                    Ok(())
                },
                |filter: &[u8]| Ok(dot(patch, filter, 0, start)),
            );
            finish(self.op, bytes, filters, length, channels, start, block, single)
        } else {
            let (block, single) = (
                |filters: [&[u8]; BLOCK], sums: &mut [i32; BLOCK]| self.block(filters, sums),
                |filter: &[u8]| self.single(filter, start),
            );
            finish(self.op, bytes, filters, length, channels, start, block, single)
        }
    }

    /// What sums begin with: −weight zero · Σ (x − input zero), the same for all output channels.
    #[inline(always)]
    fn start(&self) -> Result<i32, KernelError> {
        let (zero, factor) = (i32::from(self.op.input_zero), i32::from(self.op.weight_zero));
        let mut sum = 0;
        if factor != 0 {
            self.runs(&mut |inputs, _| {
                sum = less_sum(inputs, zero, factor, sum);
                Ok(())
            })?;
        }
        Ok(sum)
    }

    /// Copies what the filters see, in their order, without zero point.
    #[inline(never)]
    fn copy(&self, patch: &mut [i16]) -> Result<(), KernelError> {
        let [height, width] = self.op.window.size;
        if self.rows.count < height || self.columns.count < width {
            patch.fill(0);
        }
        let zero = i16::from(self.op.input_zero);
        self.runs(&mut |inputs, start| {
            let to = patch.get_mut(start..start.wrapping_add(inputs.len()));
            for (to, x) in to.ok_or(KernelError::Shape)?.iter_mut().zip(inputs) {
                *to = i16::from(*x as i8) - zero;
            }
            Ok(())
        })
    }

    /// Sums of products of [`BLOCK`] output channels.
    fn block(&self, filters: [&[u8]; BLOCK], sums: &mut [i32; BLOCK]) -> Result<(), KernelError> {
        let zero = i32::from(self.op.input_zero);
        self.runs(&mut |inputs, start| {
            dot_block(inputs, filters.map(|f| f.get(start..).unwrap_or(&[])), zero, sums);
            Ok(())
        })
    }

    /// Sum of products of one output channel and `start`.
    fn single(&self, filter: &[u8], start: i32) -> Result<i32, KernelError> {
        let zero = i32::from(self.op.input_zero);
        let mut sum = start;
        self.runs(&mut |inputs, start| {
            sum = dot(inputs, filter.get(start..).unwrap_or(&[]), zero, sum);
            Ok(())
        })?;
        Ok(sum)
    }

    /// Visits runs of input bytes that meet runs of a filter, with the filter's offset.
    #[inline(never)]
    fn runs(&self, visit: &mut Visit<'_>) -> Result<(), KernelError> {
        let Self { op, input, rows, columns, group_inputs, first } = self;
        if columns.count == 0 {
            return Ok(());
        }
        let layout = &input.layout;
        let filter_row = op.window.size[1] * group_inputs;
        let filter_start = columns.first * group_inputs;
        let start = layout.column(columns.position).wrapping_add(*first);
        let contiguous = op.groups == 1 && op.window.dilation[1] == 1 && layout.is_dense();
        let (runs, run, step) = if contiguous {
            (1, columns.count * group_inputs, 0)
        } else {
            let step = layout.column_pitch.wrapping_mul(op.window.dilation[1] as usize);
            (columns.count, *group_inputs, step)
        };
        let mut y = rows.position;
        for tap in rows.first..rows.first + rows.count {
            let line = input.row(y)?;
            let mut start = start;
            let mut filter = tap * filter_row + filter_start;
            for _ in 0..runs {
                let inputs = line.get(start..start.wrapping_add(run));
                visit(inputs.ok_or(KernelError::OutOfBounds)?, filter)?;
                start = start.wrapping_add(step);
                filter += group_inputs;
            }
            y = y.wrapping_add(op.window.dilation[0]);
        }
        Ok(())
    }
}
