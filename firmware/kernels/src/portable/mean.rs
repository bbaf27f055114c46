//! Mean over whole dimensions.

use super::SMALL;
use super::reached::{Along, each_pixel, of_channel};
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};
use crate::requantise::Multiplier;

/// What a mean computes: `Σ (x − x_zero)` over the dimensions that are taken together, rescaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mean {
    /// Whether rows, columns and channels are taken together; of those the input box is whole
    /// and the output has one.
    pub over: [bool; 3],
    /// Zero point of the input.
    pub input_zero: i8,
    /// Input scale / (output scale × number of elements of a mean).
    pub factor: Multiplier,
    /// The output's zero point and clamp.
    pub output: Output,
}

/// Channels whose sums are held together.
const BLOCK: usize = 8;

/// Takes the mean over whole dimensions. Of the others, output coordinates are the input's.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn mean(
    op: &Mean,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let (from, to) = (input.layout, output.layout);
    let outputs = if op.over[2] { 1 } else { from.channels };
    if tile.channels != outputs || to.channels != outputs {
        return Err(KernelError::Shape);
    }
    let factor = op.factor.prepare();
    let zero = i32::from(op.input_zero);
    // First coordinate and number of the input rows or columns under an output's.
    let under = |axis: usize, at: i32, whole: usize| {
        if op.over[axis] { (from.first[axis], whole) } else { (at, 1) }
    };
    if SMALL {
        return each_pixel(tile, output, &mut |[y, x], pixel| {
            let along = |axis: usize, at: i32, whole: usize| {
                let (place, count) = under(axis, at, whole);
                Along { first: 0, count, step: 0, place, ahead: 1 }
            };
            let (rows, columns) = (along(0, y, from.rows), along(1, x, from.columns));
            let (each, pixels) = (from.channels / outputs, rows.count.wrapping_mul(columns.count));
            let offset = zero.wrapping_mul(pixels.wrapping_mul(each) as i32);
            for (channel, byte) in pixel.iter_mut().enumerate() {
                let mut sum = 0i32;
                for channel in channel..channel + each {
                    sum = sum.wrapping_add(of_channel(input, channel, [&rows, &columns])?);
                }
                *byte = op.output.byte(sum.wrapping_sub(offset), &factor);
            }
            Ok(())
        });
    }
    for y in tile.outputs(0) {
        let (first_row, rows) = under(0, y, from.rows);
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let (first_column, columns) = under(1, x, from.columns);
            let start = to.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(outputs));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            let pixels = rows.wrapping_mul(columns);
            for (block, bytes) in pixel.chunks_mut(BLOCK).enumerate() {
                let mut sums = [0i32; BLOCK];
                for row in 0..rows {
                    let line = input.row(first_row.wrapping_add(row as i32))?;
                    let mut start = from.column(first_column).wrapping_add(block * BLOCK);
                    for _ in 0..columns {
                        let count = if op.over[2] { from.channels } else { bytes.len() };
                        let seen = line.get(start..start.wrapping_add(count));
                        let seen = seen.ok_or(KernelError::OutOfBounds)?;
                        if op.over[2] {
                            sums[0] = sums[0].wrapping_add(total(seen));
                        } else {
                            add_all(&mut sums, seen);
                        }
                        start = start.wrapping_add(from.column_pitch);
                    }
                }
                let count = if op.over[2] { pixels.wrapping_mul(from.channels) } else { pixels };
                let offset = zero.wrapping_mul(count as i32);
                for (byte, sum) in bytes.iter_mut().zip(sums) {
                    *byte = op.output.byte(sum.wrapping_sub(offset), &factor);
                }
            }
        }
    }
    Ok(())
}

fn total(bytes: &[u8]) -> i32 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(i32::from(*byte as i8)))
}

#[inline(always)]
fn add_all(sums: &mut [i32; BLOCK], bytes: &[u8]) {
    for (sum, byte) in sums.iter_mut().zip(bytes) {
        *sum = sum.wrapping_add(i32::from(*byte as i8));
    }
}
