//! Convolution with paired weights.

use super::filters::Filters;
use super::four::{Places, compute, compute_apart, compute_fast};
use super::patch::{Activations, Input};
use super::{BLOCK, SMALL};
use crate::channels::Channels;
use crate::dsp::{Edges, PIXELS, Pairs, Windows};
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
    let pairs = filters.pairs([0, outputs], op.output.zero);
    let mut swift = pairs.as_ref().and_then(|_| Swift::of(input));
    each_four(tile, |first, count, pixels| {
        if !SMALL && let (Some(swift), Some(pairs), None) = (&mut swift, &pairs, pixels) {
            let by = (filters, pairs);
            let done = swift.row(input, output, by, &mut activations, first, count)?;
            if done > 0 {
                return Ok(done);
            }
        }
        let row = in_row(first);
        let pixels = pixels.unwrap_or(&row);
        let seen = input.seen(pixels);
        let mut places = [0; PIXELS];
        output.places(pixels, outputs, &mut places)?;
        let bytes = output.bytes_from(0);
        if !SMALL && pixels[1] == pixels[3] && filters.are_eights() {
            // One pixel, or two, that are left over.
            let count = if pixels[0] == pixels[1] { 1 } else { 2 };
            let to = Places { bytes, places: &places };
            compute_apart(input, filters, &mut activations, &seen, count, to)?;
            return Ok(1);
        }
        if !SMALL && let Some(pairs) = &pairs {
            let activations = activations.load(input, &seen, 0..filters.length)?;
            let to = Places { bytes, places: &places };
            compute_fast(input, filters, pairs, activations, [0, outputs], to)?;
            return Ok(1);
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
        Ok(1)
    })
}

/// A layer of single pixels as one row of as many, if rows follow each other without gap in both
/// tensors and none has padding.
pub(super) fn flat<'i, 'o>(
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

/// Fours of pixels of one row of whose windows all rows see input.
struct Swift {
    windows: Windows,
    /// Outputs without padding along each axis.
    rows: Range<i32>,
    columns: Range<i32>,
    /// What of the windows of the fours from these columns on is padding.
    edges: [(i32, Edges); 2],
}

impl Swift {
    /// Nothing if no four can be one.
    fn of(input: &Input<'_, '_>) -> Option<Self> {
        let windows = input.windows()?;
        let [rows, columns] = [0, 1].map(|axis| input.unpadded(axis));
        let some = !rows.is_empty() && !columns.is_empty();
        // No four begins there.
        let edges = [(i32::MAX, Edges::NONE); 2];
        some.then_some(Self { windows, rows, columns, edges })
    }

    /// Computes fours in a row, the first of them from an output on, until there are `count` or one's windows
    /// do not lie in the input's bytes: gives how many.
    #[inline(never)]
    fn row(
        &mut self,
        input: &Input<'_, '_>,
        output: &mut Target<'_>,
        (filters, pairs): (&Filters<'_>, &Pairs<'_>),
        activations: &mut Activations,
        first: [i32; 2],
        count: usize,
    ) -> Result<usize, KernelError> {
        let pitch = output.layout.column_pitch;
        let step = input.step();
        let Some((mut from, mut to)) = self.four(input, &output.layout, first) else {
            return Ok(0);
        };
        let [_, mut x] = first;
        // Whether pairs are all that there is to compute.
        let plain = filters.outputs.is_multiple_of(2) && !input.op.output.is_narrow();
        let bytes = output.bytes_from(0);
        for done in 0..count {
            let edges = if self.inside(x) {
                None
            } else {
                // Those of a row's first four and of its last are the next row's.
                let (of, edges) = &mut self.edges[usize::from(x >= self.columns.start)];
                if *of != x {
                    input.find_edges(x, edges);
                    *of = x;
                }
                Some(&*edges)
            };
            let seen = input.source.bytes_from(from);
            let quads = activations.load_windows(&self.windows, seen, edges, filters.entries);
            let Some(quads) = quads else { return Ok(done) };
            let [a, b] = [to, to.wrapping_add(pitch)];
            let [c, d] = [b.wrapping_add(pitch), b.wrapping_add(pitch.wrapping_mul(2))];
            let places = &[a, b, c, d];
            if !plain {
                let four = Places { bytes: &mut *bytes, places };
                compute_fast(input, filters, pairs, quads, [0, filters.outputs], four)?;
            } else if !pairs.outputs(quads, bytes, places) {
                return Err(KernelError::OutOfBounds);
            }
            x = x.wrapping_add(PIXELS as i32);
            from = from.wrapping_add(step.wrapping_mul(PIXELS));
            to = d.wrapping_add(pitch);
        }
        Ok(count)
    }

    /// Whether the four from column `x` on sees no padding.
    #[inline(always)]
    fn inside(&self, x: i32) -> bool {
        x >= self.columns.start && self.columns.end.wrapping_sub(x) >= PIXELS as i32
    }

    /// Where the window of the first pixel of a four in a row begins, whatever lies there if that is
    /// padding, and where its output lies; either may wrap where nothing is.
    #[inline(always)]
    fn four(
        &self,
        input: &Input<'_, '_>,
        output: &Layout,
        [y, x]: [i32; 2],
    ) -> Option<(usize, usize)> {
        if !self.rows.contains(&y) {
            return None;
        }
        let start = self.columns.start;
        let behind = self.columns.end.wrapping_sub(start).wrapping_sub(1);
        let from = input.place([y, start], behind)?;
        let (to, _) = output.run([y, x], PIXELS)?;
        let ahead = x.wrapping_sub(start) as usize;
        Some((from.wrapping_add(ahead.wrapping_mul(input.step())), to))
    }
}

/// Four pixels in a row, from this one on.
#[inline(always)]
pub(super) const fn in_row([y, x]: [i32; 2]) -> [[i32; 2]; PIXELS] {
    [[y, x], [y, x.wrapping_add(1)], [y, x.wrapping_add(2)], [y, x.wrapping_add(3)]]
}

/// Visits the tile's output pixels in fours, row by row: the first of fours in one row and how many they are,
/// of which as many are done as is given back; or all pixels of one that is in several rows. The last one
/// stands for those that are missing in the last four.
#[inline(always)]
pub(super) fn each_four(
    tile: &Tile,
    mut visit: impl FnMut([i32; 2], usize, Option<&[[i32; 2]; PIXELS]>) -> Result<usize, KernelError>,
) -> Result<(), KernelError> {
    let (rows, columns) = (tile.outputs(0), tile.outputs(1));
    if rows.is_empty() || columns.is_empty() {
        return Ok(());
    }
    let (mut y, mut x, mut pixels) = (rows.start, columns.start, [[0; 2]; PIXELS]);
    while y < rows.end {
        let left = columns.end.wrapping_sub(x);
        if left >= PIXELS as i32 {
            let done = visit([y, x], left as usize / PIXELS, None)?;
            x += (PIXELS * done) as i32;
            if x >= columns.end {
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
        visit(pixels[0], 1, Some(&pixels))?;
        if x >= columns.end {
            break;
        }
    }
    Ok(())
}
