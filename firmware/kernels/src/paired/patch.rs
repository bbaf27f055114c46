//! What four output pixels see of the input, as activations for [`crate::dsp`].

use super::filters::Filters;
use super::fully_connected::expand_vector;
use super::{CHUNK, SMALL};
use crate::dsp::sparse::{COLUMNS, Four, One, pair_neighbours};
use crate::dsp::{
    EMPTY, Edges, Eight, PIXELS, Quad, Windows, activations, copy_rows, even_bytes, expand_four,
    odd_bytes, word,
};
use crate::dsp::{high_halves, low_halves};
use crate::error::KernelError;
use crate::geometry::{Source, Taps, Tile};
use crate::portable::Conv;
use core::ops::Range;

const _: () = assert!(Windows::PATCHES == CHUNK);

/// Activations of four pixels for up to [`CHUNK`] values of a filter.
pub struct Activations {
    quads: [Quad; CHUNK / 4],
    /// What one pixel sees, where that has padding or is no whole words.
    patch: [u8; CHUNK],
}

/// The input of a layer's tile.
#[derive(Clone, Copy)]
pub struct Input<'s, 'a> {
    pub op: &'s Conv,
    pub tile: &'s Tile,
    pub source: &'s Source<'a>,
    /// Whether a row of a window is one run of bytes.
    in_one: bool,
    /// Rows and columns from a window's first to its last.
    ahead: [usize; 2],
}

/// What an output pixel sees.
enum Window<'a> {
    /// A whole window: the bytes from its first value on.
    Whole(&'a [u8]),
    /// The taps that see input, down and across; or a window whose rows wrap.
    Part([Taps; 2]),
}

/// What four output pixels see.
pub struct Seen<'p, 'a> {
    pixels: &'p [[i32; 2]; PIXELS],
    /// Of pixels that follow each other in a row and see whole windows: the bytes from the first's first
    /// value on, and from a window to the next.
    row: Option<(&'a [u8], usize)>,
}

impl<'s, 'a> Input<'s, 'a> {
    pub fn new(op: &'s Conv, tile: &'s Tile, source: &'s Source<'a>) -> Self {
        let window = &op.window;
        let in_one = window.dilation[1] == 1 && source.layout.is_dense();
        let ahead = [0, 1].map(|axis| {
            window.size[axis].wrapping_sub(1).wrapping_mul(window.dilation[axis] as usize)
        });
        Self { op, tile, source, in_one, ahead }
    }

    /// Bytes from a window to the next in its row.
    #[inline(always)]
    pub fn step(&self) -> usize {
        self.source.layout.column_pitch.wrapping_mul(self.op.window.stride[1] as usize)
    }

    /// Windows of output pixels that follow each other in a row, if each row of one is a run of bytes.
    pub fn windows(&self) -> Option<Windows> {
        let (window, layout) = (&self.op.window, &self.source.layout);
        let step = layout.column_pitch.checked_mul(window.stride[1] as usize)?;
        let pitch = layout.row_pitch.checked_mul(window.dilation[0] as usize)?;
        let length = window.size[1].checked_mul(layout.channels)?;
        let windows = Windows::new(step, window.size[0], pitch, length);
        windows.filter(|_| self.in_one || window.size[1] == 1)
    }

    /// The outputs along an axis whose windows have no padding.
    pub fn unpadded(&self, axis: usize) -> Range<i32> {
        let outputs = self.tile.outputs(axis);
        let unpadded = |output: &i32| self.padded_taps(axis, *output) == [0; 2];
        let start = outputs.clone().find(unpadded).unwrap_or(outputs.end);
        let end = outputs.rev().find(unpadded).map_or(start, |last| last + 1);
        start..end
    }

    /// Taps before and behind those that see input, along an axis.
    #[inline(never)]
    fn padded_taps(&self, axis: usize, output: i32) -> [usize; 2] {
        let window = &self.op.window;
        let taps = window.taps(axis, output, self.tile);
        [taps.first, window.size[axis].saturating_sub(taps.first + taps.count)]
    }

    /// Finds what of the windows of four output pixels in a row, from column `x` on, is padding, apart from
    /// whole rows.
    #[inline(never)]
    pub fn find_edges(&self, x: i32, edges: &mut Edges) {
        for (ahead, bytes) in edges.bytes.iter_mut().enumerate() {
            let taps = self.padded_taps(1, x.wrapping_add(ahead as i32));
            *bytes = taps.map(|taps| taps.wrapping_mul(self.source.layout.channels));
        }
        edges.zero = self.op.input_zero;
    }

    /// What four output pixels see, each given by row and column.
    #[inline(always)]
    pub fn seen<'p>(&self, pixels: &'p [[i32; 2]; PIXELS]) -> Seen<'p, 'a> {
        let [first, .., last] = pixels;
        let columns = PIXELS as i32 - 1;
        let in_row = first[0] == last[0] && last[1].wrapping_sub(first[1]) == columns;
        let bytes = if in_row { self.whole(*first, columns) } else { None };
        Seen { pixels, row: bytes.map(|bytes| (bytes, self.step())) }
    }

    #[inline(never)]
    fn seen_by(&self, seen: &Seen<'_, 'a>, pixel: usize) -> Window<'a> {
        if let Some((bytes, step)) = seen.row {
            return Window::Whole(bytes.get(step.wrapping_mul(pixel)..).unwrap_or(&[]));
        }
        let (window, at) = (&self.op.window, seen.pixels[pixel % PIXELS]);
        match self.whole(at, 0) {
            Some(bytes) => Window::Whole(bytes),
            None => {
                Window::Part([window.taps(0, at[0], self.tile), window.taps(1, at[1], self.tile)])
            }
        }
    }

    /// The bytes from the first on that the output pixel at (y, x) sees, if that one and `behind`
    /// more in its row have no padding and rows do not wrap.
    #[inline(never)]
    fn whole(&self, at: [i32; 2], behind: i32) -> Option<&'a [u8]> {
        self.place(at, behind).map(|place| self.source.bytes_from(place))
    }

    /// Where the bytes of [`Self::whole`] begin.
    #[inline]
    pub fn place(&self, at: [i32; 2], behind: i32) -> Option<usize> {
        let (window, tile, [rows, columns]) = (&self.op.window, self.tile, self.ahead);
        let origin = |axis: usize| {
            at[axis].wrapping_mul(window.stride[axis]).wrapping_sub(window.padding[axis])
        };
        let [y, x] = [origin(0), origin(1)];
        let columns = columns.wrapping_add(window.stride[1].wrapping_mul(behind) as usize);
        let inside = |axis: usize, origin: i32, ahead: usize| {
            let last = tile.valid_end[axis].saturating_sub(ahead as i32);
            origin >= tile.valid_start[axis] && origin < last
        };
        if !inside(0, y, rows) || !inside(1, x, columns) {
            return None;
        }
        let (place, run) = self.source.layout.run([y, x], columns.wrapping_add(1))?;
        (rows < run).then_some(place)
    }

    /// Visits the runs of a whole window that meet values `range` of the filter: each one's place in
    /// the range, its distance from the window's first value, and its length.
    #[inline(never)]
    fn runs(
        &self,
        range: &Range<usize>,
        visit: &mut dyn FnMut(usize, usize, usize) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let (window, layout) = (&self.op.window, &self.source.layout);
        let (runs, length) = match self.in_one {
            true => (1, window.size[1] * layout.channels),
            false => (window.size[1], layout.channels),
        };
        let pitch = |axis: usize, pitch: usize| pitch.wrapping_mul(window.dilation[axis] as usize);
        let (down, across) = (pitch(0, layout.row_pitch), pitch(1, layout.column_pitch));
        let (mut first, mut row) = (0, 0usize);
        for _ in 0..window.size[0] {
            let mut at = row;
            for _ in 0..runs {
                if let Some((skip, place, count)) = met(first, length, range) {
                    visit(place, at.wrapping_add(skip), count)?;
                }
                first += length;
                at = at.wrapping_add(across);
            }
            row = row.wrapping_add(down);
        }
        Ok(())
    }

    /// Copies what a pixel sees of values `range` of the filter.
    #[inline(never)]
    fn copy(
        &self,
        seen: &Window<'_>,
        range: &Range<usize>,
        patch: &mut [u8],
    ) -> Result<(), KernelError> {
        let (window, layout) = (&self.op.window, &self.source.layout);
        let [height, width] = window.size;
        // Whole rows of a window, as most filters have, or parts of such.
        let at_once = self.in_one && range.len() == height * width * layout.channels;
        let (bytes, [top, left], [rows, columns]) = match seen {
            Window::Whole(bytes) if !at_once => {
                return self.runs(range, &mut |place, from, count| {
                    let run = bytes.get(from..from.wrapping_add(count));
                    copy(patch, place, run.ok_or(KernelError::OutOfBounds)?)
                });
            }
            Window::Whole(bytes) => (*bytes, [0; 2], [height, width]),
            Window::Part([rows, columns]) => {
                patch.fill(self.op.input_zero as u8);
                if rows.count == 0 || columns.count == 0 {
                    return Ok(());
                }
                let at = [rows.position, columns.position];
                let (bytes, run) = self.source.run(at, columns.count)?;
                let ahead = (rows.count - 1).wrapping_mul(window.dilation[0] as usize);
                if !at_once || ahead >= run {
                    return self.copy_part([rows, columns], range, patch);
                }
                (bytes, [rows.first, columns.first], [rows.count, columns.count])
            }
        };
        let down = layout.row_pitch.wrapping_mul(window.dilation[0] as usize);
        let (length, next) = (columns * layout.channels, width * layout.channels);
        let to = patch.get_mut(top * next + left * layout.channels..).unwrap_or(&mut []);
        let copied = copy_rows(to, bytes, rows, length, [next, down]);
        if copied { Ok(()) } else { Err(KernelError::OutOfBounds) }
    }

    /// Copies what taps see of values `range` of the filter over padding.
    #[inline(never)]
    fn copy_part(
        &self,
        [rows, columns]: [&Taps; 2],
        range: &Range<usize>,
        patch: &mut [u8],
    ) -> Result<(), KernelError> {
        let (op, layout) = (self.op, &self.source.layout);
        let inputs = layout.channels;
        let across = layout.column_pitch.wrapping_mul(op.window.dilation[1] as usize);
        let (runs, length) = match self.in_one {
            true => (columns.count.min(1), columns.count * inputs),
            false => (columns.count, inputs),
        };
        let mut y = rows.position;
        for tap in rows.first..rows.first + rows.count {
            let line = self.source.row(y)?;
            let mut at = layout.column(columns.position);
            let mut first = (tap * op.window.size[1] + columns.first) * inputs;
            for _ in 0..runs {
                if let Some((skip, place, count)) = met(first, length, range) {
                    let from = at.wrapping_add(skip);
                    let run = line.get(from..from.wrapping_add(count));
                    copy(patch, place, run.ok_or(KernelError::OutOfBounds)?)?;
                }
                first += inputs;
                at = at.wrapping_add(across);
            }
            y = y.wrapping_add(op.window.dilation[0]);
        }
        Ok(())
    }
}

/// The part of a run of `length` values from `first` on that lies in a range: how many are left out
/// before it, its place in the range, and how many it has.
#[inline(always)]
fn met(first: usize, length: usize, range: &Range<usize>) -> Option<(usize, usize, usize)> {
    let skip = range.start.saturating_sub(first);
    let end = (first + length).min(range.end);
    let count = end.checked_sub(first + skip).filter(|count| *count > 0)?;
    Some((skip, first + skip - range.start, count))
}

impl Activations {
    #[inline(always)]
    pub const fn new() -> Self {
        Self { quads: [EMPTY; CHUNK / 4], patch: [0; CHUNK] }
    }

    /// What was loaded of the first `length` values.
    pub fn loaded(&self, length: usize) -> &[Quad] {
        self.quads.get(..length.div_ceil(4)).unwrap_or(&[])
    }

    /// Takes what windows see, whose first one begins with `bytes`; nothing if that is too short.
    #[inline]
    pub fn load_windows(
        &mut self,
        windows: &Windows,
        bytes: &[u8],
        edges: Option<&Edges>,
        count: usize,
    ) -> Option<&[Quad]> {
        let quads = self.quads.get_mut(..count)?;
        if windows.expand(bytes, &mut self.patch, quads, edges) { Some(quads) } else { None }
    }

    /// Takes what one of these pixels sees of all of a filter of whole [eights](Filters::are_eights).
    #[inline(never)]
    pub fn load_one(
        &mut self,
        input: &Input<'_, '_>,
        seen: &Seen<'_, '_>,
        pixel: usize,
        filters: &Filters<'_>,
    ) -> Result<&[Eight], KernelError> {
        let held = self.quads.as_flattened_mut().get_mut(..filters.entries / 2);
        let (held, patch) =
            held.zip(self.patch.get_mut(..filters.entries * 4)).ok_or(KernelError::Shape)?;
        input.copy(&input.seen_by(seen, pixel), &(0..filters.length), patch)?;
        expand_vector(patch, held);
        Ok(held)
    }

    /// Takes what four pixels see of values `range` of the filter, at most [`COLUMNS`], as pairs of neighbours.
    pub fn load_neighbours(
        &mut self,
        input: &Input<'_, '_>,
        seen: &Seen<'_, '_>,
        range: Range<usize>,
    ) -> Result<&Four, KernelError> {
        let count = self.load(input, seen, range)?.len();
        pair_neighbours(self.quads.get_mut(..count).unwrap_or(&mut []));
        self.quads.first_chunk().ok_or(KernelError::Shape)
    }

    /// Takes what one of these pixels sees of values `range` of the filter, at most [`COLUMNS`], as pairs of
    /// neighbours.
    #[inline(never)]
    pub fn load_neighbours_of_one(
        &mut self,
        input: &Input<'_, '_>,
        seen: &Seen<'_, '_>,
        pixel: usize,
        range: Range<usize>,
    ) -> Result<&One, KernelError> {
        let length = range.len().next_multiple_of(4).min(COLUMNS);
        let patch = self.patch.get_mut(..length).ok_or(KernelError::Shape)?;
        input.copy(&input.seen_by(seen, pixel), &range, patch)?;
        let held = self.quads.as_flattened_mut().as_flattened_mut();
        for (word, held) in patch.as_chunks().0.iter().map(word).zip(held.as_chunks_mut().0) {
            let (even, odd) = (even_bytes(word), odd_bytes(word));
            *held = [activations(low_halves(even, odd)), activations(high_halves(even, odd))];
        }
        self.quads.as_flattened().as_flattened().first_chunk().ok_or(KernelError::Shape)
    }

    /// Takes what four pixels see of values `range` of the filter: at most [`CHUNK`], from a
    /// multiple of four on.
    #[inline(never)]
    pub fn load(
        &mut self,
        input: &Input<'_, '_>,
        seen: &Seen<'_, '_>,
        range: Range<usize>,
    ) -> Result<&[Quad], KernelError> {
        let count = range.len().div_ceil(4);
        let quads = self.quads.get_mut(..count).ok_or(KernelError::Shape)?;
        let in_words = !SMALL && input.source.layout.channels.is_multiple_of(4);
        if in_words && let Some((bytes, step)) = seen.row {
            input.runs(&range, &mut |place, from, count| {
                let run = bytes.get(from..).unwrap_or(&[]);
                let quads = quads.get_mut(place / 4..).unwrap_or(&mut []);
                let quads = quads.get_mut(..count / 4).ok_or(KernelError::Shape)?;
                if expand_four(run, step, quads) { Ok(()) } else { Err(KernelError::OutOfBounds) }
            })?;
            return Ok(quads);
        }
        // Of short filters each pixel has a patch, and all are expanded together.
        let length = count * 4;
        let short = !SMALL && length * PIXELS <= CHUNK;
        for pixel in 0..PIXELS {
            let seen = input.seen_by(seen, pixel);
            if in_words
                && !short
                && let Window::Whole(bytes) = seen
            {
                input.runs(&range, &mut |place, from, count| {
                    let run = bytes.get(from..from.wrapping_add(count));
                    let quads = quads.get_mut(place / 4..).unwrap_or(&mut []);
                    expand(run.ok_or(KernelError::OutOfBounds)?, quads, pixel);
                    Ok(())
                })?;
                continue;
            }
            let patch = self.patch.get_mut(if short { pixel * length } else { 0 }..);
            let patch = patch.and_then(|patch| patch.get_mut(..length));
            let patch = patch.ok_or(KernelError::Shape)?;
            input.copy(&seen, &range, patch)?;
            if !short {
                expand(patch, quads, pixel);
            }
        }
        if short && !expand_four(&self.patch, length, quads) {
            return Err(KernelError::Shape);
        }
        Ok(quads)
    }
}

/// Copies a run to its place.
#[inline(never)]
fn copy(patch: &mut [u8], place: usize, from: &[u8]) -> Result<(), KernelError> {
    let to = patch.get_mut(place..).unwrap_or(&mut []);
    if copy_rows(to, from, 1, from.len(), [0; 2]) { Ok(()) } else { Err(KernelError::Shape) }
}

/// Gives a pixel the values of a run of whole words.
#[inline(never)]
fn expand(run: &[u8], quads: &mut [Quad], pixel: usize) {
    for (bytes, [even, odd]) in run.as_chunks().0.iter().zip(quads) {
        let word = word(bytes);
        even[pixel % PIXELS] = activations(even_bytes(word));
        odd[pixel % PIXELS] = activations(odd_bytes(word));
    }
}
