//! Fully connected with paired weights.

use super::constants::{are_fast, finish};
use super::conv::fours;
use super::filters::Filters;
use super::{LONGEST, SMALL, vector_bytes};
use crate::channels::{CHANNEL_BYTES, Channels};
use crate::clamp::clamp;
use crate::dsp::{
    EMPTY, Eight, EightWeights, activations, add_products_of_one, are_at_words, even_bytes,
    expand_pairs, odd_bytes, outputs_of_one, word,
};
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::runs::copy;
use crate::portable::{FullyConnected, as_pixel};

/// Activations that are held at once, in eights.
const CHUNK: usize = 288;
const _: () = assert!(CHUNK * size_of::<Eight>() == super::CHUNK * 4 * 2);

/// Output channels whose sums are held at once.
const BLOCK: usize = 128;

/// Multiplies a vector by a matrix: as [`crate::portable::fully_connected`], with paired weights
/// and constants (see [`super`]).
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile; also for weights with a zero point and more
/// inputs than [`LONGEST`].
pub fn fully_connected(
    op: &FullyConnected,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    if tile.channels == 0 || output.layout.channels < tile.channels {
        return Err(KernelError::Shape);
    }
    if SMALL {
        return as_convolution(op, tile, input, output, weights, channels);
    }
    let inputs = input.vector()?;
    let outputs = tile.channels;
    if op.weight_zero != 0 || inputs.is_empty() || inputs.len() > LONGEST {
        return Err(KernelError::Shape);
    }
    let entries = vector_bytes(inputs.len()) / 8;
    let weights = weights.as_chunks::<8>().0.as_chunks::<2>().0;
    let needed = outputs.div_ceil(2).checked_mul(entries);
    if needed.is_none_or(|needed| needed > weights.len()) || channels.len() < outputs {
        return Err(KernelError::ConstantsTooShort);
    }
    let [y, x] = tile.output_start;
    let start = output.layout.column(x);
    let bytes = output.row(y)?.get_mut(start..start.wrapping_add(outputs));
    let bytes = bytes.ok_or(KernelError::OutOfBounds)?;

    let mut held = [EMPTY[0]; CHUNK];
    let channels = channels.first(outputs);
    let aligned = are_at_words(channels.entries());
    let fits = if entries <= CHUNK && aligned && are_fast(channels) {
        let held = held.get_mut(..entries).ok_or(KernelError::Shape)?;
        expand_vector(inputs, held);
        outputs_at_once(op, weights, held, channels, bytes)
    } else {
        outputs_in_blocks(op, inputs, weights, &mut held, channels, bytes)
    };
    if fits { Ok(()) } else { Err(KernelError::ConstantsTooShort) }
}

/// The same by the loop of convolutions: of four pixels all are the only one.
fn as_convolution(
    op: &FullyConnected,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    weights: &[u8],
    channels: Channels<'_>,
) -> Result<(), KernelError> {
    let (op, tile, input) = as_pixel(op, tile, input)?;
    let filters = Filters::of_length(&op, &tile, &input, weights, channels, vector_bytes)?;
    fours(&op, &tile, &input, output, &filters)
}

/// Makes bytes of activations that are all held, by factors that are all fast. Gives whether weights
/// and constants were as many.
fn outputs_at_once(
    op: &FullyConnected,
    weights: &[EightWeights],
    held: &[Eight],
    channels: Channels<'_>,
    bytes: &mut [u8],
) -> bool {
    let (pairs, single) = channels.entries().as_chunks();
    let (of_pairs, of_single) = bytes.split_at_mut((pairs.len() * 2).min(bytes.len()));
    let mut fits = outputs_of_one(weights, held, pairs, op.output.zero, of_pairs);
    if let ([constants], [byte]) = (single, of_single) {
        let weights = weights.get(pairs.len() * held.len()..).unwrap_or(&[]);
        let mut last = [0; 2];
        fits &= outputs_of_one(weights, held, &[[*constants; 2]], op.output.zero, &mut last);
        *byte = last[0];
    }
    clamp(&op.output, bytes);
    fits
}

/// Constants of no channels.
const NONE: [[[u8; CHANNEL_BYTES]; 2]; BLOCK / 2] = [[[0; CHANNEL_BYTES]; 2]; BLOCK / 2];

/// Makes bytes of inputs, whatever their number and the factors: sums of a block of channels are held
/// in a copy of its constants. Gives whether weights and constants were as many.
#[cold]
fn outputs_in_blocks(
    op: &FullyConnected,
    inputs: &[u8],
    weights: &[EightWeights],
    held: &mut [Eight; CHUNK],
    channels: Channels<'_>,
    bytes: &mut [u8],
) -> bool {
    let entries = vector_bytes(inputs.len()) / 8;
    for (block, bytes) in bytes.chunks_mut(BLOCK).enumerate() {
        let mut sums = NONE;
        let constants = channels.from(block * BLOCK).first(bytes.len()).entries().as_flattened();
        let held_constants = sums.as_flattened_mut().as_flattened_mut();
        copy(held_constants, constants);
        let sums = sums.get_mut(..bytes.len().div_ceil(2)).unwrap_or(&mut []);
        let first = block * (BLOCK / 2) * entries;
        for (chunk, inputs) in inputs.chunks(CHUNK * 8).enumerate() {
            let held = held.get_mut(..inputs.len().div_ceil(8)).unwrap_or(&mut []);
            expand_vector(inputs, held);
            let weights = weights.get(first + chunk * CHUNK..).unwrap_or(&[]);
            if !add_products_of_one(weights, entries, held, sums) {
                return false;
            }
        }
        let sums = Channels::new(sums.as_flattened().as_flattened());
        for (byte, sum) in bytes.iter_mut().zip(sums.iter()) {
            finish(&[0], &sum, &op.output, core::slice::from_mut(byte));
        }
    }
    true
}

/// Makes activations of values; what is missing in the last eight is zero.
#[inline(never)]
pub fn expand_vector(values: &[u8], held: &mut [Eight]) {
    let (pairs, rest) = values.as_chunks::<16>();
    let (held_pairs, held_rest) = held.split_at_mut((pairs.len() * 2).min(held.len()));
    expand_pairs(pairs, held_pairs.as_chunks_mut().0);
    let mut last = [0; 16];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    for (word, held) in
        last.as_chunks().0.iter().map(word).zip(held_rest.as_flattened_mut().as_chunks_mut::<2>().0)
    {
        *held = [activations(even_bytes(word)), activations(odd_bytes(word))];
    }
}
