//! Mean over rows and columns, sixteen channels at a time.

use super::sums::{Area, BLOCK, add_up};
use crate::dsp::Fast;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::{self, Mean};

/// Pixels up to which a sum of differences is within [`Fast::LIMIT`].
const MOST: usize = 1 << 22;

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
    let channels = from.channels;
    let over = |axis: usize, whole: usize| if op.over[axis] { whole } else { 1 };
    let (rows, columns) = (over(0, from.rows), over(1, from.columns));
    let factor = match Fast::of(op.factor, op.output.zero) {
        Some(factor) if !op.over[2] && rows.saturating_mul(columns) < MOST => factor,
        _ => return portable::mean(op, tile, input, output),
    };
    if tile.channels != channels || to.channels != channels {
        return Err(KernelError::Shape);
    }
    let offset = i32::from(op.input_zero).wrapping_mul(rows.wrapping_mul(columns) as i32);
    for y in tile.outputs(0) {
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let first = |axis: usize, at: i32| if op.over[axis] { from.first[axis] } else { at };
            let area =
                Area { first: [first(0, y), first(1, x)], size: [rows, columns], step: [1, 1] };
            let start = to.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(channels));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            for (block, bytes) in pixel.chunks_mut(BLOCK).enumerate() {
                let mut sums = [0i32; BLOCK];
                let sums = sums.get_mut(..bytes.len()).unwrap_or(&mut []);
                add_up(input, &area, block * BLOCK, sums)?;
                for (byte, sum) in bytes.iter_mut().zip(sums) {
                    let value = factor.apply(sum.wrapping_sub(offset));
                    *byte = op.output.clamp(value as u8);
                }
            }
        }
    }
    Ok(())
}
