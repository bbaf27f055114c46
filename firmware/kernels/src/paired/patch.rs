//! What four output pixels see of the input, as activations for [`crate::dsp`].

use super::CHUNK;
use crate::dsp::{EMPTY, PIXELS, Quad, activations, even_bytes, odd_bytes, store_word, word};
use crate::error::KernelError;
use crate::geometry::{Source, Taps, Tile};
use crate::portable::Conv;
use core::ops::Range;

/// Activations of four pixels for up to [`CHUNK`] values of a filter.
pub struct Activations<'p> {
    quads: [Quad; CHUNK / 4],
    /// Where runs of input are no whole words: [`CHUNK`] bytes, to which they are copied behind each
    /// other first. Else nothing.
    patch: &'p mut [u8],
}

/// Whether the input is read in runs of whole words.
pub const fn in_words(input: &Source<'_>) -> bool {
    input.layout.channels.is_multiple_of(4)
}

/// What an output pixel sees.
#[derive(Clone, Copy)]
pub struct Seen {
    pub rows: Taps,
    pub columns: Taps,
}

impl Seen {
    #[inline]
    fn is_whole(&self, op: &Conv) -> bool {
        [self.rows.count, self.columns.count] == op.window.size
    }
}

/// The input of a layer's tile.
#[derive(Clone, Copy)]
pub struct Input<'s, 'a> {
    pub op: &'s Conv,
    pub tile: &'s Tile,
    pub source: &'s Source<'a>,
}

impl<'a> Input<'_, 'a> {
    /// What the output pixel at (y, x) sees.
    #[inline(never)]
    pub fn seen(&self, [y, x]: [i32; 2]) -> Seen {
        let window = &self.op.window;
        Seen { rows: window.taps(0, y, self.tile), columns: window.taps(1, x, self.tile) }
    }

    /// Visits the runs of input that meet values `range` of the filter, each with its place in the
    /// range.
    #[inline(always)]
    fn runs<const N: usize>(
        &self,
        range: &Range<usize>,
        seen: [&Seen; N],
        mut visit: impl FnMut(usize, [&'a [u8]; N]) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let (op, layout) = (self.op, &self.source.layout);
        let Some(Seen { rows, columns }) = seen.first().copied().copied() else { return Ok(()) };
        let inputs = layout.channels;
        let row_values = op.window.size[1] * inputs;
        let in_one = op.window.dilation[1] == 1 && layout.is_dense();
        let (runs, length, step) = match in_one {
            true => (1, columns.count * inputs, 0),
            false => {
                let step = layout.column_pitch.wrapping_mul(op.window.dilation[1] as usize);
                (columns.count, inputs, step)
            }
        };
        if columns.count == 0 {
            return Ok(());
        }
        if in_one && *range == (0..op.window.size[0] * row_values) {
            // Rows whole, as most filters are.
            let mut starts = [0; N];
            let mut y = [0; N];
            for ((start, y), seen) in starts.iter_mut().zip(&mut y).zip(seen) {
                *start = layout.column(seen.columns.position);
                *y = seen.rows.position;
            }
            let mut first = rows.first * row_values + columns.first * inputs;
            for _ in 0..rows.count {
                let mut runs: [&[u8]; N] = [&[]; N];
                for ((run, y), start) in runs.iter_mut().zip(&mut y).zip(&starts) {
                    let found = self.source.row(*y)?.get(*start..start.wrapping_add(length));
                    *run = found.ok_or(KernelError::OutOfBounds)?;
                    *y = y.wrapping_add(op.window.dilation[0]);
                }
                visit(first, runs)?;
                first += row_values;
            }
            return Ok(());
        }
        let mut down = 0i32;
        for tap in rows.first..rows.first + rows.count {
            let mut first = tap * row_values + columns.first * inputs;
            if first >= range.end {
                break;
            }
            let mut lines: [&[u8]; N] = [&[]; N];
            for (line, seen) in lines.iter_mut().zip(seen) {
                let y = seen.rows.position.wrapping_add(down);
                *line = self.source.row(y)?;
            }
            down = down.wrapping_add(op.window.dilation[0]);
            let mut along = 0usize;
            for _ in 0..runs {
                // The part of first..first + length that lies in the range.
                let skip = range.start.saturating_sub(first);
                let end = (first + length).min(range.end);
                if let Some(count) = end.checked_sub(first + skip).filter(|count| *count > 0) {
                    let mut bytes: [&[u8]; N] = [&[]; N];
                    for ((bytes, line), seen) in bytes.iter_mut().zip(lines).zip(seen) {
                        let start = layout.column(seen.columns.position).wrapping_add(along);
                        let start = start.wrapping_add(skip);
                        let run = line.get(start..start.wrapping_add(count));
                        *bytes = run.ok_or(KernelError::OutOfBounds)?;
                    }
                    visit(first + skip - range.start, bytes)?;
                }
                first += inputs;
                along = along.wrapping_add(step);
            }
        }
        Ok(())
    }
}

impl<'p> Activations<'p> {
    #[inline(always)]
    pub const fn new(patch: &'p mut [u8]) -> Self {
        Self { quads: [EMPTY; CHUNK / 4], patch }
    }

    /// What was loaded of the first `length` values.
    pub fn loaded(&self, length: usize) -> &[Quad] {
        self.quads.get(..length.div_ceil(4)).unwrap_or(&[])
    }

    /// Takes what four pixels see of values `range` of the filter: at most [`CHUNK`], from a
    /// multiple of four on.
    #[inline(never)]
    pub fn load(
        &mut self,
        input: &Input<'_, '_>,
        seen: &[Seen; PIXELS],
        range: Range<usize>,
    ) -> Result<&[Quad], KernelError> {
        let count = range.len().div_ceil(4);
        let quads = self.quads.get_mut(..count).ok_or(KernelError::Shape)?;
        if self.patch.is_empty() && seen.iter().all(|seen| seen.is_whole(input.op)) {
            let [a, b, c, d] = seen;
            input.runs(&range, [a, b, c, d], |first, runs| {
                let quads = quads.get_mut(first / 4..).ok_or(KernelError::Shape)?;
                expand_four(runs, quads);
                Ok(())
            })?;
            return Ok(quads);
        }
        for (pixel, seen) in seen.iter().enumerate() {
            let whole = seen.is_whole(input.op);
            let zero = input.op.input_zero as u8;
            if self.patch.is_empty() {
                if !whole {
                    fill(zero, quads, pixel);
                }
                input.runs(&range, [seen], |first, [run]| {
                    let quads = quads.get_mut(first / 4..).ok_or(KernelError::Shape)?;
                    expand(run, quads, pixel);
                    Ok(())
                })?;
            } else {
                let patch = self.patch.get_mut(..count * 4).ok_or(KernelError::Shape)?;
                if !whole {
                    patch.fill(zero);
                }
                input.runs(&range, [seen], |first, [run]| {
                    let to = patch.get_mut(first..first.wrapping_add(run.len()));
                    copy(to.ok_or(KernelError::Shape)?, run);
                    Ok(())
                })?;
                expand(patch, quads, pixel);
            }
        }
        Ok(quads)
    }
}

/// Copies a short run by words, of which the last may lie over the one before.
#[inline(always)]
fn copy(to: &mut [u8], from: &[u8]) {
    if let (Some(to_last), Some(last)) = (to.last_chunk_mut::<4>(), from.last_chunk::<4>()) {
        store_word(to_last, word(last));
        for (to, from) in to.as_chunks_mut().0.iter_mut().zip(from.as_chunks().0) {
            store_word(to, word(from));
        }
    } else {
        for (to, from) in to.iter_mut().zip(from) {
            *to = *from;
        }
    }
}

/// Gives a pixel the same byte everywhere.
fn fill(byte: u8, quads: &mut [Quad], pixel: usize) {
    let value = activations(even_bytes(u32::from_le_bytes([byte; 4])));
    for [even, odd] in quads {
        for halves in [even, odd] {
            if let Some(to) = halves.get_mut(pixel) {
                *to = value;
            }
        }
    }
}

/// Gives a pixel the values of a run of whole words.
#[inline(always)]
fn expand(run: &[u8], quads: &mut [Quad], pixel: usize) {
    match pixel {
        0 => expand_one::<0>(run, quads),
        1 => expand_one::<1>(run, quads),
        2 => expand_one::<2>(run, quads),
        _ => expand_one::<3>(run, quads),
    }
}

#[inline(never)]
fn expand_one<const PIXEL: usize>(run: &[u8], quads: &mut [Quad]) {
    for (bytes, [even, odd]) in run.as_chunks().0.iter().zip(quads) {
        let word = word(bytes);
        even[PIXEL] = activations(even_bytes(word));
        odd[PIXEL] = activations(odd_bytes(word));
    }
}

/// Gives each pixel the values of its run; all have the same whole number of words.
#[inline(never)]
fn expand_four(runs: [&[u8]; PIXELS], quads: &mut [Quad]) {
    let [a, b, c, d] = runs.map(|run| run.as_chunks::<4>().0);
    for ((((a, b), c), d), [even, odd]) in a.iter().zip(b).zip(c).zip(d).zip(quads) {
        let words = [word(a), word(b), word(c), word(d)];
        *even = words.map(|word| activations(even_bytes(word)));
        *odd = words.map(|word| activations(odd_bytes(word)));
    }
}
