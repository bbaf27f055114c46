//! Kernels of two operands that broadcast: an operand's box of one row, column or channel stands
//! for as many as the tile has.

use crate::error::KernelError;
use crate::geometry::{Layout, Source, Target, Tile};

/// Whether the operand's bytes for a row of the tile follow each other as the tile's do.
fn runs_along(source: &Layout, tile: &Tile) -> bool {
    source.is_dense() && source.channels == tile.channels && source.columns == tile.output_size[1]
}

/// Whether one byte stands for a whole row of the tile.
const fn is_single(source: &Layout) -> bool {
    source.columns == 1 && source.channels == 1
}

/// Gives the results of `each` for all pairs of elements of the tile.
#[inline(always)]
pub fn pairs(
    tile: &Tile,
    sources: [&Source<'_>; 2],
    target: &mut Target<'_>,
    each: impl Fn(u8, u8) -> u8,
) -> Result<(), KernelError> {
    let layout = target.layout;
    let channels = tile.channels;
    let fits =
        |source: &&Source<'_>| source.layout.channels == channels || source.layout.channels == 1;
    if layout.channels != channels || !sources.iter().all(fits) {
        return Err(KernelError::Shape);
    }
    let columns = tile.output_size[1];
    let dense = layout.is_dense()
        && sources.iter().all(|s| runs_along(&s.layout, tile) || is_single(&s.layout));
    let (run_columns, run_bytes) =
        if dense { (columns, columns.wrapping_mul(channels)) } else { (1, channels) };
    if run_columns == 0 {
        return Err(KernelError::Shape);
    }
    for y in tile.outputs(0) {
        let line = target.row(y)?;
        for x in tile.outputs(1).step_by(run_columns) {
            let mut bytes: [&[u8]; 2] = [&[]; 2];
            for (bytes, source) in bytes.iter_mut().zip(sources) {
                let from = &source.layout;
                let beside = |axis: usize, at: i32, count: usize| match count {
                    1 => from.first[axis],
                    _ => at.wrapping_sub(layout.first[axis]).wrapping_add(from.first[axis]),
                };
                let start = from.column(beside(1, x, from.columns));
                let single = from.channels == 1 && (!dense || is_single(from));
                let length = if single { 1 } else { run_bytes };
                let row = source.row(beside(0, y, from.rows))?;
                let run = row.get(start..start.wrapping_add(length));
                *bytes = run.ok_or(KernelError::OutOfBounds)?;
            }
            let start = layout.column(x);
            let run = line.get_mut(start..start.wrapping_add(run_bytes));
            let run = run.ok_or(KernelError::OutOfBounds)?;
            match bytes {
                [[a], [b]] => run.fill(each(*a, *b)),
                [[a], b] => run.iter_mut().zip(b).for_each(|(to, b)| *to = each(*a, *b)),
                [a, [b]] => run.iter_mut().zip(a).for_each(|(to, a)| *to = each(*a, *b)),
                [a, b] => {
                    run.iter_mut().zip(a).zip(b).for_each(|((to, a), b)| *to = each(*a, *b));
                }
            }
        }
    }
    Ok(())
}
