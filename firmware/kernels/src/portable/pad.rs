//! Copies the input into the middle of the output.

use super::runs::copy;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};

/// What a padding computes. Input and output share scale and zero point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pad {
    /// Rows above and columns left of the input.
    pub padding: [i32; 2],
    /// Zero point of the output: what the rest is filled with.
    pub zero: i8,
}

/// Pads: output (y, x) is input (y − padding, x − padding) where the input box has it.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn pad(
    op: &Pad,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let (source, target) = (input.layout, output.layout);
    if source.channels != tile.channels || target.channels != tile.channels {
        return Err(KernelError::Shape);
    }
    let fill = op.zero as u8;
    let end = |axis: usize, count: usize| source.first[axis].saturating_add(count as i32);
    let (rows, columns) =
        (source.first[0]..end(0, source.rows), source.first[1]..end(1, source.columns));
    for y in tile.outputs(0) {
        let from = y.wrapping_sub(op.padding[0]);
        let from = if rows.contains(&from) { Some(input.row(from)?) } else { None };
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let start = target.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(tile.channels));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            let column = x.wrapping_sub(op.padding[1]);
            match from {
                Some(from) if columns.contains(&column) => {
                    let start = source.column(column);
                    let seen = from.get(start..start.wrapping_add(tile.channels));
                    copy(pixel, seen.ok_or(KernelError::OutOfBounds)?);
                }
                _ => pixel.fill(fill),
            }
        }
    }
    Ok(())
}
