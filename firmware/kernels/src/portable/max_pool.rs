//! Maximum over a window.

use super::average_pool::Pool;
use super::runs::copy;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};

/// Takes the largest value that each window sees; a window that sees no input is refused.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn max_pool(
    op: &Pool,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    op.check(tile, input)?;
    let (layout, target) = (input.layout, output.layout);
    let step = layout.column_pitch.wrapping_mul(op.window.dilation[1] as usize);
    let clamps = (op.output.min, op.output.max) != (i8::MIN, i8::MAX);
    for y in tile.outputs(0) {
        let rows = op.window.taps(0, y, tile);
        for x in tile.outputs(1) {
            let columns = op.window.taps(1, x, tile);
            if rows.count == 0 || columns.count == 0 {
                return Err(KernelError::Shape);
            }
            let start = target.column(x);
            let pixel = output.row(y)?.get_mut(start..start.wrapping_add(tile.channels));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            let mut first = true;
            let mut row = rows.position;
            for _ in 0..rows.count {
                let line = input.row(row)?;
                let mut start = layout.column(columns.position);
                for _ in 0..columns.count {
                    let seen = line.get(start..start.wrapping_add(layout.channels));
                    let seen = seen.ok_or(KernelError::OutOfBounds)?;
                    if first {
                        copy(pixel, seen);
                        first = false;
                    } else {
                        keep_largest(pixel, seen);
                    }
                    start = start.wrapping_add(step);
                }
                row = row.wrapping_add(op.window.dilation[0]);
            }
            if clamps {
                for byte in pixel {
                    *byte = op.output.clamp(*byte);
                }
            }
        }
    }
    Ok(())
}

/// Makes each of the bytes the larger of itself and the other.
#[inline(never)]
pub(super) fn keep_largest(largest: &mut [u8], bytes: &[u8]) {
    for (largest, byte) in largest.iter_mut().zip(bytes) {
        *largest = (*largest as i8).max(*byte as i8) as u8;
    }
}
