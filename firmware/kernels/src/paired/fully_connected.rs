//! Fully connected with paired weights.

use super::constants::{are_fast, fast, finish};
use super::{LONGEST, vector_bytes};
use crate::channels::Channels;
use crate::clamp::clamp;
use crate::dsp::{EMPTY, Eight, activations, add_products_of_one, even_bytes, odd_bytes, word};
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::FullyConnected;

/// Activations that are held at once, in eights.
const CHUNK: usize = 288;
const _: () = assert!(CHUNK * size_of::<Eight>() == super::CHUNK * 4 * 2);

/// Output channels whose sums are held at once.
const BLOCK: usize = 64;

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
    let mut loaded = false;
    for (block, bytes) in bytes.chunks_mut(BLOCK).enumerate() {
        let mut sums = [[0; 2]; BLOCK / 2];
        let sums = sums.get_mut(..bytes.len().div_ceil(2)).unwrap_or(&mut []);
        let first = block * (BLOCK / 2) * entries;
        for (chunk, inputs) in inputs.chunks(CHUNK * 8).enumerate() {
            let count = inputs.len().div_ceil(8);
            let held = held.get_mut(..count).ok_or(KernelError::Shape)?;
            if !loaded {
                expand(inputs, held);
            }
            // One chunk alone stays for all blocks.
            loaded = count == entries;
            let weights = weights.get(first + chunk * CHUNK..).unwrap_or(&[]);
            if !add_products_of_one(weights, entries, held, sums) {
                return Err(KernelError::ConstantsTooShort);
            }
        }
        finish_all(op, sums.as_flattened(), channels.from(block * BLOCK).first(bytes.len()), bytes);
    }
    Ok(())
}

/// Makes bytes of sums.
fn finish_all(op: &FullyConnected, sums: &[i32], channels: Channels<'_>, bytes: &mut [u8]) {
    let all = bytes.iter_mut().zip(sums).zip(channels.iter());
    if are_fast(channels) {
        for ((byte, sum), constants) in all {
            *byte = fast(&constants, op.output.zero).apply(sum.wrapping_add(constants.bias)) as u8;
        }
        clamp(&op.output, bytes);
    } else {
        for ((byte, sum), constants) in all {
            let value = sum.wrapping_add(constants.bias);
            *byte = finish(constants, op.output.zero).byte(value, &op.output);
        }
    }
}

/// Makes activations of values; what is missing in the last eight is zero.
#[inline(never)]
fn expand(values: &[u8], held: &mut [Eight]) {
    let (pairs, rest) = values.as_chunks::<16>();
    let (held_pairs, held_rest) = held.split_at_mut((pairs.len() * 2).min(held.len()));
    for (values, held) in pairs.iter().zip(held_pairs.as_chunks_mut::<2>().0) {
        let (words, _) = values.as_chunks();
        let halves = |at: usize| {
            let word = words.get(at).map_or(0, word);
            [activations(even_bytes(word)), activations(odd_bytes(word))]
        };
        let [[a, b], [c, d]] = [halves(0), halves(1)];
        let [[e, f], [g, h]] = [halves(2), halves(3)];
        *held = [[a, b, c, d], [e, f, g, h]];
    }
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
