//! Sums of products of one output, one tap after the other: the loop of all convolutions where code is
//! to be small.

use super::dot::Element;
use crate::error::KernelError;
use crate::geometry::{Source, Taps, Target, Tile, Window};

/// Computes a pixel: row and column, and the bytes of the tile's channels.
pub type Visit<'v> = dyn FnMut([i32; 2], &mut [u8]) -> Result<(), KernelError> + 'v;

/// Visits the tile's pixels.
#[inline(never)]
pub fn each_pixel(
    tile: &Tile,
    output: &mut Target<'_>,
    visit: &mut Visit<'_>,
) -> Result<(), KernelError> {
    let layout = output.layout;
    for y in tile.outputs(0) {
        for x in tile.outputs(1) {
            let start = layout.column(x);
            let pixel = output.row(y)?.get_mut(start..start.wrapping_add(tile.channels));
            visit([y, x], pixel.ok_or(KernelError::OutOfBounds)?)?;
        }
    }
    Ok(())
}

/// Taps along an axis that see input, each as far from the last as the others.
#[derive(Clone, Copy)]
pub struct Along {
    /// The first tap, how many there are, and from one to the next.
    pub first: usize,
    pub count: usize,
    pub step: usize,
    /// The input's coordinate that the first sees, and from one tap's to the next one's.
    pub place: i32,
    pub ahead: i32,
}

impl Along {
    /// The taps of a window.
    pub fn of(taps: &Taps, window: &Window, axis: usize) -> Self {
        let Taps { first, count, position } = *taps;
        Self { first, count, step: 1, place: position, ahead: window.dilation[axis] }
    }

    /// The taps of a window that see input where the output coordinate is `output`.
    pub fn seen(window: &Window, axis: usize, output: i32, tile: &Tile) -> Self {
        Self::of(&window.taps(axis, output, tile), window, axis)
    }
}

/// Weights and input channels of an output channel.
pub struct Reached<'r, 'a> {
    pub input: &'r Source<'a>,
    /// The first input channel, and how many.
    pub first: usize,
    pub count: usize,
    /// From the first tap's first weight on; bytes from a row of taps and from a tap to the next.
    pub weights: &'r [u8],
    pub pitch: [usize; 2],
    /// Zero points of input and weights.
    pub zeros: [i8; 2],
}

/// The sum of a channel's values.
pub fn of_channel(
    input: &Source<'_>,
    channel: usize,
    [rows, columns]: [&Along; 2],
) -> Result<i32, KernelError> {
    let one =
        Reached { input, first: channel, count: 1, weights: &[1], pitch: [0; 2], zeros: [0; 2] };
    one.sum(rows, columns)
}

impl Reached<'_, '_> {
    /// The sum of products of all taps.
    #[inline(never)]
    pub fn sum(&self, rows: &Along, columns: &Along) -> Result<i32, KernelError> {
        let [zero, weight_zero] = self.zeros.map(i32::from);
        let mut sum = 0i32;
        for row in 0..rows.count {
            let y = rows.place.wrapping_add(rows.ahead.wrapping_mul(row as i32));
            let line = if columns.count > 0 { self.input.row(y)? } else { &[] };
            let of_row = (rows.first + row * rows.step) * self.pitch[0];
            for column in 0..columns.count {
                let x = columns.place.wrapping_add(columns.ahead.wrapping_mul(column as i32));
                let start = self.input.layout.column(x).wrapping_add(self.first);
                let seen = line.get(start..start.wrapping_add(self.count));
                let seen = seen.ok_or(KernelError::OutOfBounds)?;
                let at = of_row + (columns.first + column * columns.step) * self.pitch[1];
                let weights = self.weights.get(at..).ok_or(KernelError::ConstantsTooShort)?;
                for (x, weight) in seen.iter().zip(weights) {
                    let weight = weight.value() - weight_zero;
                    sum = (x.value() - zero).wrapping_mul(weight).wrapping_add(sum);
                }
            }
        }
        Ok(sum)
    }
}
