//! Convolution, grouped and dilated; weights OHWI.

use super::SMALL;
use super::dot::{BLOCK, add_block, less_sum};
use super::reached::{Along, Reached, each_pixel};
use crate::channels::Channels;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile, Window};

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
    let mut patch = EMPTY;
    let along = |axis: usize, at: i32| Along::seen(&op.window, axis, at, tile);
    pixels(op, tile, input, output, weights, channels, &mut patch, &along)
}

/// Convolves a tile of which an output coordinate sees these taps along an axis.
#[expect(clippy::too_many_arguments, reason = "operands, and what differs")]
#[inline(never)]
pub(super) fn pixels(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
    patch: &mut [i16],
    along: &dyn Fn(usize, i32) -> Along,
) -> Result<(), KernelError> {
    let filters = Filters::of(op, tile, input, weights, channels)?;
    if output.layout.channels < tile.channels {
        return Err(KernelError::Shape);
    }
    each_pixel(tile, output, &mut |[y, x], pixel| {
        filters.results(op, input, &[along(0, y), along(1, x)], 0, pixel, patch)
    })
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
    /// as there are bytes. What filters see that are no longer than the patch is copied there.
    #[inline(never)]
    pub fn results(
        &self,
        op: &Conv,
        input: &Source<'_>,
        taps: &[Along; 2],
        first: usize,
        bytes: &mut [u8],
        patch: &mut [i16],
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
            let inputs = self.inputs;
            let seen = Seen { op, input, taps, inputs, first: group * inputs };
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
        [rows, columns]: &[Along; 2],
        first: usize,
        bytes: &mut [u8],
    ) -> Result<(), KernelError> {
        for (channel, byte) in (first..).zip(bytes) {
            let reached = Reached {
                input,
                first: channel / self.outputs.max(1) * self.inputs,
                count: self.inputs,
                weights: self.bytes.get(channel * self.length..).unwrap_or(&[]),
                pitch: [op.window.size[1] * self.inputs, self.inputs],
                zeros: [op.input_zero, op.weight_zero],
            };
            let sum = reached.sum(rows, columns)?;
            op.output.write(&[sum], self.channels.from(channel), core::slice::from_mut(byte));
        }
        Ok(())
    }
}

/// Takes a run of input bytes that meets a run of a filter, with the filter's offset.
type Visit<'v> = dyn FnMut(&[u8], usize) -> Result<(), KernelError> + 'v;

/// What one output pixel of one group sees of the input.
struct Seen<'s, 'a> {
    op: &'s Conv,
    input: &'s Source<'a>,
    taps: &'s [Along; 2],
    /// Input channels of a group, and the first of this group.
    inputs: usize,
    first: usize,
}

impl Seen<'_, '_> {
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
        for (block, bytes) in bytes.chunks_mut(BLOCK).enumerate() {
            let filters = filters.get(block * BLOCK * length..).unwrap_or(&[]);
            let mut sums = [start; BLOCK];
            if let Some(patch) = patch {
                add_block(patch, filters, length, bytes.len(), 0, &mut sums);
            } else {
                let (zero, count) = (i32::from(self.op.input_zero), bytes.len());
                self.runs(&mut |inputs, start| {
                    let behind = filters.get(start..).unwrap_or(&[]);
                    add_block(inputs, behind, length, count, zero, &mut sums);
                    Ok(())
                })?;
            }
            self.op.output.write(&sums, channels.from(block * BLOCK), bytes);
        }
        Ok(())
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
        let ([height, width], [rows, columns]) = (self.op.window.size, self.taps);
        if rows.count < height || columns.count < width {
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

    /// Visits runs of input bytes that meet runs of a filter, with the filter's offset.
    #[inline(never)]
    fn runs(&self, visit: &mut Visit<'_>) -> Result<(), KernelError> {
        let Self { op, input, taps: [rows, columns], inputs, first } = self;
        if columns.count == 0 {
            return Ok(());
        }
        let layout = &input.layout;
        let start = layout.column(columns.place).wrapping_add(*first);
        let contiguous =
            op.groups == 1 && columns.step == 1 && columns.ahead == 1 && layout.is_dense();
        let (runs, run) =
            if contiguous { (1, columns.count * inputs) } else { (columns.count, *inputs) };
        let step = layout.column_pitch.wrapping_mul(columns.ahead as usize);
        let (mut y, mut tap) = (rows.place, rows.first);
        for _ in 0..rows.count {
            let line = input.row(y)?;
            let mut start = start;
            let mut filter = (tap * op.window.size[1] + columns.first) * inputs;
            for _ in 0..runs {
                let seen = line.get(start..start.wrapping_add(run));
                visit(seen.ok_or(KernelError::OutOfBounds)?, filter)?;
                start = start.wrapping_add(step);
                filter += columns.step * inputs;
            }
            y = y.wrapping_add(rows.ahead);
            tap += rows.step;
        }
        Ok(())
    }
}
