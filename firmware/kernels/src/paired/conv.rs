//! Convolution with paired weights.

use super::BLOCK;
use super::filters::Filters;
use super::four::{Places, compute, compute_fast};
use super::patch::{Activations, Input};
use crate::channels::Channels;
use crate::dsp::PIXELS;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::Conv;

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
    if output.layout.channels < filters.outputs {
        return Err(KernelError::Shape);
    }
    let input = &Input::new(op, tile, input);
    let mut activations = Activations::new();
    let outputs = filters.outputs;
    each_four(tile, |pixels| {
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
