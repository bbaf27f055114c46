//! Mean over whole dimensions, sixteen channels at a time.

use super::sums::{Area, outputs_of_sums};
use crate::clamp::clamp;
use crate::dsp::Fast;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::Mean;

/// Elements up to which a sum of differences is within [`Fast::LIMIT`].
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
    let from = input.layout;
    let over = |axis: usize, whole: usize| if op.over[axis] { whole } else { 1 };
    let size = [over(0, from.rows), over(1, from.columns)];
    let elements = size[0].saturating_mul(size[1]).saturating_mul(over(2, from.channels));
    let offset = i32::from(op.input_zero).wrapping_mul(elements as i32);
    let fast = Fast::of(op.factor, op.output.zero).filter(|_| elements < MOST);
    let exact = op.factor.prepare();
    let area = |[y, x]: [i32; 2]| {
        let first = |axis: usize, at: i32| if op.over[axis] { from.first[axis] } else { at };
        Ok((Area { first: [first(0, y), first(1, x)], size, step: [1, 1] }, [0; 2]))
    };
    let finish = |_: i32, sums: &[i32], bytes: &mut [u8]| match fast {
        Some(fast) => {
            for (byte, sum) in bytes.iter_mut().zip(sums) {
                *byte = fast.apply(sum.wrapping_sub(offset)) as u8;
            }
            clamp(&op.output, bytes);
        }
        None => {
            for (byte, sum) in bytes.iter_mut().zip(sums) {
                *byte = op.output.byte(sum.wrapping_sub(offset), &exact);
            }
        }
    };
    outputs_of_sums(tile, input, output, op.over[2], &area, &finish)
}
