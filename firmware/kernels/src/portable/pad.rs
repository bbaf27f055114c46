//! Copies the input into the middle of the output.

use super::runs::copy;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};

/// What a padding computes. Input and output share scale and zero point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pad {
    /// Rows above and columns left of the input.
    pub padding: [i32; 2],
    /// Channels before those of the input.
    pub before: usize,
    /// Zero point of the output: what the rest is filled with.
    pub zero: i8,
}

/// Pads: output (y, x, c) is input (y − padding, x − padding, c − before) where the input box has
/// it.
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
    let behind = tile.channels.checked_sub(source.channels).and_then(|c| c.checked_sub(op.before));
    let (Some(behind), true) = (behind, target.channels == tile.channels) else {
        return Err(KernelError::Shape);
    };
    let is_whole = behind == 0 && op.before == 0;
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
                    let seen = from.get(start..start.wrapping_add(source.channels));
                    let seen = seen.ok_or(KernelError::OutOfBounds)?;
                    if is_whole {
                        copy(pixel, seen);
                        continue;
                    }
                    let (before, rest) = pixel.split_at_mut_checked(op.before).unwrap_or_default();
                    let (middle, behind) =
                        rest.split_at_mut_checked(seen.len()).unwrap_or_default();
                    before.fill(fill);
                    copy(middle, seen);
                    behind.fill(fill);
                }
                _ => pixel.fill(fill),
            }
        }
    }
    Ok(())
}
