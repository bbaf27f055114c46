//! Fully connected; weights OI.

use super::dot::{BLOCK, dot, dot_block};
use crate::channels::Channels;
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};

/// What a fully connected layer computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullyConnected {
    /// Zero point of the input.
    pub input_zero: i8,
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
    let finish = |sum: i32, channel: usize| {
        let channel = channels.get(channel).ok_or(KernelError::ConstantsTooShort)?;
        Ok(op.output.byte(sum.wrapping_add(channel.bias), channel.factor))
    };
    let (blocks, rest) = bytes.as_chunks_mut::<BLOCK>();
    let done = blocks.len() * BLOCK;
    let mut rows = filters.chunks_exact(inputs.len());
    for (index, bytes) in blocks.iter_mut().enumerate() {
        let (Some(a), Some(b), Some(c), Some(d)) =
            (rows.next(), rows.next(), rows.next(), rows.next())
        else {
            return Err(KernelError::ConstantsTooShort);
        };
        let sums = dot_block(inputs, [a, b, c, d], zero, [0; BLOCK]);
        for (offset, (byte, sum)) in bytes.iter_mut().zip(sums).enumerate() {
            *byte = finish(sum, index * BLOCK + offset)?;
        }
    }
    for (offset, (byte, weights)) in rest.iter_mut().zip(rows).enumerate() {
        *byte = finish(dot(inputs, weights, zero, 0), done + offset)?;
    }
    Ok(())
}
