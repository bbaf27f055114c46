//! Sums of channels over pixels, sixteen channels at a time, and what is made of them.

use crate::dsp::winograd::start_sums;
use crate::dsp::{SUMMED, add_pixels};
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};

/// Pixels of a box: the first one (tensor coordinates), how many rows and columns, and pixels from a
/// row or column to the next.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub first: [i32; 2],
    pub size: [usize; 2],
    pub step: [i32; 2],
}

/// Gives what an output at (row, column) sums up, what [`Finish`] is to know of it, and what sums begin
/// with: none of all channels.
pub type AreaOf<'a> = dyn Fn([i32; 2]) -> Result<(Area, [i32; 2]), KernelError> + 'a;

/// Makes bytes of as many sums.
pub type Finish<'f> = dyn Fn(i32, &[i32], &mut [u8]) + 'f;

/// Makes the tile's outputs of sums over areas. With `whole`, an output has one channel: the sum of
/// all of the input's.
#[inline(never)]
pub fn outputs_of_sums(
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
    whole: bool,
    area: &AreaOf<'_>,
    finish: &Finish<'_>,
) -> Result<(), KernelError> {
    let (channels, layout) = (input.layout.channels, output.layout);
    let outputs = if whole { 1 } else { channels };
    if tile.channels != outputs || layout.channels != outputs {
        return Err(KernelError::Shape);
    }
    let mut sums = [0i32; SUMMED];
    for y in tile.outputs(0) {
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let (area, with) = area([y, x])?;
            let start = layout.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(outputs));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            let mut total = 0i32;
            let lines = Lines::of(input, &area)?;
            let mut first = 0;
            while first < channels {
                start_sums(&mut sums, with[1]);
                let count = (channels - first).min(SUMMED);
                // A short last block is made sixteen channels long again, where there are as many.
                let ahead = if whole { first } else { channels.saturating_sub(SUMMED).min(first) };
                let end = first + count;
                lines.add_up(input, &area, ahead, end - ahead, &mut sums)?;
                let sums = sums.get(..end - ahead).unwrap_or(&[]);
                if whole {
                    total = sums.iter().fold(total, |total, sum| total.wrapping_add(*sum));
                } else {
                    finish(with[0], sums, pixel.get_mut(ahead..end).unwrap_or(&mut []));
                }
                first = end;
            }
            if whole {
                finish(with[0], &[total], pixel);
            }
        }
    }
    Ok(())
}

/// The lines of an area: each one's pixels are as far apart.
struct Lines<'a> {
    /// The first line's bytes.
    bytes: &'a [u8],
    /// Bytes from a pixel to the next, and pixels of a line.
    pitch: usize,
    pixels: usize,
    count: usize,
}

impl<'a> Lines<'a> {
    #[inline(never)]
    fn of(input: &Source<'a>, area: &Area) -> Result<Self, KernelError> {
        let [rows, columns] = area.size;
        if rows == 0 || columns == 0 {
            return Ok(Self { bytes: &[], pitch: 0, pixels: 0, count: 0 });
        }
        let across = area.step[1] as usize;
        let pitch = input.layout.column_pitch.wrapping_mul(across);
        let (bytes, run) = input.run(area.first, area.seen())?;
        // Whether the last pixel of a row and the first of the next are as far apart as others.
        let even = area.step[0] == 1 && columns.wrapping_mul(pitch) == input.layout.row_pitch;
        let (pixels, count) =
            if even && run >= rows { (rows * columns, 1) } else { (columns, rows) };
        Ok(Self { bytes, pitch, pixels, count })
    }

    /// Adds the bytes of `channels` channels from `first` on to sums.
    #[inline(never)]
    fn add_up(
        &self,
        input: &Source<'_>,
        area: &Area,
        first: usize,
        channels: usize,
        sums: &mut [i32; SUMMED],
    ) -> Result<(), KernelError> {
        let mut bytes = self.bytes;
        for line in 0..self.count {
            if line > 0 {
                let y = area.first[0].wrapping_add((line as i32).wrapping_mul(area.step[0]));
                bytes = input.run([y, area.first[1]], area.seen())?.0;
            }
            let rest = bytes.get(first..).unwrap_or(&[]);
            if channels == SUMMED {
                if !add_pixels(rest, self.pitch, self.pixels, sums) {
                    return Err(KernelError::OutOfBounds);
                }
            } else {
                let sums = sums.get_mut(..channels).unwrap_or(&mut []);
                add_few(rest, self.pitch, self.pixels, sums)?;
            }
        }
        Ok(())
    }
}

impl Area {
    /// Columns from the first to the last.
    const fn seen(&self) -> usize {
        self.size[1].saturating_sub(1).wrapping_mul(self.step[1] as usize).wrapping_add(1)
    }
}

/// Adds the first bytes of each of `count` pixels, `pitch` bytes apart, to as many sums.
fn add_few(
    mut rest: &[u8],
    pitch: usize,
    count: usize,
    sums: &mut [i32],
) -> Result<(), KernelError> {
    for _ in 0..count {
        let bytes = rest.get(..sums.len()).ok_or(KernelError::OutOfBounds)?;
        for (sum, byte) in sums.iter_mut().zip(bytes) {
            *sum = sum.wrapping_add(i32::from(*byte as i8));
        }
        rest = rest.get(pitch..).unwrap_or(&[]);
    }
    Ok(())
}
