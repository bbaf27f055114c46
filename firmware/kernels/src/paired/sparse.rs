//! Convolution and fully connected with weights that are stored without their zeros.

use super::SMALL;
use super::constants::{are_fast, fast, finish};
use super::conv::{each_four, flat, in_row};
use super::filters::Filters;
use super::patch::{Activations, Input, Seen};
use crate::channels::{Channel, Channels};
use crate::clamp::clamp;
use crate::dsp::PIXELS;
use crate::dsp::sparse::{self, COLUMNS, Rows};
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};
use crate::portable::{Conv, FullyConnected, as_pixel};
use core::ops::Range;

/// Most output channels whose sums are held at once.
pub const SPARSE_BLOCK: usize = 128;

/// Rows of weights without their zeros.
#[derive(Clone, Copy, Debug)]
pub struct SparseWeights<'a> {
    /// All of them, and nothing behind.
    pub rows: &'a [u8],
    /// Output channels whose rows are together, of filters with several: those of their first values, then of the
    /// next. Of filters with one row no matter.
    pub block: usize,
}

/// Sums of no products.
const NONE: Sums = [[0; PIXELS]; SPARSE_BLOCK];

type Sums = [[i32; PIXELS]; SPARSE_BLOCK];

/// Bytes of what a kernel holds on the stack, and of what the loops keep there.
const STACK: usize = size_of::<(Activations, Sums)>() + 512;
const _: () = assert!(STACK <= 8 * 1024);

/// Convolves a tile: as [`crate::portable::conv`], with constants as of [`super::conv`](super::conv()) and rows of
/// weights without their zeros (see [`super`]).
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile; also for groups, for weights with a zero point, for filters
/// longer than [`super::LONGEST`], for blocks of none or more than [`SPARSE_BLOCK`] channels, and where code is to be
/// small.
pub fn sparse_conv(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: SparseWeights<'_>,
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    if SMALL {
        return Err(KernelError::Shape);
    }
    let filters = Filters::of_length(op, tile, input, &[], channels, |_| 0)?;
    if output.layout.channels < filters.outputs {
        return Err(KernelError::Shape);
    }
    let count = filters.outputs.checked_mul(filters.length.div_ceil(COLUMNS));
    let rows = count.and_then(|count| Rows::new(weights.rows, count));
    let rows = rows.ok_or(KernelError::ConstantsTooShort)?;
    let block = if filters.length > COLUMNS { weights.block } else { SPARSE_BLOCK };
    if block == 0 || block > SPARSE_BLOCK {
        return Err(KernelError::Shape);
    }
    let layer = (&filters, rows, block);
    if let Some((tile, input, mut output)) = flat(op, tile, input, output) {
        return pixels(&Input::new(op, &tile, &input), &mut output, layer);
    }
    pixels(&Input::new(op, tile, input), output, layer)
}

/// Multiplies a vector by a matrix: as [`crate::portable::fully_connected`], with constants and weights as of
/// [`sparse_conv`].
///
/// # Errors
/// As [`sparse_conv`].
pub fn sparse_fully_connected(
    op: &FullyConnected,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: SparseWeights<'_>,
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    let (op, tile, input) = as_pixel(op, tile, input)?;
    sparse_conv(&op, &tile, &input, output, weights, channels)
}

/// Pixels by fours; one or two that are left over one by one.
#[inline(never)]
fn pixels(
    input: &Input<'_, '_>,
    output: &mut Target<'_>,
    (filters, rows, block): (&Filters<'_>, Rows<'_>, usize),
) -> Result<(), KernelError> {
    // Each in its own place, so that none is copied.
    let mut activations = Activations::new();
    let mut sums = NONE;
    let mut layer = Layer {
        input,
        filters,
        rows,
        block,
        is_fast: are_fast(filters.channels),
        activations: &mut activations,
        sums: &mut sums,
    };
    each_four(input.tile, |first, _, pixels| {
        let row = in_row(first);
        let pixels = pixels.unwrap_or(&row);
        let seen = input.seen(pixels);
        let mut places = [0; PIXELS];
        output.places(pixels, filters.outputs, &mut places)?;
        let bytes = output.bytes_from(0);
        if pixels[1] == pixels[3] {
            let count = if pixels[0] == pixels[1] { 1 } else { 2 };
            for (pixel, place) in places.iter().enumerate().take(count) {
                let bytes = bytes.get_mut(*place..).unwrap_or(&mut []);
                layer.one(&seen, pixel, bytes)?;
            }
        } else if layer.is_fast && filters.length <= COLUMNS {
            layer.four_fast(&seen, bytes, &places)?;
        } else {
            layer.four(&seen, bytes, &places)?;
        }
        Ok(1)
    })
}

/// A layer under way.
struct Layer<'l, 's, 'a> {
    input: &'l Input<'s, 'a>,
    filters: &'l Filters<'a>,
    rows: Rows<'a>,
    /// Output channels whose sums are held at once.
    block: usize,
    /// Whether all factors are fast.
    is_fast: bool,
    activations: &'l mut Activations,
    sums: &'l mut Sums,
}

impl Layer<'_, '_, '_> {
    /// The output channels whose sums are held together, and the values of a filter that are met together.
    fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        parts(self.filters.outputs, self.block)
    }

    /// All outputs of four pixels, whose activations are held whole, by factors that are all fast.
    fn four_fast(
        &mut self,
        seen: &Seen<'_, '_>,
        bytes: &mut [u8],
        places: &[usize; PIXELS],
    ) -> Result<(), KernelError> {
        let Self { input, filters, rows, .. } = *self;
        let held = self.activations.load_neighbours(input, seen, 0..filters.length)?;
        let (output, constants) = (&input.op.output, filters.channels.entries());
        let made = rows.outputs(held, constants, output.zero, bytes, places);
        made.ok_or(KernelError::OutOfBounds)?;
        if output.is_narrow() {
            for place in *places {
                let end = place.wrapping_add(filters.outputs);
                clamp(output, bytes.get_mut(place..end).unwrap_or(&mut []));
            }
        }
        Ok(())
    }

    /// All outputs of four pixels, whatever the filters' length and factors.
    #[inline(never)]
    fn four(
        &mut self,
        seen: &Seen<'_, '_>,
        bytes: &mut [u8],
        places: &[usize; PIXELS],
    ) -> Result<(), KernelError> {
        let Self { input, filters, mut rows, is_fast, .. } = *self;
        for block in self.blocks() {
            let sums = self.sums.get_mut(..block.len()).ok_or(KernelError::Shape)?;
            sums.fill([0; PIXELS]);
            for values in parts(filters.length, COLUMNS) {
                let held = self.activations.load_neighbours(input, seen, values)?;
                rows = rows.add(held, sums).ok_or(KernelError::ConstantsTooShort)?;
            }
            let channels = filters.channels.from(block.start);
            for ((channel, sums), constants) in block.zip(&*sums).zip(channels.iter()) {
                let four = made(sums, &constants, is_fast, &input.op.output);
                for (byte, place) in four.iter().zip(places) {
                    let to = bytes.get_mut(place.wrapping_add(channel));
                    *to.ok_or(KernelError::OutOfBounds)? = *byte;
                }
            }
        }
        Ok(())
    }

    /// All outputs of one of four pixels, whose bytes come first.
    #[inline(never)]
    fn one(
        &mut self,
        seen: &Seen<'_, '_>,
        pixel: usize,
        bytes: &mut [u8],
    ) -> Result<(), KernelError> {
        let Self { input, filters, mut rows, is_fast, .. } = *self;
        for block in self.blocks() {
            let sums = self.sums.as_flattened_mut().get_mut(..block.len());
            let sums = sums.ok_or(KernelError::Shape)?;
            sums.fill(0);
            for values in parts(filters.length, COLUMNS) {
                let held = self.activations.load_neighbours_of_one(input, seen, pixel, values)?;
                rows = rows.add_one(held, sums).ok_or(KernelError::ConstantsTooShort)?;
            }
            let channels = filters.channels.from(block.start);
            let bytes = bytes.get_mut(block).ok_or(KernelError::OutOfBounds)?;
            if is_fast {
                let output = &input.op.output;
                let constants = channels.first(sums.len()).entries();
                if !sparse::finish(sums, constants, output.zero, bytes) {
                    return Err(KernelError::ConstantsTooShort);
                }
                clamp(output, bytes);
                continue;
            }
            for ((sum, constants), byte) in sums.iter().zip(channels.iter()).zip(bytes) {
                finish(&[*sum], &constants, &input.op.output, core::slice::from_mut(byte));
            }
        }
        Ok(())
    }
}

/// The bytes of a channel's sums of products, whose factor is fast or not.
#[inline(always)]
fn made(sums: &[i32; PIXELS], entry: &Channel, is_fast: bool, output: &Output) -> [u8; PIXELS] {
    let mut bytes = [0; PIXELS];
    if is_fast {
        let fast = fast(entry, output.zero);
        for (byte, sum) in bytes.iter_mut().zip(sums) {
            *byte = output.clamp(fast.apply(sum.wrapping_add(entry.bias)) as u8);
        }
    } else {
        finish(sums, entry, output, &mut bytes);
    }
    bytes
}

/// A range from zero on in parts of so many.
fn parts(end: usize, each: usize) -> impl Iterator<Item = Range<usize>> {
    (0..end).step_by(each).map(move |start| start..end.min(start + each))
}
