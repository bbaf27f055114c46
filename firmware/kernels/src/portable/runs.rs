//! Elementwise kernels visit runs of elements that are contiguous in all operands: one walk over
//! rows and pixels serves them all, and each has its own loop over a run.

use crate::error::KernelError;
use crate::geometry::{Layout, Source, Target, Tile};

/// Elements of a run at most where one byte stands for all of an operand's.
const REPEATED: usize = 64;

/// Takes a run: bytes of two operands and of the output, all as many.
pub type Visit<'v> = dyn FnMut([&[u8]; 2], &mut [u8]) + 'v;

/// Visits the tile in runs, with the bytes of the source and of the target.
#[inline(always)]
pub fn runs(
    tile: &Tile,
    source: &Source<'_>,
    target: &mut Target<'_>,
    mut visit: impl FnMut(&[u8], &mut [u8]),
) -> Result<(), KernelError> {
    walk(tile, &[source], target, &mut |[from, _], to| visit(from, to))
}

/// Visits the tile's pixels, with their bytes in the source and in the target.
#[inline(never)]
pub fn pixels(
    tile: &Tile,
    source: &Source<'_>,
    target: &mut Target<'_>,
    visit: &mut dyn FnMut(&[u8], &mut [u8]),
) -> Result<(), KernelError> {
    // A box has channels; `walk` refuses a tile that has not as many.
    let channels = tile.channels.max(1);
    walk(tile, &[source], target, &mut |[mut from, _], mut to| {
        while let Some((pixel, behind)) = from.split_at_checked(channels)
            && let Some((result, rest)) = to.split_at_mut_checked(channels)
        {
            visit(pixel, result);
            (from, to) = (behind, rest);
        }
    })
}

/// Visits the tile in runs, with the bytes of two sources that broadcast: a box of one row, column
/// or channel stands for as many as the tile has.
#[inline(always)]
pub fn pairs(
    tile: &Tile,
    sources: [&Source<'_>; 2],
    target: &mut Target<'_>,
    mut visit: impl FnMut([&[u8]; 2], &mut [u8]),
) -> Result<(), KernelError> {
    walk(tile, &sources, target, &mut visit)
}

/// Gives the results of `each` for all pairs of elements of the tile.
#[inline(always)]
pub fn each_pair(
    tile: &Tile,
    sources: [&Source<'_>; 2],
    target: &mut Target<'_>,
    each: impl Fn(u8, u8) -> u8,
) -> Result<(), KernelError> {
    pairs(tile, sources, target, |[a, b], run| {
        for ((to, a), b) in run.iter_mut().zip(a).zip(b) {
            *to = each(*a, *b);
        }
    })
}

/// Whether the operand's bytes for a row of the tile follow each other as the tile's do.
fn runs_along(source: &Layout, tile: &Tile) -> bool {
    source.is_dense() && source.channels == tile.channels && source.columns >= tile.output_size[1]
}

/// Whether one byte stands for a whole row of the tile.
const fn is_single(source: &Layout) -> bool {
    source.columns == 1 && source.channels == 1
}

#[inline(never)]
fn walk(
    tile: &Tile,
    sources: &[&Source<'_>],
    target: &mut Target<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), KernelError> {
    let layout = target.layout;
    let channels = tile.channels;
    let broadcast = sources.len() > 1;
    let fits = |source: &&Source<'_>| {
        source.layout.channels == channels || broadcast && source.layout.channels == 1
    };
    if layout.channels != channels || !sources.iter().all(fits) {
        return Err(KernelError::Shape);
    }
    let columns = tile.output_size[1];
    let dense = layout.is_dense()
        && sources.iter().all(|s| runs_along(&s.layout, tile) || broadcast && is_single(&s.layout));
    let (run_columns, run_bytes) =
        if dense { (columns, columns.wrapping_mul(channels)) } else { (1, channels) };
    if columns == 0 {
        return Err(KernelError::Shape);
    }
    for y in tile.outputs(0) {
        let line = target.row(y)?;
        for x in tile.outputs(1).step_by(run_columns) {
            let (mut bytes, mut repeats): ([&[u8]; 2], _) = ([&[]; 2], false);
            for (bytes, source) in bytes.iter_mut().zip(sources) {
                let from = &source.layout;
                let beside = |axis: usize, at: i32, count: usize| match count {
                    1 if broadcast => from.first[axis],
                    // Boxes of equal size may start at different coordinates (concat).
                    _ => at.wrapping_sub(layout.first[axis]).wrapping_add(from.first[axis]),
                };
                let start = from.column(beside(1, x, from.columns));
                let single = broadcast && from.channels == 1 && (!dense || is_single(from));
                repeats |= single;
                let row = source.row(beside(0, y, from.rows))?;
                let run = row.get(start..start.wrapping_add(if single { 1 } else { run_bytes }));
                *bytes = run.ok_or(KernelError::OutOfBounds)?;
            }
            let start = layout.column(x);
            let run = line.get_mut(start..start.wrapping_add(run_bytes));
            let run = run.ok_or(KernelError::OutOfBounds)?;
            if repeats {
                repeat(bytes, run, visit);
            } else {
                visit(bytes, run);
            }
        }
    }
    Ok(())
}

/// Visits a run of which an operand, or both, has one byte.
#[inline(never)]
fn repeat(bytes: [&[u8]; 2], run: &mut [u8], visit: &mut Visit<'_>) {
    let held = bytes.map(|bytes| [bytes.first().copied().unwrap_or(0); REPEATED]);
    let mut start = 0;
    for to in run.chunks_mut(REPEATED) {
        let end = start + to.len();
        let part = |index: usize| match bytes[index] {
            [_] => held[index].get(..to.len()),
            bytes => bytes.get(start..end),
        };
        visit([part(0).unwrap_or(&[]), part(1).unwrap_or(&[])], to);
        start = end;
    }
}

/// Copies as many bytes as both have.
#[inline(always)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    let count = to.len().min(from.len());
    if let (Some(to), Some(from)) = (to.get_mut(..count), from.get(..count)) {
        to.copy_from_slice(from);
    }
}
