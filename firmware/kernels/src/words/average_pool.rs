//! Mean over a window, sixteen channels at a time.

use super::sums::{Area, outputs_of_sums};
use crate::clamp::clamp;
use crate::dsp::SUMMED;
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
    let finish = |count: i32, sums: &[i32], bytes: &mut [u8]| {
        let divisor = Divisor::new(count, op.halves_up);
        let blocks = bytes.first_chunk_mut::<SUMMED>().zip(sums.first_chunk::<SUMMED>());
        if let Some((bytes, sums)) = blocks {
            // Most are whole blocks: by fours, for each turn of a loop takes as long as half a mean.
            let sums = sums.as_chunks().0;
            for ([a, b, c, d], sums) in bytes.as_chunks_mut().0.iter_mut().zip(sums) {
                let [of_a, of_b, of_c, of_d] = sums;
                *a = divisor.mean(*of_a) as u8;
                *b = divisor.mean(*of_b) as u8;
                *c = divisor.mean(*of_c) as u8;
                *d = divisor.mean(*of_d) as u8;
            }
        } else {
            for (byte, sum) in bytes.iter_mut().zip(sums) {
                *byte = divisor.mean(*sum) as u8;
            }
        }
        clamp(&op.pool.output, bytes);
    };
    outputs_of_sums(tile, input, output, false, &area, &finish)
}
