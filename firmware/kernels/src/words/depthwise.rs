//! Depthwise convolution in planes.
//!
//! The output is cut into strips whose input fits planes on the stack. For each four channels of a
//! strip, the input is expanded into planes, which hold the zero point where there is padding, and
//! each channel is convolved on its own. Zero points are part of where the sums start.
//!
//! Outputs are computed in fours that follow each other along the planes' rows. Where fewer are left
//! over so, columns of the tensors are the planes' rows.

use crate::channels::Channels;
use crate::dsp::planes::{CHANNELS, Filter, Fitting, Kind, Pixels, Planes, Strip, Weights};
use crate::error::KernelError;
use crate::geometry::{Layout, Output, Source, Target, Tile};
use crate::portable::Conv;
use crate::portable::depthwise::{check, some_channels};
use core::ops::Range;

/// Fewer outputs of a channel are not worth the planes.
const LEAST_OUTPUTS: usize = 4;

/// Convolves each channel of a tile by itself, as [`portable::depthwise`](crate::portable::depthwise())
/// says.
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
    let layer = Layer { op, tile, input, weights, channels };
    let whole = tile.channels - tile.channels % CHANNELS;
    let fast = match layer.kind() {
        Some(kind) if whole > 0 => {
            layer.strips(kind, whole, output)?;
            whole
        }
        _ => 0,
    };
    if fast < tile.channels {
        layer.slow(fast..tile.channels, output)?;
    }
    Ok(())
}

/// What is computed, apart from where it goes.
struct Layer<'l, 'a> {
    op: &'l Conv,
    tile: &'l Tile,
    input: &'l Source<'a>,
    weights: &'l [u8],
    channels: Channels<'l>,
}

/// A part of the output: first row and column, rows and columns.
#[derive(Clone, Copy)]
struct Part {
    first: [i32; 2],
    size: [usize; 2],
}

impl Layer<'_, '_> {
    /// The loop that computes the layer, if there is one.
    fn kind(&self) -> Option<Kind> {
        let Conv { window, groups, weight_zero, .. } = self.op;
        let [rows, columns] = self.tile.output_size;
        let square = window.size[0] == window.size[1] && window.stride[0] == window.stride[1];
        let plain = *groups == 1 && *weight_zero == 0 && window.dilation == [1, 1] && square;
        let enough = rows.saturating_mul(columns) >= LEAST_OUTPUTS;
        if plain && enough { Kind::of(window.size[0], window.stride[0]) } else { None }
    }

    fn slow(&self, range: Range<usize>, output: &mut Target<'_>) -> Result<(), KernelError> {
        let Self { op, tile, input, weights, channels } = *self;
        some_channels(op, tile, input, output, weights, channels, range)
    }

    /// Which axis of the tensors lies along the planes' columns, and which along their rows.
    fn axes(&self, output: &Target<'_>) -> Axes {
        let [rows, columns] = self.tile.output_size;
        let in_one = self.input.layout.is_in_one() && output.layout.is_in_one();
        let turned = in_one && estimate(columns, rows) * 8 < estimate(rows, columns) * 7;
        if turned { Axes { down: 1, across: 0 } } else { Axes { down: 0, across: 1 } }
    }

    /// Computes the channels before `end`, a multiple of four.
    fn strips(&self, kind: Kind, end: usize, output: &mut Target<'_>) -> Result<(), KernelError> {
        let Axes { down, across } = self.axes(output);
        let (rows, columns) = (self.tile.output_size[down], self.tile.output_size[across]);
        let rows_each = share(rows, Strip::most_rows(kind), 1);
        let columns_each = share(columns, Strip::most_columns(kind), 4);
        let mut planes = Planes::new();
        let mut filters = [Filter::NONE; CHANNELS];
        for row in (0..rows).step_by(rows_each) {
            for column in (0..columns).step_by(columns_each) {
                let mut part = Part { first: self.tile.output_start, size: [0; 2] };
                part.first[down] = part.first[down].wrapping_add(row as i32);
                part.first[across] = part.first[across].wrapping_add(column as i32);
                part.size[down] = rows_each.min(rows - row);
                part.size[across] = columns_each.min(columns - column);
                let axes = Axes { down, across };
                self.part(kind, axes, &part, end, (&mut planes, &mut filters), output)?;
            }
        }
        Ok(())
    }

    /// Computes a part of the output that fits the planes.
    #[inline(never)]
    fn part(
        &self,
        kind: Kind,
        axes: Axes,
        part: &Part,
        end: usize,
        (planes, filters): (&mut Planes, &mut [Filter; CHANNELS]),
        output: &mut Target<'_>,
    ) -> Result<(), KernelError> {
        planes.fill(self.op.input_zero);
        // Apart, so that neither is copied.
        let mut pixels = [None; 2];
        let mut strips = [None; 2];
        self.see(kind, axes, part, end, &mut pixels)?;
        cut(kind, axes, part, &output.layout, &mut strips)?;
        let weights = self.weights(kind, axes);
        for first in (0..end).step_by(CHANNELS) {
            if weights.prepare(kind, first, filters).is_none() {
                let slow = Tile { output_start: part.first, output_size: part.size, ..*self.tile };
                Layer { tile: &slow, ..*self }.slow(first..first + CHANNELS, output)?;
                continue;
            }
            for pixels in pixels.iter().flatten() {
                planes.expand(pixels, first).ok_or(KernelError::OutOfBounds)?;
            }
            for (start, strip) in strips.iter().flatten() {
                let bytes = output.bytes_from(start.wrapping_add(first));
                planes.convolve(strip, filters, bytes).ok_or(KernelError::OutOfBounds)?;
            }
            if self.op.output.is_narrow() {
                clamp(&self.op.output, part, first, output)?;
            }
        }
        Ok(())
    }

    /// What a part sees of the input along an axis, and where in the planes that begins; there the
    /// first window starts at `lead`.
    fn seen(&self, kind: Kind, part: &Part, axis: usize, lead: usize) -> Seen {
        let origin = part.first[axis].wrapping_mul(kind.stride() as i32);
        let origin = origin.wrapping_sub(self.op.window.padding[axis]);
        let size = (part.size[axis] - 1) * kind.stride() + kind.taps();
        let start = origin.max(self.tile.valid_start[axis]);
        let end = origin.saturating_add(size as i32).min(self.tile.valid_end[axis]);
        let count = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
        Seen { start, count, place: lead.wrapping_add(start.wrapping_sub(origin) as usize) }
    }

    /// Finds what a part sees of the channels before `end`: rows that follow each other, and those
    /// behind where the tensor wraps.
    fn see<'s>(
        &'s self,
        kind: Kind,
        axes: Axes,
        part: &Part,
        end: usize,
        found: &mut [Option<Fitting<'s>>; 2],
    ) -> Result<(), KernelError> {
        let layout = &self.input.layout;
        let (rows, columns) =
            (self.seen(kind, part, axes.down, 0), self.seen(kind, part, axes.across, kind.lead()));
        let mut done = 0;
        for found in found {
            if done < rows.count && columns.count > 0 {
                let at = axes.of([rows.start.wrapping_add(done as i32), columns.start]);
                let (bytes, run) = self.input.run(at, axes.of([rows.count, columns.count])[1])?;
                let run = axes.together(run, rows.count - done);
                let pixels = Pixels {
                    bytes,
                    size: [run, columns.count],
                    pitch: axes.of([layout.row_pitch, layout.column_pitch]),
                    place: [rows.place + done, columns.place],
                    zero: self.op.input_zero,
                };
                *found = Some(pixels.fitting(end).ok_or(KernelError::OutOfBounds)?);
                done += run;
            }
        }
        Ok(())
    }

    /// What filters are made of.
    fn weights(&self, kind: Kind, axes: Axes) -> Weights<'_> {
        let tap = self.tile.channels;
        Weights {
            bytes: self.weights,
            pitch: axes.of([kind.taps().wrapping_mul(tap), tap]),
            channels: self.channels,
            zeros: [self.op.input_zero, self.op.output.zero],
        }
    }
}

/// Cuts the outputs of a part: rows that follow each other, and those behind where the tensor wraps;
/// each with where its first byte lies.
fn cut(
    kind: Kind,
    axes: Axes,
    part: &Part,
    layout: &Layout,
    found: &mut [Option<(usize, Strip)>; 2],
) -> Result<(), KernelError> {
    let pitch = axes.of([layout.row_pitch, layout.column_pitch]);
    let [rows, columns] = axes.of(part.size);
    let mut done = 0;
    for found in found {
        if done < rows {
            let mut at = part.first;
            at[axes.down] = at[axes.down].wrapping_add(done as i32);
            let place = layout.run(at, part.size[1]);
            let (start, run) = place.ok_or(KernelError::OutOfBounds)?;
            let run = axes.together(run, rows - done);
            let strip = Strip::new(kind, done * kind.stride(), [run, columns], pitch);
            *found = Some((start, strip.ok_or(KernelError::OutOfBounds)?));
            done += run;
        }
    }
    Ok(())
}

/// The axes of the tensors, 0 for rows and 1 for columns, that lie along the planes' columns and rows.
#[derive(Clone, Copy)]
struct Axes {
    down: usize,
    across: usize,
}

impl Axes {
    /// What belongs to the tensors' rows and columns, for the planes'; or the other way.
    fn of<T: Copy>(self, values: [T; 2]) -> [T; 2] {
        [values[self.down], values[self.across]]
    }

    /// How many rows of planes, of as many as are left, are taken together where `run` rows of a
    /// tensor follow each other.
    fn together(self, run: usize, left: usize) -> usize {
        if self.down == 0 { run.min(left) } else { left }
    }
}

/// About what rows of outputs take: blocks of four, pairs behind them, and the row itself.
const fn estimate(rows: usize, columns: usize) -> usize {
    rows.saturating_mul((columns / 4 * 4 + (columns % 4).div_ceil(2) * 3).saturating_add(1))
}

/// Rows or columns of the input.
struct Seen {
    /// The first (tensor coordinates), and how many.
    start: i32,
    count: usize,
    /// Row or column of the planes where the first goes.
    place: usize,
}

/// The size of parts, each at most `most`, multiples of `step` if there are several, that are about
/// the same.
fn share(size: usize, most: usize, step: usize) -> usize {
    if size <= most {
        return size.max(1);
    }
    let most = most - most % step;
    size.div_ceil(size.div_ceil(most)).next_multiple_of(step)
}

/// Clamps four channels of a part.
#[cold]
fn clamp(
    to: &Output,
    part: &Part,
    first: usize,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let column_pitch = output.layout.column_pitch;
    for row in 0..part.size[0] {
        let at = [part.first[0].wrapping_add(row as i32), part.first[1]];
        let (bytes, _) = output.run(at, part.size[1])?;
        for column in 0..part.size[1] {
            let start = first.wrapping_add(column.wrapping_mul(column_pitch));
            let bytes = bytes.get_mut(start..start.wrapping_add(CHANNELS));
            crate::clamp::clamp(to, bytes.ok_or(KernelError::OutOfBounds)?);
        }
    }
    Ok(())
}
