//! Convolution with paired weights.

use super::BLOCK;
use super::filters::Filters;
use super::four::{Places, compute, compute_fast};
use super::patch::{Activations, Input};
use crate::channels::Channels;
use crate::dsp::{PIXELS, Windows};
use crate::error::KernelError;
use crate::geometry::{Layout, Source, Target, Tile};
use crate::portable::Conv;
use core::ops::Range;

/// Convolves a tile: as [`crate::portable::conv`], with paired weights and constants (see
/// [`super`]).
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile; also for groups, for weights with a zero
/// point, and for filters longer than [`super::LONGEST`].
pub fn conv(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    if let Some((flat, from, mut to)) = flat(op, tile, input, output) {
        return fours(op, &flat, &from, &mut to, weights, channels);
    }
    fours(op, tile, input, output, weights, channels)
}

/// Pixels by fours, row by row.
#[inline(never)]
fn fours(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    let filters = Filters::of(op, tile, input, weights, channels)?;
    if output.layout.channels < filters.outputs {
        return Err(KernelError::Shape);
    }
    let input = &Input::new(op, tile, input);
    let mut activations = Activations::new();
    let outputs = filters.outputs;
    let mut swift = Swift::of(input, &filters);
    each_four(tile, |pixels| {
        if let Some(swift) = &mut swift
            && let Some((bytes, start)) = swift.four(input, &output.layout, pixels)
            && let Some(quads) = activations.load_windows(&swift.windows, bytes, filters.entries)
        {
            let pitch = output.layout.column_pitch;
            let places =
                core::array::from_fn(|pixel| start.wrapping_add(pixel.wrapping_mul(pitch)));
            let to = Places { bytes: output.bytes_from(0), places };
            return compute_fast(input, &filters, quads, [0, outputs], to);
        }
        let seen = input.seen(pixels);
        let (places, bytes) = output.pixels(pixels, outputs)?;
        if filters.fast {
            let activations = activations.load(input, &seen, 0..filters.length)?;
            return compute_fast(
                input,
                &filters,
                activations,
                [0, outputs],
                Places { bytes, places },
            );
        }
        for first in (0..outputs).step_by(BLOCK) {
            let places = places.map(|place| place.wrapping_add(first));
            let part = [first, (outputs - first).min(BLOCK)];
            compute(input, &filters, &mut activations, &seen, part, Places { bytes, places })?;
        }
        Ok(())
    })
}

/// A layer of single pixels as one row of as many, if rows follow each other without gap in both
/// tensors and none has padding.
fn flat<'i, 'o>(
    op: &Conv,
    tile: &Tile,
    input: &Source<'i>,
    output: &'o mut Target<'_>,
) -> Option<(Tile, Source<'i>, Target<'o>)> {
    let window = &op.window;
    let single = window.size == [1, 1] && window.stride == [1, 1] && window.padding == [0, 0];
    let [rows, columns] = tile.output_size;
    let pixels = rows.checked_mul(columns)?;
    let whole = |axis: usize| {
        let outputs = tile.outputs(axis);
        outputs.start >= tile.valid_start[axis] && outputs.end <= tile.valid_end[axis]
    };
    let end = i32::try_from(pixels).ok()?;
    if !single || rows < 2 || columns == 0 || !whole(0) || !whole(1) {
        return None;
    }
    let (from, to) = (input.flat(tile)?, output.flat(tile)?);
    let flat = Tile {
        output_start: [0; 2],
        output_size: [1, pixels],
        channels: tile.channels,
        valid_start: [0; 2],
        valid_end: [1, end],
    };
    Some((flat, from, to))
}

/// Fours of pixels of one row whose windows have no padding, and what is known of the row.
struct Swift<'a> {
    windows: Windows,
    /// Outputs without padding along each axis.
    rows: Range<i32>,
    columns: Range<i32>,
    /// The row that the following is of.
    row: i32,
    /// What the window of the row's first output without padding sees, and all behind it.
    bytes: &'a [u8],
    /// Where that output lies.
    start: usize,
}

impl<'a> Swift<'a> {
    /// Nothing if no four can be one.
    fn of(input: &Input<'_, 'a>, filters: &Filters<'_>) -> Option<Self> {
        let windows = input.windows().filter(|_| filters.fast)?;
        let [rows, columns] = [0, 1].map(|axis| input.unpadded(axis));
        if rows.is_empty() || columns.len() < PIXELS {
            return None;
        }
        let row = rows.start.wrapping_sub(1);
        Some(Self { windows, rows, columns, row, bytes: &[], start: 0 })
    }

    /// What the first pixel's window sees and all behind it, and where its output lies.
    #[inline]
    fn four(
        &mut self,
        input: &Input<'_, 'a>,
        output: &Layout,
        [[y, x], .., last]: [[i32; 2]; PIXELS],
    ) -> Option<(&'a [u8], usize)> {
        let in_row = last[0] == y && last[1].wrapping_sub(x) == PIXELS as i32 - 1;
        if !in_row || x < self.columns.start || last[1] >= self.columns.end {
            return None;
        }
        if y != self.row {
            if !self.rows.contains(&y) {
                return None;
            }
            let first = [y, self.columns.start];
            self.bytes = input.whole(first, (self.columns.len() - 1) as i32).unwrap_or(&[]);
            self.start = output.run(first, self.columns.len())?.0;
            self.row = y;
        }
        let ahead = x.wrapping_sub(self.columns.start) as usize;
        let step = input.source.layout.column_pitch;
        let step = step.wrapping_mul(input.op.window.stride[1] as usize);
        let bytes = self.bytes.get(ahead.wrapping_mul(step)..)?;
        Some((bytes, self.start.wrapping_add(ahead.wrapping_mul(output.column_pitch))))
    }
}

/// Visits the tile's output pixels in fours, row by row; the last one stands for those that are
/// missing in the last four.
#[inline(always)]
fn each_four(
    tile: &Tile,
    mut visit: impl FnMut([[i32; 2]; PIXELS]) -> Result<(), KernelError>,
) -> Result<(), KernelError> {
    let (rows, columns) = (tile.outputs(0), tile.outputs(1));
    if rows.is_empty() || columns.is_empty() {
        return Ok(());
    }
    let [mut y, mut x] = [rows.start, columns.start];
    loop {
        let mut pixels = [[y, x]; PIXELS];
        let mut ended = false;
        for pixel in &mut pixels {
            *pixel = [y, x];
            let (next, down) =
                if x + 1 < columns.end { (x + 1, y) } else { (columns.start, y + 1) };
            ended = down >= rows.end;
            if !ended {
                [y, x] = [down, next];
            }
        }
        visit(pixels)?;
        if ended {
            return Ok(());
        }
    }
}
