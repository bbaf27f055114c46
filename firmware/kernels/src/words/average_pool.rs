//! Mean over a window, sixteen channels at a time.

use super::sums::{Area, BLOCK, add_up};
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::AveragePool;
use crate::portable::average_pool::mean;

/// Takes the mean of what each window sees, rounded to nearest; a window that sees no
/// input is refused.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn average_pool(
    op: &AveragePool,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    op.pool.check(tile, input)?;
    let window = &op.pool.window;
    let target = output.layout;
    for y in tile.outputs(0) {
        let rows = window.taps(0, y, tile);
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let columns = window.taps(1, x, tile);
            let (count, offset) = op.divisor([y, x], [&rows, &columns])?;
            let area = Area {
                first: [rows.position, columns.position],
                size: [rows.count, columns.count],
                step: window.dilation,
            };
            let start = target.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(tile.channels));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            for (block, bytes) in pixel.chunks_mut(BLOCK).enumerate() {
                let mut sums = [offset; BLOCK];
                let sums = sums.get_mut(..bytes.len()).unwrap_or(&mut []);
                add_up(input, &area, block * BLOCK, sums)?;
                for (byte, sum) in bytes.iter_mut().zip(sums) {
                    *byte = op.pool.output.clamp(mean(*sum, count, op.halves_up) as u8);
                }
            }
        }
    }
    Ok(())
}
