//! Fully connected; weights OI.

use super::dot::{BLOCK, dot, dot_block, less_sum, parts, split_filters};
use crate::channels::Channels;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};

/// What a fully connected layer computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullyConnected {
    /// Zero point of the input.
    pub input_zero: i8,
    /// As [`super::Conv::weight_zero`].
    pub weight_zero: i8,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Multiplies a vector by a matrix. The input is the whole of a contiguous box of any shape.
///
/// `weights`: output channels of the tile × input elements. `channels`: constants of the tile's
/// output channels.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
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
    let length = outputs.checked_mul(inputs.len());
    let filters = length.and_then(|length| weights.get(..length));
    let filters = filters.ok_or(KernelError::ConstantsTooShort)?;
    if inputs.is_empty() || channels.len() < outputs {
        return Err(KernelError::ConstantsTooShort);
    }
    let [y, x] = tile.output_start;
    let start = output.layout.column(x);
    let bytes = output.row(y)?.get_mut(start..start.wrapping_add(outputs));
    let bytes = bytes.ok_or(KernelError::OutOfBounds)?;

    let zero = i32::from(op.input_zero);
    let start = match i32::from(op.weight_zero) {
        0 => 0,
        factor => less_sum(inputs, zero, factor, 0),
    };
    let (blocks, rest) = bytes.as_chunks_mut::<BLOCK>();
    let done = blocks.len() * BLOCK;
    let block_filters = parts(filters, BLOCK, inputs.len());
    for (index, (bytes, filters)) in blocks.iter_mut().zip(block_filters).enumerate() {
        let mut sums = [start; BLOCK];
        dot_block(inputs, split_filters(filters, inputs.len()), zero, &mut sums);
        op.output.write(&sums, channels.from(index * BLOCK), bytes);
    }
    let rows = parts(filters, 1, inputs.len()).skip(done);
    for (offset, (byte, weights)) in rest.iter_mut().zip(rows).enumerate() {
        let sum = dot(inputs, weights, zero, start);
        op.output.write(&[sum], channels.from(done + offset), core::slice::from_mut(byte));
    }
    Ok(())
}
