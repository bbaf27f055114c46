//! Index of the largest value along a dimension.

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
    let (from, to) = (input.layout, output.layout);
    let results = if axis == Axis::Channels { 1 } else { from.channels };
    if results.checked_mul(4) != Some(tile.channels) || to.channels != tile.channels {
        return Err(KernelError::Shape);
    }
    for y in tile.outputs(0) {
        let first_row = if axis == Axis::Rows { from.first[0] } else { y };
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let column = from.column(if axis == Axis::Columns { from.first[1] } else { x });
            let start = to.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(tile.channels));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            for (channel, index) in pixel.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                let start = column.wrapping_add(channel);
                let found = match axis {
                    Axis::Rows => first_largest((0..from.rows).map(|row| {
                        let line = input.row(first_row.wrapping_add(row as i32)).ok()?;
                        line.get(start).copied()
                    })),
                    Axis::Columns => {
                        let line = input.row(first_row)?;
                        first_largest((0..from.columns).map(|column| {
                            let distance = column.wrapping_mul(from.column_pitch);
                            line.get(start.wrapping_add(distance)).copied()
                        }))
                    }
                    Axis::Channels => {
                        let line = input.row(first_row)?;
                        let bytes = line.get(column..column.wrapping_add(from.channels));
                        let bytes = bytes.ok_or(KernelError::OutOfBounds)?;
                        first_largest(bytes.iter().map(|byte| Some(*byte)))
                    }
                };
                *index = found.ok_or(KernelError::OutOfBounds)?.to_le_bytes();
            }
        }
    }
    Ok(())
}

/// Index of the first largest value; nothing if one is missing or there are none.
#[inline(always)]
fn first_largest(values: impl Iterator<Item = Option<u8>>) -> Option<i32> {
    let mut largest = None;
    for (index, value) in (0i32..).zip(values) {
        let value = value? as i8;
        if largest.is_none_or(|(_, known)| value > known) {
            largest = Some((index, value));
        }
    }
    largest.map(|(index, _)| index)
}
