//! Mean over a window, sixteen channels at a time.

use super::sums::{Area, outputs_of_sums};
use crate::clamp::clamp;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::AveragePool;
use crate::portable::average_pool::Divisor;

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
    let area = |[y, x]: [i32; 2]| {
        let (rows, columns) = (window.taps(0, y, tile), window.taps(1, x, tile));
        let (count, offset) = op.divisor([y, x], [&rows, &columns])?;
        let area = Area {
            first: [rows.position, columns.position],
            size: [rows.count, columns.count],
            step: window.dilation,
        };
        Ok((area, [count, offset]))
    };
    let finish = |[count, offset]: [i32; 2], sums: &[i32], bytes: &mut [u8]| {
        let divisor = Divisor::new(count, op.halves_up);
        for (byte, sum) in bytes.iter_mut().zip(sums) {
            *byte = divisor.mean(sum.wrapping_add(offset)) as u8;
        }
        clamp(&op.pool.output, bytes);
    };
    outputs_of_sums(tile, input, output, false, &area, &finish)
}
