//! Sum and difference of two tensors.
//!
//! The input with the larger scale is multiplied by one half, which after the shift to the left is
//! exact and needs no multiplication. What the other is multiplied with gives one of 256 values: a
//! table of them is made.

use crate::clamp::clamp;
use crate::dsp::{Fast, LookedUp};
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::runs::pairs;
use crate::portable::{Add, combine};
use crate::requantise::Multiplier;

/// Left shift of both inputs before they are scaled.
const LEFT_SHIFT: u32 = 20;

/// A factor of one half.
const HALF: Multiplier = Multiplier { multiplier: 1 << 30, shift: 0 };

/// Elements that pay for a table.
const MANY: usize = 256;

/// Adds two boxes, each of the tile's shape or broadcast to it.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn add(
    op: &Add,
    tile: &Tile,
    first: &Source<'_>,
    second: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    either(op, tile, [first, second], output, 1)
}

/// Takes the second box from the first, each of the tile's shape or broadcast to it.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn sub(
    op: &Add,
    tile: &Tile,
    first: &Source<'_>,
    second: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    either(op, tile, [first, second], output, -1)
}

/// Adds the second box times `sign`.
#[inline(never)]
fn either(
    op: &Add,
    tile: &Tile,
    [first, second]: [&Source<'_>; 2],
    output: &mut Target<'_>,
    sign: i32,
) -> Result<(), KernelError> {
    let [rows, columns] = tile.output_size;
    let elements = rows.saturating_mul(columns).saturating_mul(tile.channels);
    let sum = Fast::of(op.sum, op.output.zero).filter(|_| elements >= MANY);
    // Halved inputs stay below 2^27: the other's must do so too.
    let small = |factor: Multiplier| factor.shift <= 0 && factor.multiplier >= 0;
    let [a, b] = op.input;
    let [a_zero, b_zero] = op.input_zero.map(i32::from);
    let (sources, zeros, other, signs) = if a == HALF && small(b) {
        ([first, second], [a_zero, b_zero], b, [1, sign])
    } else if b == HALF && small(a) {
        ([second, first], [b_zero, a_zero], a, [sign, 1])
    } else {
        return combine(op, tile, [first, second], output, sign);
    };
    let Some(factor) = sum else {
        return combine(op, tile, [first, second], output, sign);
    };
    let unit = signs[0] << LEFT_SHIFT;
    // Twice what the other operand's byte adds to a sum, the halved one's zero point included.
    let other = other.prepare();
    let table: [i32; 256] = core::array::from_fn(|byte| {
        let value = other.apply((i32::from(byte as u8 as i8) - zeros[1]) << LEFT_SHIFT);
        2 * (value * signs[1]) - zeros[0] * unit
    });
    let looked_up = LookedUp { table: &table, unit, factor };
    pairs(tile, sources, output, |[halved, other], output| {
        looked_up.sums(halved, other, output);
        clamp(&op.output, output);
    })
}
