//! Convolution with paired weights and max pooling in one.

use super::filters::Filters;
use super::four::{Places, compute, compute_fast};
use super::patch::{Activations, Input, in_words};
use super::{BLOCK, CHUNK};
use crate::channels::Channels;
use crate::dsp::PIXELS;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::{ConvMaxPool, keep_largest, start_pool};

/// Convolves what the tile's windows see, and takes the largest value that each window sees: as
/// [`crate::portable::conv_max_pool`], with paired weights and constants (see [`super`]).
///
/// # Errors
/// [`KernelError`] as of [`super::conv`](super::conv()), and if a window sees no output of the
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
    match in_words(input) {
        true => pooled(op, tile, input, output, &filters, &mut []),
        false => patched(op, tile, input, output, &filters),
    }
}

/// With a patch, of which only those pay for making it that need one.
#[inline(never)]
fn patched(
    op: &ConvMaxPool,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    filters: &Filters<'_>,
) -> Result<(), KernelError> {
    pooled(op, tile, input, output, filters, &mut [0; CHUNK])
}

#[inline(never)]
fn pooled(
    op: &ConvMaxPool,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    filters: &Filters<'_>,
    patch: &mut [u8],
) -> Result<(), KernelError> {
    let [made_rows, made_columns] = op.made_by(tile, &output.layout)?;
    start_pool(output, tile)?;
    let layout = output.layout;
    let mut activations = Activations::new(patch);
    let mut results = [0; PIXELS * BLOCK];
    let places = [0, BLOCK, 2 * BLOCK, 3 * BLOCK];
    let input = &Input { op: &op.conv, tile, source: input };
    for y in made_rows {
        let over = op.windows(0, y, tile);
        if over.is_empty() {
            continue;
        }
        for first_x in made_columns.clone().step_by(PIXELS) {
            // The last column stands for those that are missing in the last four.
            let columns: [i32; PIXELS] =
                core::array::from_fn(|i| (first_x + i as i32).min(made_columns.end - 1));
            let seen = columns.map(|x| input.seen([y, x]));
            for first in (0..filters.outputs).step_by(BLOCK) {
                let count = (filters.outputs - first).min(BLOCK);
                let to = Places { bytes: &mut results, places };
                if filters.fast {
                    let activations = match first {
                        0 => activations.load(input, &seen, 0..filters.length)?,
                        _ => activations.loaded(filters.length),
                    };
                    compute_fast(input, filters, activations, [first, count], to)?;
                } else {
                    compute(input, filters, &mut activations, &seen, [first, count], to)?;
                }
                for (results, x) in results.chunks(BLOCK).zip(columns) {
                    let results = results.get(..count).unwrap_or(&[]);
                    for window_row in over.clone() {
                        let line = output.row(window_row)?;
                        for window_column in op.windows(1, x, tile) {
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
