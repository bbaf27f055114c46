//! Convolution with paired weights.

use super::filters::Filters;
use super::four::{Places, compute, compute_fast};
use super::patch::{Activations, Input};
use super::{BLOCK, SMALL};
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
    let filters = Filters::of(op, tile, input, weights, channels)?;
    if !SMALL && let Some((tile, input, mut output)) = flat(op, tile, input, output) {
        return fours(op, &tile, &input, &mut output, &filters);
    }
    fours(op, tile, input, output, &filters)
}

/// Pixels by fours, row by row.
#[inline(never)]
pub fn fours(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    filters: &Filters<'_>,
) -> Result<(), KernelError> {
    if output.layout.channels < filters.outputs {
        return Err(KernelError::Shape);
    }
    let input = &Input::new(op, tile, input);
    let mut activations = Activations::new();
    let outputs = filters.outputs;
    let mut swift = if filters.are_fast() { Swift::of(input) } else { None };
    each_four(tile, |first, pixels| {
        if !SMALL
            && let (Some(swift), None) = (&mut swift, pixels)
            && let Some((place, start)) = swift.four(input, &output.layout, first)
        {
            let [_, x] = first;
            let edges = (!swift.inside(x)).then(|| input.edges(x));
            let bytes = input.source.bytes_from(place);
            let quads =
                activations.load_windows(&swift.windows, bytes, edges.as_ref(), filters.entries);
            if let Some(quads) = quads {
                let pitch = output.layout.column_pitch;
                let [a, b] = [start, start.wrapping_add(pitch)];
                let [c, d] = [b.wrapping_add(pitch), b.wrapping_add(pitch.wrapping_mul(2))];
                let to = Places { bytes: output.bytes_from(0), places: &[a, b, c, d] };
                return compute_fast(input, filters, quads, [0, outputs], to);
            }
        }
        let row = in_row(first);
        let pixels = pixels.unwrap_or(&row);
        let seen = input.seen(pixels);
        let mut places = [0; PIXELS];
        output.places(pixels, outputs, &mut places)?;
        let bytes = output.bytes_from(0);
        if !SMALL && filters.are_fast() {
            let activations = activations.load(input, &seen, 0..filters.length)?;
            let to = Places { bytes, places: &places };
            return compute_fast(input, filters, activations, [0, outputs], to);
        }
        let mut first = 0;
        while first < outputs {
            let part = [first, (outputs - first).min(BLOCK)];
            let to = Places { bytes, places: &places };
            compute(input, filters, &mut activations, &seen, part, to)?;
            for place in &mut places {
                *place = place.wrapping_add(BLOCK);
            }
            first += BLOCK;
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

/// Fours of pixels of one row of whose windows all rows see input, and what is known of the row.
struct Swift {
    windows: Windows,
    /// Outputs without padding along each axis.
    rows: Range<i32>,
    columns: Range<i32>,
    /// The row that the following is of.
    row: i32,
    /// Where the window of the row's first output without padding begins, and where that output lies;
    /// nothing if the window's rows do not follow each other.
    places: Option<[usize; 2]>,
}

impl Swift {
    /// Nothing if no four can be one.
    fn of(input: &Input<'_, '_>) -> Option<Self> {
        let windows = input.windows()?;
        let [rows, columns] = [0, 1].map(|axis| input.unpadded(axis));
        if rows.is_empty() || columns.is_empty() {
            return None;
        }
        Some(Self { windows, row: rows.start.wrapping_sub(1), rows, columns, places: None })
    }

    /// Whether the four from column `x` on sees no padding.
    #[inline(always)]
    fn inside(&self, x: i32) -> bool {
        x >= self.columns.start && self.columns.end.wrapping_sub(x) >= PIXELS as i32
    }

    /// Where the window of the first pixel of a four in a row begins, whatever lies there if that is
    /// padding, and where its output lies.
    #[inline(always)]
    fn four(
        &mut self,
        input: &Input<'_, '_>,
        output: &Layout,
        [y, x]: [i32; 2],
    ) -> Option<(usize, usize)> {
        if !self.rows.contains(&y) {
            return None;
        }
        if y != self.row {
            let first = [y, self.columns.start];
            let behind = self.columns.len() - 1;
            let from = input.place(first, behind as i32);
            let to = output.run(first, behind + 1);
            self.places = from.zip(to).map(|(from, (to, _))| [from, to]);
            self.row = y;
        }
        let [from, to] = self.places?;
        let ahead = x.wrapping_sub(self.columns.start) as isize;
        let step = input.source.layout.column_pitch;
        let step = step.wrapping_mul(input.op.window.stride[1] as usize) as isize;
        let from = from.checked_add_signed(ahead.wrapping_mul(step))?;
        let to = to.checked_add_signed(ahead.wrapping_mul(output.column_pitch as isize))?;
        Some((from, to))
    }
}

/// Four pixels in a row, from this one on.
#[inline(always)]
fn in_row([y, x]: [i32; 2]) -> [[i32; 2]; PIXELS] {
    [[y, x], [y, x.wrapping_add(1)], [y, x.wrapping_add(2)], [y, x.wrapping_add(3)]]
}

/// Visits the tile's output pixels in fours, row by row: the first, and all if they are not in one row;
/// the last one stands for those that are missing in the last four.
#[inline(always)]
fn each_four(
    tile: &Tile,
    mut visit: impl FnMut([i32; 2], Option<&[[i32; 2]; PIXELS]>) -> Result<(), KernelError>,
) -> Result<(), KernelError> {
    let (rows, columns) = (tile.outputs(0), tile.outputs(1));
    if rows.is_empty() || columns.is_empty() {
        return Ok(());
    }
    let (mut y, mut x, mut pixels) = (rows.start, columns.start, [[0; 2]; PIXELS]);
    while y < rows.end {
        let left = columns.end.wrapping_sub(x);
        if left >= PIXELS as i32 {
            visit([y, x], None)?;
            x += PIXELS as i32;
            if left == PIXELS as i32 {
                (y, x) = (y + 1, columns.start);
            }
            continue;
        }
        for pixel in &mut pixels {
            let last = y + 1 >= rows.end && x >= columns.end;
            *pixel = if last { [y, columns.end - 1] } else { [y, x] };
            x += i32::from(!last);
            if x >= columns.end && y + 1 < rows.end {
                (y, x) = (y + 1, columns.start);
            }
        }
        visit(pixels[0], Some(&pixels))?;
        if x >= columns.end {
            break;
        }
    }
    Ok(())
}
