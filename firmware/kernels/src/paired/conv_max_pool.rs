//! Convolution with paired weights and max pooling in one.

use super::BLOCK;
use super::filters::Filters;
use super::four::{Places, compute, compute_fast};
use super::patch::{Activations, Input};
use crate::channels::Channels;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::ConvMaxPool;

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
    let mut activations = Activations::new();
    let places = [0, BLOCK, 2 * BLOCK, 3 * BLOCK];
    let input = &Input::new(&op.conv, tile, input);
    op.keep(tile, output, &mut |y, columns, channels, results| {
        let [a, b, c, d] = columns;
        let pixels = [[y, a], [y, b], [y, c], [y, d]];
        let seen = input.seen(&pixels);
        let (first, count) = (channels.start, channels.len());
        let to = Places { bytes: results, places: &places };
        if let Some(pairs) = filters.pairs([first, count], op.conv.output.zero) {
            let activations = match first {
                0 => activations.load(input, &seen, 0..filters.length)?,
                _ => activations.loaded(filters.length),
            };
            compute_fast(input, &filters, &pairs, activations, [first, count], to)
        } else {
            compute(input, &filters, &mut activations, &seen, [first, count], to)
        }
    })
}
