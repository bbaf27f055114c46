//! Mean over a window: over the part that lies inside the input, or over that and padding.

use super::SMALL;
use super::reached::{Along, each_pixel, of_channel};
use crate::error::KernelError;
use crate::geometry::{Output, Source, Taps, Target, Tile, Window};

/// What a pool computes. Input and output share scale and zero point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The window.
    pub window: Window,
    /// The output's clamp; its zero point is not used.
    pub output: Output,
}

impl Pool {
    pub(crate) fn check(&self, tile: &Tile, input: &Source<'_>) -> Result<(), KernelError> {
        self.window.check()?;
        if input.layout.channels == tile.channels { Ok(()) } else { Err(KernelError::Shape) }
    }
}

/// What an average pool computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AveragePool {
    /// The window and the output.
    pub pool: Pool,
    /// The padding that counts, if any does.
    pub counted: Option<Counted>,
    /// Whether halves are rounded towards +∞, not away from zero.
    pub halves_up: bool,
}

/// Padding that counts in the divisor: all above and left, and below and right up to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// One past the last row and column that count, in input coordinates.
    pub end: [i32; 2],
    /// Value of the padding: zero point of the input.
    pub zero: i8,
}

/// Channels whose sums are held together.
const BLOCK: usize = 8;

/// Takes the mean of what each window sees, rounded to nearest; a window that sees no
/// input is refused.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn average_pool(
    op: &AveragePool,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    let AveragePool { pool: Pool { window, output: clamp }, halves_up, .. } = op;
    op.pool.check(tile, input)?;
    if SMALL {
        return each_pixel(tile, output, &mut |[y, x], pixel| {
            let [rows, columns] = [window.taps(0, y, tile), window.taps(1, x, tile)];
            let (count, offset) = op.divisor([y, x], [&rows, &columns])?;
            let divisor = Divisor::new(count, *halves_up);
            let (rows, columns) = (Along::of(&rows, window, 0), Along::of(&columns, window, 1));
            for (channel, byte) in pixel.iter_mut().enumerate() {
                let sum = of_channel(input, channel, [&rows, &columns])?.wrapping_add(offset);
                *byte = clamp.clamp(divisor.mean(sum) as u8);
            }
            Ok(())
        });
    }
    let (layout, target) = (input.layout, output.layout);
    let step = layout.column_pitch.wrapping_mul(window.dilation[1] as usize);
    for y in tile.outputs(0) {
        let rows = window.taps(0, y, tile);
        for x in tile.outputs(1) {
            let columns = window.taps(1, x, tile);
            let (count, offset) = op.divisor([y, x], [&rows, &columns])?;
            let start = target.column(x);
            let pixel = output.row(y)?.get_mut(start..start.wrapping_add(tile.channels));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            for (block, bytes) in pixel.chunks_mut(BLOCK).enumerate() {
                let mut sums = [offset; BLOCK];
                let mut row = rows.position;
                for _ in 0..rows.count {
                    let line = input.row(row)?;
                    let mut start = layout.column(columns.position).wrapping_add(block * BLOCK);
                    for _ in 0..columns.count {
                        let seen = line.get(start..start.wrapping_add(bytes.len()));
                        add_all(&mut sums, seen.ok_or(KernelError::OutOfBounds)?);
                        start = start.wrapping_add(step);
                    }
                    row = row.wrapping_add(window.dilation[0]);
                }
                let divisor = Divisor::new(count, *halves_up);
                for (byte, sum) in bytes.iter_mut().zip(sums) {
                    *byte = clamp.clamp(divisor.mean(sum) as u8);
                }
            }
        }
    }
    Ok(())
}

impl AveragePool {
    /// By how much the sum of what an output's window sees is divided, and what padding adds to it.
    #[inline]
    pub(crate) fn divisor(
        &self,
        [y, x]: [i32; 2],
        [rows, columns]: [&Taps; 2],
    ) -> Result<(i32, i32), KernelError> {
        let seen = i32::try_from(rows.count * columns.count).unwrap_or(0);
        let (count, offset) = match &self.counted {
            None => (seen, 0),
            Some(counted) => {
                let op = &self.pool;
                let count = counted.taps(op, 0, y).wrapping_mul(counted.taps(op, 1, x));
                let padding = count.wrapping_sub(seen);
                (count, padding.wrapping_mul(i32::from(counted.zero)))
            }
        };
        if seen == 0 || count < 1 { Err(KernelError::Shape) } else { Ok((count, offset)) }
    }
}

impl Counted {
    /// Taps of a window that count along an axis.
    #[inline]
    fn taps(&self, op: &Pool, axis: usize, output: i32) -> i32 {
        let window = &op.window;
        let origin = output.wrapping_mul(window.stride[axis]).wrapping_sub(window.padding[axis]);
        let distance = self.end[axis].wrapping_sub(origin).max(0);
        let dilation = window.dilation[axis].max(1);
        let taps = distance / dilation + i32::from(distance % dilation != 0);
        taps.min(i32::try_from(window.size[axis]).unwrap_or(i32::MAX))
    }
}

#[inline(always)]
fn add_all(sums: &mut [i32; BLOCK], bytes: &[u8]) {
    if let Some(bytes) = bytes.first_chunk::<BLOCK>() {
        // A known length: no loop remains.
        for (sum, byte) in sums.iter_mut().zip(bytes) {
            *sum = sum.wrapping_add(i32::from(*byte as i8));
        }
    } else {
        for (sum, byte) in sums.iter_mut().zip(bytes) {
            *sum = sum.wrapping_add(i32::from(*byte as i8));
        }
    }
}

/// Takes means of sums over as many elements.
#[derive(Clone, Copy)]
pub(crate) struct Divisor {
    count: i32,
    /// What is added to sums above zero, and to others.
    halves: [i32; 2],
}

impl Divisor {
    /// `count` is above zero. Halves are rounded up or away from zero.
    #[inline(always)]
    pub const fn new(count: i32, halves_up: bool) -> Self {
        let count = if count > 0 { count } else { 1 };
        // Of a negative sum, one less than half is added where halves go up: rounding is symmetric
        // but for the halves themselves, which an even count alone has.
        let half = if halves_up { (count - 1) / 2 } else { count / 2 };
        Self { count, halves: [count / 2, -half] }
    }

    /// `sum` divided by the count.
    #[inline(always)]
    pub const fn mean(&self, sum: i32) -> i32 {
        let [positive, other] = self.halves;
        let half = if sum > 0 { positive } else { other };
        sum.wrapping_add(half).wrapping_div(self.count)
    }
}
