//! A function of one value, from a table.

use super::runs::runs;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};

/// The results of a function of an int8 value, one byte each. The result for `x` stands at the
/// place that `x`'s byte gives as an unsigned number. [`crate::pack::table`] makes it.
pub type Table = [u8; 256];

/// Looks up each element of a box of the tile's shape.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn lut(
    table: &Table,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    runs(tile, input, output, |input, output| {
        for (byte, x) in output.iter_mut().zip(input) {
            *byte = table[usize::from(*x)];
        }
    })
}
