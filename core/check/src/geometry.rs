//! Windows and resizing: that a step's geometry is its node's, and that what its tile needs of the
//! input counts as existing.

use crate::same;
use std::ops::Range;
use tilewright_model::Window;
use tilewright_plan::{Op, Tile};

/// Checks a window and what of an input of `shape` is valid.
///
/// # Errors
/// Says what differs.
pub fn check_window(
    op: &Op,
    tile: &Tile,
    window: &Window,
    shape: [u64; 3],
    transposed: bool,
) -> Result<(), String> {
    same("window", op.window.map(usize::from), window.size)?;
    same("stride", op.stride.map(usize::from), window.stride)?;
    same("dilation", op.dilation.map(usize::from), window.dilation)?;
    let padding = [window.padding.top, window.padding.left];
    same("padding", op.padding.map(usize::from), padding)?;
    let needed = |axis: usize| {
        let start = u64::from(tile.output_start[axis]);
        let last = start + u64::from(tile.output_size[axis]) - 1;
        let (stride, padding) = (window.stride[axis] as u64, padding[axis] as u64);
        let reach = (window.size[axis] as u64 - 1) * window.dilation[axis] as u64;
        if transposed {
            // Input i reaches outputs i · stride − padding up to that plus the window's reach.
            let first = (start + padding).saturating_sub(reach).div_ceil(stride);
            first..(last + padding) / stride + 1
        } else {
            let first = start * stride;
            let end = last * stride + reach + 1;
            first.saturating_sub(padding)..end.saturating_sub(padding)
        }
    };
    check_valid(tile, shape, needed)
}

/// All input that exists and that the tile needs must count as existing, and nothing else.
///
/// # Errors
/// Says which is not so.
pub fn check_valid(
    tile: &Tile,
    shape: [u64; 3],
    needed: impl Fn(usize) -> Range<u64>,
) -> Result<(), String> {
    for (axis, length) in shape.into_iter().take(2).enumerate() {
        let needed = needed(axis);
        let needed = needed.start.min(length)..needed.end.min(length);
        let valid = u64::from(tile.valid_start[axis]);
        let valid = valid..valid + u64::from(tile.valid_size[axis]);
        if !needed.is_empty() && (needed.start < valid.start || needed.end > valid.end) {
            return Err("input that exists is treated as padding".to_owned());
        }
        if valid.end > length {
            return Err("padding is treated as input that exists".to_owned());
        }
    }
    Ok(())
}

/// Rows or columns of an input of `length` that a bilinear resizing needs for a tile.
pub fn between(op: &Op, tile: &Tile, axis: usize, length: u64) -> Range<u64> {
    const UNIT: i64 = 1 << 10;
    let [sy, sx, fy, fx, ..] = op.scalars.map(i64::from);
    let (step, first) = [(sy, fy), (sx, fx)][axis];
    let start = i64::from(tile.output_start[axis]);
    let last = start + i64::from(tile.output_size[axis]) - 1;
    let low = (start * step + first).div_euclid(UNIT).max(0).cast_unsigned();
    let high = (last * step + first + UNIT - 1).div_euclid(UNIT).max(0).cast_unsigned();
    low.min(length - 1)..high.min(length - 1) + 1
}
