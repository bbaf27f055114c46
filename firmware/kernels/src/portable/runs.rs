//! Elementwise kernels visit runs of elements that are contiguous in all operands.

use crate::error::KernelError;
use crate::geometry::{Layout, Source, Target, Tile};

/// The source's coordinates of the element that lies at (y, x) in the target: the same distance
/// from the box's first element. Boxes of equal size may start at different coordinates (concat).
#[inline]
fn beside(source: &Layout, target: &Layout, y: i32, x: i32) -> (i32, i32) {
    (
        y.wrapping_sub(target.first[0]).wrapping_add(source.first[0]),
        x.wrapping_sub(target.first[1]).wrapping_add(source.first[1]),
    )
}

/// Visits the tile in runs, with the bytes of each source and of the target.
#[inline(always)]
pub fn runs<const N: usize>(
    tile: &Tile,
    sources: [&Source<'_>; N],
    target: &mut Target<'_>,
    mut visit: impl FnMut([&[u8]; N], &mut [u8]),
) -> Result<(), KernelError> {
    let layout = target.layout;
    let channels = tile.channels;
    if layout.channels != channels || sources.iter().any(|s| s.layout.channels != channels) {
        return Err(KernelError::Shape);
    }
    let columns = tile.output_size[1];
    let dense = layout.is_dense() && sources.iter().all(|s| s.layout.is_dense());
    let (run_columns, run_bytes) =
        if dense { (columns, columns.wrapping_mul(channels)) } else { (1, channels) };
    if run_columns == 0 {
        return Err(KernelError::Shape);
    }
    for y in tile.outputs(0) {
        let line = target.row(y)?;
        for x in tile.outputs(1).step_by(run_columns) {
            let mut bytes: [&[u8]; N] = [&[]; N];
            for (bytes, source) in bytes.iter_mut().zip(sources) {
                let (y, x) = beside(&source.layout, &layout, y, x);
                let start = source.layout.column(x);
                let run = source.row(y)?.get(start..start.wrapping_add(run_bytes));
                *bytes = run.ok_or(KernelError::OutOfBounds)?;
            }
            let start = layout.column(x);
            let run = line.get_mut(start..start.wrapping_add(run_bytes));
            visit(bytes, run.ok_or(KernelError::OutOfBounds)?);
        }
    }
    Ok(())
}

/// Copies as many bytes as both have.
#[inline(always)]
pub fn copy(to: &mut [u8], from: &[u8]) {
    let count = to.len().min(from.len());
    if let (Some(to), Some(from)) = (to.get_mut(..count), from.get(..count)) {
        to.copy_from_slice(from);
    }
}
