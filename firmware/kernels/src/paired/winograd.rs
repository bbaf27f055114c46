//! Convolution of 3x3 windows with transformed weights.

use super::SMALL;
use super::constants::{are_fast, finish};
use crate::channels::{Channel, Channels};
use crate::clamp::clamp;
use crate::dsp::winograd::{
    NOWHERE, POSITIONS, SIDE, TILE_PIXELS, TILES, TileSums, TileWeights, Tiles, add_tiles,
    outputs_of_tiles, start_sums, transform,
};
use crate::dsp::{Constants, EMPTY, are_at_words, copy_rows};
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::Conv;
use core::ops::Range;

/// Input channels whose values are held at once.
pub const WINOGRAD_CHUNK: usize = 32;

/// Output channels whose sums are held at once.
const BLOCK: usize = 32;

/// Most input channels: four times a sum with its offset, and a bias within ±2^27, stays within 32 bits.
pub const WINOGRAD_INPUTS: usize = 1364;
const _: () = assert!((9 * WINOGRAD_INPUTS as u64) * 255 * 128 + (1 << 27) <= 1 << 29);

/// Bytes of an output channel's transformed weights.
#[must_use]
pub const fn winograd_bytes(inputs: usize) -> usize {
    inputs * POSITIONS * 2
}

/// What the kernel holds on the stack.
struct Held<'h> {
    values: &'h mut Values,
    sums: &'h mut BlockSums,
    /// What a tile sees, where that has padding or rows that wrap.
    patch: &'h mut Patch,
}

type Values = [Tiles; POSITIONS * WINOGRAD_CHUNK / 2];
type BlockSums = [TileSums; BLOCK / 2];
type Patch = [u8; SIDE * SIDE * WINOGRAD_CHUNK];

/// Sums before they begin.
const NO_SUMS: BlockSums = [[0; 2 * TILE_PIXELS]; BLOCK / 2];

/// Bytes of that, and of what the loops keep there.
const STACK: usize = size_of::<(Values, BlockSums, Patch)>() + 768;
const _: () = assert!(STACK <= 8 * 1024);

/// Convolves a tile with windows of 3x3 that move by one pixel: as [`crate::portable::conv`], with constants as
/// of [`super::conv`](super::conv()) and transformed weights (see [`super`]).
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile; also for other windows, for groups, for weights with a
/// zero point, for input channels that are no multiple of four or more than [`WINOGRAD_INPUTS`], and where code is to
/// be small.
pub fn winograd(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    if SMALL {
        return Err(KernelError::Shape);
    }
    let filters = Filters::of(op, tile, input, weights, channels)?;
    if output.layout.channels < filters.outputs {
        return Err(KernelError::Shape);
    }
    // Each in its own place, so that none is copied.
    let mut values = [EMPTY[0]; POSITIONS * WINOGRAD_CHUNK / 2];
    let (mut sums, mut patch) = (NO_SUMS, [0; SIDE * SIDE * WINOGRAD_CHUNK]);
    let mut held = Held { values: &mut values, sums: &mut sums, patch: &mut patch };
    let [down, across] = tile.output_size.map(|size| size.div_ceil(2));
    let count = down.saturating_mul(across);
    for first in (0..count).step_by(TILES) {
        // The last tile stands for those that are missing in the last four.
        let tiles = core::array::from_fn(|ahead| {
            let at = (first + ahead).min(count - 1);
            let [y, x] = [at / across.max(1), at % across.max(1)].map(|at| 2 * at as i32);
            [tile.output_start[0].wrapping_add(y), tile.output_start[1].wrapping_add(x)]
        });
        let mut places = [NOWHERE; TILE_PIXELS];
        find(tile, output, &tiles, &mut places)?;
        for first in (0..filters.outputs).step_by(BLOCK) {
            let block = first..filters.outputs.min(first + BLOCK);
            held.add(op, tile, input, &tiles, &filters, block.clone())?;
            held.finish(op, output, &places, &filters, block)?;
        }
    }
    Ok(())
}

/// Filters and constants of a tile's output channels, checked.
struct Filters<'a> {
    inputs: usize,
    outputs: usize,
    weights: &'a [TileWeights],
    channels: Channels<'a>,
    /// Whether all channels are requantised fast.
    fast: bool,
}

impl<'a> Filters<'a> {
    fn of(
        op: &Conv,
        tile: &Tile,
        input: &Source<'_>,
        weights: &'a [u8],
        channels: Channels<'a>,
    ) -> Result<Self, KernelError> {
        let window = &op.window;
        let (inputs, outputs) = (input.layout.channels, tile.channels);
        let served = window.size == [3, 3] && window.stride == [1, 1] && window.dilation == [1, 1];
        let whole = inputs.is_multiple_of(4) && (4..=WINOGRAD_INPUTS).contains(&inputs);
        if !served || !whole || op.groups != 1 || op.weight_zero != 0 || outputs == 0 {
            return Err(KernelError::Shape);
        }
        let weights = weights.as_chunks().0;
        let needed = outputs.div_ceil(2).checked_mul(winograd_bytes(inputs) / 4);
        if needed.is_none_or(|needed| needed > weights.len()) || channels.len() < outputs {
            return Err(KernelError::ConstantsTooShort);
        }
        let channels = channels.first(outputs);
        let aligned = are_at_words(channels.entries());
        Ok(Self { inputs, outputs, weights, channels, fast: aligned && are_fast(channels) })
    }

    /// Entries of weights from a pair of output channels to the next.
    const fn stride(&self) -> usize {
        winograd_bytes(self.inputs) / 4
    }
}

/// Finds where the outputs of tiles lie, in the order of [`TileSums`]; those beside the tile's stay [`NOWHERE`].
#[inline(never)]
fn find(
    tile: &Tile,
    output: &Target<'_>,
    tiles: &[[i32; 2]; TILES],
    places: &mut [usize; TILE_PIXELS],
) -> Result<(), KernelError> {
    let layout = &output.layout;
    let [rows, columns] = [0, 1].map(|axis| tile.outputs(axis));
    for (index, [y, x]) in tiles.iter().enumerate() {
        let across = if x.saturating_add(1) < columns.end { 2 } else { 1 };
        for (row, y) in (*y..rows.end).take(2).enumerate() {
            let (start, _) = layout.run([y, *x], across).ok_or(KernelError::OutOfBounds)?;
            for column in 0..across {
                let at = index / 2 * 8 + row * 4 + column * 2 + index % 2;
                if let Some(place) = places.get_mut(at) {
                    *place = start.wrapping_add(column.wrapping_mul(layout.column_pitch));
                }
            }
        }
    }
    Ok(())
}

impl Held<'_> {
    /// Four times the sums of a block of output channels.
    #[inline(never)]
    fn add(
        &mut self,
        op: &Conv,
        tile: &Tile,
        input: &Source<'_>,
        tiles: &[[i32; 2]; TILES],
        filters: &Filters<'_>,
        block: Range<usize>,
    ) -> Result<(), KernelError> {
        let Self { values, sums, patch } = self;
        let sums = sums.get_mut(..block.len().div_ceil(2)).ok_or(KernelError::Shape)?;
        let mut biases = filters.channels.from(block.start).iter();
        for sums in sums.as_flattened_mut().as_chunks_mut::<TILE_PIXELS>().0 {
            let bias = biases.next().filter(|_| filters.fast).map_or(0, |channel| channel.bias);
            start_sums(sums, bias.wrapping_shl(2));
        }
        let weights = filters.weights.get(block.start / 2 * filters.stride()..);
        for first in (0..filters.inputs).step_by(WINOGRAD_CHUNK) {
            let count = (filters.inputs - first).min(WINOGRAD_CHUNK);
            let values = values.get_mut(..POSITIONS * count / 2).ok_or(KernelError::Shape)?;
            // Values of a single chunk serve all blocks.
            if block.start == 0 || filters.inputs > WINOGRAD_CHUNK {
                for (index, at) in tiles.iter().enumerate() {
                    see(op, tile, input, *at, first..first + count, patch, values, index)?;
                }
            }
            let weights = weights.and_then(|weights| weights.get(first * POSITIONS / 2..));
            if !add_tiles(weights.unwrap_or(&[]), filters.stride(), values, sums) {
                return Err(KernelError::ConstantsTooShort);
            }
        }
        Ok(())
    }

    /// The outputs of a block of output channels.
    #[inline(never)]
    fn finish(
        &self,
        op: &Conv,
        output: &mut Target<'_>,
        places: &[usize; TILE_PIXELS],
        filters: &Filters<'_>,
        block: Range<usize>,
    ) -> Result<(), KernelError> {
        let bytes = output.bytes_from(block.start);
        let channels = filters.channels.from(block.start).first(block.len());
        let (mut pairs, _): (&[[Constants; 2]], _) = channels.entries().as_chunks();
        if !filters.fast {
            pairs = &[];
        }
        if !outputs_of_tiles::<BLOCK>(self.sums, pairs, op.output.zero, bytes, places) {
            return Err(KernelError::OutOfBounds);
        }
        let places = || places.iter().copied();
        // Channels of other factors, and a last one that is in no pair.
        let sums = self.sums.as_flattened().as_chunks::<TILE_PIXELS>().0;
        let left = sums.iter().zip(channels.iter()).enumerate().skip(pairs.len() * 2);
        for (channel, (sums, constants)) in left {
            let bias = if filters.fast { 0 } else { constants.bias };
            let constants = Channel { bias, ..constants };
            for (sum, place) in sums.iter().zip(places()).filter(|(_, place)| *place != NOWHERE) {
                let to = bytes.get_mut(place.wrapping_add(channel));
                let to = to.ok_or(KernelError::OutOfBounds)?;
                finish(&[sum >> 2], &constants, &op.output, core::slice::from_mut(to));
            }
        }
        if op.output.is_narrow() && filters.fast {
            for place in places().filter(|place| *place != NOWHERE) {
                let bytes = bytes.get_mut(place..place.wrapping_add(block.len()));
                clamp(&op.output, bytes.unwrap_or(&mut []));
            }
        }
        Ok(())
    }
}

/// Values of channels of a tile's inputs, whose first output is at row and column `at`.
#[expect(clippy::too_many_arguments, reason = "buffers are borrowed apart")]
#[inline(never)]
fn see(
    op: &Conv,
    tile: &Tile,
    input: &Source<'_>,
    at: [i32; 2],
    channels: Range<usize>,
    patch: &mut Patch,
    values: &mut [Tiles],
    index: usize,
) -> Result<(), KernelError> {
    let layout = &input.layout;
    let seen = [0, 1].map(|axis| {
        let origin = at[axis].wrapping_sub(op.window.padding[axis]);
        let end = origin.wrapping_add(SIDE as i32);
        (origin, origin.max(tile.valid_start[axis])..end.min(tile.valid_end[axis]))
    });
    let [(top, rows), (left, columns)] = seen;
    let whole = rows.len() == SIDE && columns.len() == SIDE;
    if whole
        && let Ok((bytes, run)) = input.run([top, left], SIDE)
        && run >= SIDE
    {
        let bytes = bytes.get(channels.start..).unwrap_or(&[]);
        let pitch = [layout.row_pitch, layout.column_pitch];
        return if transform(bytes, pitch, values, index) {
            Ok(())
        } else {
            Err(KernelError::OutOfBounds)
        };
    }
    let count = channels.len();
    if !whole {
        patch.fill(op.input_zero as u8);
    }
    for y in rows {
        if columns.is_empty() {
            break;
        }
        let (bytes, _) = input.run([y, columns.start], columns.len())?;
        let place = (y.wrapping_sub(top) as usize * SIDE)
            .wrapping_add(columns.start.wrapping_sub(left) as usize);
        let to = patch.get_mut(place.wrapping_mul(count)..).unwrap_or(&mut []);
        let from = bytes.get(channels.start..).unwrap_or(&[]);
        if !copy_rows(to, from, columns.len(), count, [count, layout.column_pitch]) {
            return Err(KernelError::OutOfBounds);
        }
    }
    let whole = transform(patch, [SIDE * count, count], values, index);
    if whole { Ok(()) } else { Err(KernelError::Shape) }
}
