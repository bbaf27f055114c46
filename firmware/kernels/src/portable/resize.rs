//! Resizing. Input and output share scale and zero point.

use super::reached::each_pixel;
use super::runs::copy;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};

/// For each output row and column of the whole layer, the input's that is nearest: 16-bit
/// little-endian numbers. [`crate::pack::nearest`] makes them.
#[derive(Clone, Copy, Debug)]
pub struct Nearest<'a> {
    /// Input row of each output row.
    pub rows: &'a [[u8; 2]],
    /// Input column of each output column.
    pub columns: &'a [[u8; 2]],
}

impl<'a> Nearest<'a> {
    /// Reads the table of a layer with `rows` output rows.
    #[must_use]
    pub fn new(bytes: &'a [u8], rows: usize) -> Option<Self> {
        let (rows, columns) = bytes.as_chunks().0.split_at_checked(rows)?;
        Some(Self { rows, columns })
    }
}

fn entry(table: &[[u8; 2]], at: i32) -> Option<i32> {
    let entry = table.get(usize::try_from(at).ok()?)?;
    Some(i32::from(u16::from_le_bytes(*entry)))
}

/// Gives each output pixel the nearest input pixel.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn resize_nearest(
    op: &Nearest<'_>,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let from = input.layout;
    if from.channels != tile.channels || output.layout.channels != tile.channels {
        return Err(KernelError::Shape);
    }
    each_pixel(tile, output, &mut |[y, x], pixel| {
        let (row, column) =
            entry(op.rows, y).zip(entry(op.columns, x)).ok_or(KernelError::ConstantsTooShort)?;
        let start = from.column(column);
        let bytes = input.row(row)?.get(start..start.wrapping_add(tile.channels));
        copy(pixel, bytes.ok_or(KernelError::OutOfBounds)?);
        Ok(())
    })
}

/// What a bilinear resizing computes: places between pixels in steps of 2^−10 pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bilinear {
    /// Vertical and horizontal distance in the input from an output pixel to the next.
    pub step: [i32; 2],
    /// Place in the input of the layer's first output row and column.
    pub first: [i32; 2],
}

/// Steps in a pixel, and their logarithm.
const UNIT: i32 = 1 << UNIT_BITS;
const UNIT_BITS: u32 = 10;

/// Two neighbouring rows or columns and how much each weighs, in 2^−10.
struct Between {
    at: [i32; 2],
    weights: [i32; 2],
}

impl Bilinear {
    fn between(&self, tile: &Tile, axis: usize, output: i32) -> Between {
        let place = output.wrapping_mul(self.step[axis]).wrapping_add(self.first[axis]);
        let last = tile.valid_end[axis].wrapping_sub(1);
        // The place itself is not moved to the border: weights beyond it fall on one pixel.
        let low = (place / UNIT).max(tile.valid_start[axis]);
        let high = (place.wrapping_add(UNIT - 1) / UNIT).min(last);
        let weight = place.wrapping_sub(low.wrapping_mul(UNIT));
        Between { at: [low, high], weights: [UNIT.wrapping_sub(weight), weight] }
    }
}

/// Gives each output pixel the mean of the four input pixels around its place, weighted by how
/// near they are; halves away from zero.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn resize_bilinear(
    op: &Bilinear,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let from = input.layout;
    if from.channels != tile.channels || output.layout.channels != tile.channels {
        return Err(KernelError::Shape);
    }
    each_pixel(tile, output, &mut |[y, x], pixel| {
        let (rows, columns) = (op.between(tile, 0, y), op.between(tile, 1, x));
        let mut corners: [&[u8]; 4] = [&[]; 4];
        let mut weights = [0i32; 4];
        for (place, (corner, weight)) in corners.iter_mut().zip(&mut weights).enumerate() {
            let (row, column) = (place / 2, place % 2);
            let start = from.column(columns.at[column]);
            let bytes = input.row(rows.at[row])?.get(start..start.wrapping_add(tile.channels));
            *corner = bytes.ok_or(KernelError::OutOfBounds)?;
            *weight = rows.weights[row].wrapping_mul(columns.weights[column]);
        }
        mix(pixel, &corners, &weights);
        Ok(())
    })
}

/// The weighted mean of four runs of bytes; weights in 2^−20.
#[inline(never)]
fn mix(pixel: &mut [u8], [a, b, c, d]: &[&[u8]; 4], [wa, wb, wc, wd]: &[i32; 4]) {
    const HALF: i32 = 1 << (2 * UNIT_BITS - 1);
    let value = |byte: &u8, weight: i32| i32::from(*byte as i8).wrapping_mul(weight);
    for ((((to, a), b), c), d) in pixel.iter_mut().zip(*a).zip(*b).zip(*c).zip(*d) {
        let ab = value(a, *wa).wrapping_add(value(b, *wb));
        let sum = ab.wrapping_add(value(c, *wc)).wrapping_add(value(d, *wd));
        let half = if sum > 0 { HALF } else { -HALF };
        *to = (sum.wrapping_add(half) / (1 << (2 * UNIT_BITS))) as u8;
    }
}
