//! Convolution and max pooling in one: the convolution's output is never stored (Unlu, section
//! 3.1).
//!
//! Each result of the convolution is computed once and kept in the running maximum of every window
//! that it lies in. So windows may overlap, which the paper leaves open, without a line buffer; and
//! maxima start at the smallest value, not at the paper's zero, so that they need no rectifier.

use super::conv::{Conv, EMPTY, Filters};
use super::max_pool::keep_largest;
use super::reached::Along;
use crate::channels::Channels;
use crate::error::KernelError;
use crate::geometry::{Layout, Source, Target, Tile, Window};
use core::ops::Range;

/// What a convolution with a max pool behind it computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvMaxPool {
    /// The convolution; its clamp is that of both, since a maximum of clamped values is the clamped
    /// maximum.
    pub conv: Conv,
    /// The pool's window over the convolution's output; not dilated.
    pub pool: Window,
    /// Rows and columns of the convolution's whole output: what lies outside is the pool's padding.
    pub conv_size: [i32; 2],
}

/// Output channels whose results are kept at once, on the stack.
pub(crate) const BLOCK: usize = 32;

/// Columns of the convolution's output that are computed together.
pub(crate) const COLUMNS: usize = 4;

/// Results of [`COLUMNS`] columns, [`BLOCK`] channels each.
pub(crate) type Results = [u8; COLUMNS * BLOCK];

/// Convolves what the tile's windows see, and takes the largest value that each window sees.
///
/// The tile's output is the pool's; its valid box is one of the convolution's input. `weights` and
/// `channels`: as of [`conv`](super::conv()).
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile, or a window sees no output of the
/// convolution.
pub fn conv_max_pool(
    op: &ConvMaxPool,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    let filters = Filters::of(&op.conv, tile, input, weights, channels)?;
    let window = &op.conv.window;
    let mut patch = EMPTY;
    op.keep(tile, output, &mut |y, columns, channels, results| {
        let rows = Along::seen(window, 0, y, tile);
        for (results, x) in results.chunks_mut(BLOCK).zip(columns) {
            let results = results.get_mut(..channels.len()).unwrap_or(&mut []);
            let taps = [rows, Along::seen(window, 1, x, tile)];
            filters.results(&op.conv, input, &taps, channels.start, results, &mut patch)?;
        }
        Ok(())
    })
}

/// Computes results of the convolution: of a row, of [`COLUMNS`] columns, of some channels, at most
/// [`BLOCK`] from a multiple of it on. A row's columns may repeat.
pub(crate) type Convolve<'c> =
    dyn FnMut(i32, [i32; COLUMNS], Range<usize>, &mut Results) -> Result<(), KernelError> + 'c;

/// Sets the tile's outputs to the smallest value.
fn start_pool(output: &mut Target<'_>, tile: &Tile) -> Result<(), KernelError> {
    const SMALLEST: u8 = i8::MIN as u8;
    let layout = output.layout;
    for y in tile.outputs(0) {
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let start = layout.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(tile.channels));
            pixel.ok_or(KernelError::OutOfBounds)?.fill(SMALLEST);
        }
    }
    Ok(())
}

impl ConvMaxPool {
    /// Makes each of the tile's outputs the largest of the results that its window sees.
    #[inline(never)]
    pub(crate) fn keep(
        &self,
        tile: &Tile,
        output: &mut Target<'_>,
        convolve: &mut Convolve<'_>,
    ) -> Result<(), KernelError> {
        let [made_rows, made_columns] = self.made_by(tile, &output.layout)?;
        start_pool(output, tile)?;
        let layout = output.layout;
        let mut results = [0; COLUMNS * BLOCK];
        for y in made_rows {
            let over = self.windows(0, y, tile);
            if over.is_empty() {
                continue;
            }
            for first_x in made_columns.clone().step_by(COLUMNS) {
                // The last column stands for those that are missing in the last four.
                let columns: [i32; COLUMNS] =
                    core::array::from_fn(|i| (first_x + i as i32).min(made_columns.end - 1));
                for first in (0..tile.channels).step_by(BLOCK) {
                    let count = (tile.channels - first).min(BLOCK);
                    convolve(y, columns, first..first + count, &mut results)?;
                    for (results, x) in results.chunks(BLOCK).zip(columns) {
                        let results = results.get(..count).unwrap_or(&[]);
                        for window_row in over.clone() {
                            let line = output.row(window_row)?;
                            for window_column in self.windows(1, x, tile) {
                                let start = layout.column(window_column).wrapping_add(first);
                                let largest = line.get_mut(start..start.wrapping_add(count));
                                keep_largest(largest.ok_or(KernelError::OutOfBounds)?, results);
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Rows and columns of the convolution's output that a tile's windows see, once the pool is
    /// known to fit the output.
    fn made_by(&self, tile: &Tile, output: &Layout) -> Result<[Range<i32>; 2], KernelError> {
        self.pool.check()?;
        if output.channels < tile.channels || self.pool.dilation != [1, 1] {
            return Err(KernelError::Shape);
        }
        let pooled = Tile { valid_start: [0; 2], valid_end: self.conv_size, ..*tile };
        Ok([self.made(0, &pooled)?, self.made(1, &pooled)?])
    }

    /// Rows (axis 0) or columns (axis 1) of the convolution's output from the first that a window
    /// of the tile sees to the last. `pooled` is the tile with that output as its valid box.
    fn made(&self, axis: usize, pooled: &Tile) -> Result<Range<i32>, KernelError> {
        let outputs = pooled.outputs(axis);
        if outputs.is_empty() {
            return Ok(0..0);
        }
        // Windows move one way, so the first and the last tell of all.
        let first = self.pool.taps(axis, outputs.start, pooled);
        let last = self.pool.taps(axis, outputs.end.wrapping_sub(1), pooled);
        if first.count == 0 || last.count == 0 {
            return Err(KernelError::Shape);
        }
        Ok(first.position..last.position.saturating_add(last.count as i32))
    }

    /// The tile's outputs whose windows see this row or column of the convolution's output.
    #[inline]
    fn windows(&self, axis: usize, position: i32, tile: &Tile) -> Range<i32> {
        let stride = self.pool.stride[axis].max(1);
        let place = position.wrapping_add(self.pool.padding[axis]);
        let size = i32::try_from(self.pool.size[axis]).unwrap_or(i32::MAX);
        let all = tile.outputs(axis);
        // Window `o` begins at `o · stride` and ends before `o · stride + size`, in places.
        let behind = place.wrapping_sub(size);
        let first = if behind < 0 { 0 } else { behind / stride + 1 };
        let last = if place < 0 { -1 } else { place / stride };
        first.max(all.start)..last.saturating_add(1).min(all.end)
    }
}
