//! Index of the largest value along a dimension.

use super::reached::each_pixel;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};

/// A dimension of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Rows.
    Rows,
    /// Columns.
    Columns,
    /// Channels.
    Channels,
}

/// Finds the first largest value along a dimension, of which the input box is whole and the output
/// has one. Of the other dimensions output coordinates are the input's. Results are 32-bit
/// integers, little-endian: four of the output box's bytes for each channel.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn arg_max(
    axis: Axis,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let from = input.layout;
    let results = if axis == Axis::Channels { 1 } else { from.channels };
    if results.checked_mul(4) != Some(tile.channels) || output.layout.channels != tile.channels {
        return Err(KernelError::Shape);
    }
    // Values that are compared, and rows or bytes from one to the next.
    let (count, down, across) = match axis {
        Axis::Rows => (from.rows, 1, 0),
        Axis::Columns => (from.columns, 0, from.column_pitch),
        Axis::Channels => (from.channels, 0, 1),
    };
    each_pixel(tile, output, &mut |[y, x], pixel| {
        let first_row = if axis == Axis::Rows { from.first[0] } else { y };
        let column = from.column(if axis == Axis::Columns { from.first[1] } else { x });
        for (channel, result) in pixel.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let (mut at, mut row) = (column.wrapping_add(channel), first_row);
            let mut line = input.row(row)?;
            let mut largest = None;
            for index in 0..count {
                if down > 0 && index > 0 {
                    row = row.wrapping_add(down);
                    line = input.row(row)?;
                }
                let value = *line.get(at).ok_or(KernelError::OutOfBounds)? as i8;
                if largest.is_none_or(|(_, known)| value > known) {
                    largest = Some((index as i32, value));
                }
                at = at.wrapping_add(across);
            }
            let (index, _) = largest.ok_or(KernelError::OutOfBounds)?;
            *result = index.to_le_bytes();
        }
        Ok(())
    })
}
