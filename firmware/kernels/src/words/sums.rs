//! Sums of channels over pixels, sixteen channels at a time, and what is made of them.

use crate::dsp::{Halves, SUMMED, add_pixels};
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};

/// Pixels whose sum stays within a half: 255 · −128 is above −2^15.
const MOST: usize = 255;

/// Pixels of a box: the first one (tensor coordinates), how many rows and columns, and pixels from a
/// row or column to the next.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub first: [i32; 2],
    pub size: [usize; 2],
    pub step: [i32; 2],
}

/// Gives what an output at (row, column) sums up, and what [`Finish`] is to know of it.
pub type AreaOf<'a> = dyn Fn([i32; 2]) -> Result<(Area, [i32; 2]), KernelError> + 'a;

/// Makes bytes of as many sums.
pub type Finish<'f> = dyn Fn([i32; 2], &[i32], &mut [u8]) + 'f;

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
    for y in tile.outputs(0) {
        let line = output.row(y)?;
        for x in tile.outputs(1) {
            let (area, with) = area([y, x])?;
            let start = layout.column(x);
            let pixel = line.get_mut(start..start.wrapping_add(outputs));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            let mut total = 0i32;
            let mut first = 0;
            while first < channels {
                let mut sums = [0i32; SUMMED];
                let count = (channels - first).min(SUMMED);
                // A short last block is made sixteen channels long again, where there are as many.
                let ahead = if whole { first } else { channels.saturating_sub(SUMMED).min(first) };
                let end = first + count;
                let sums = sums.get_mut(..end - ahead).unwrap_or(&mut []);
                add_up(input, &area, ahead, sums)?;
                if whole {
                    total = sums.iter().fold(total, |total, sum| total.wrapping_add(*sum));
                } else {
                    finish(with, sums, pixel.get_mut(ahead..end).unwrap_or(&mut []));
                }
                first = end;
            }
            if whole {
                finish(with, &[total], pixel);
            }
        }
    }
    Ok(())
}

/// Adds up the bytes of the channels from `first` on, as many as `sums` has.
#[inline(never)]
fn add_up(
    input: &Source<'_>,
    area: &Area,
    first: usize,
    sums: &mut [i32],
) -> Result<(), KernelError> {
    let Area { first: [top, left], size: [rows, columns], step } = *area;
    let pitch = input.layout.column_pitch.wrapping_mul(step[1] as usize);
    // Whether all pixels are as far apart, the last of a row and the first of the next too.
    let even = step[0] == 1 && columns.wrapping_mul(pitch) == input.layout.row_pitch;
    let seen = columns.saturating_sub(1).wrapping_mul(step[1] as usize).wrapping_add(1);
    let (mut halves, mut room): (Halves, _) = ([0; SUMMED / 2], MOST);
    let mut done = 0;
    while done < rows {
        let y = top.wrapping_add((done as i32).wrapping_mul(step[0]));
        let (bytes, run) = input.run([y, left], seen)?;
        let run = if even { run.min(rows - done) } else { 1 };
        done += run;
        let mut rest = bytes.get(first..).unwrap_or(&[]);
        let mut left = run * columns;
        while left > 0 {
            let count = left.min(room);
            if sums.len() == SUMMED {
                if !add_pixels(rest, pitch, count, &mut halves) {
                    return Err(KernelError::OutOfBounds);
                }
            } else {
                add_few(rest, pitch, count, sums)?;
            }
            rest = rest.get(count.wrapping_mul(pitch)..).unwrap_or(&[]);
            left -= count;
            room -= count;
            if room == 0 {
                flush(&mut halves, sums);
                room = MOST;
            }
        }
    }
    flush(&mut halves, sums);
    Ok(())
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

/// Moves halves to the sums of their channels.
fn flush(halves: &mut Halves, sums: &mut [i32]) {
    let sums = sums.as_chunks_mut::<4>().0.iter_mut();
    for ([a, b, c, d], [even, odd]) in sums.zip(halves.as_chunks_mut::<2>().0) {
        *a = a.wrapping_add(i32::from(*even as i16));
        *b = b.wrapping_add(i32::from(*odd as i16));
        *c = c.wrapping_add(*even as i32 >> 16);
        *d = d.wrapping_add(*odd as i32 >> 16);
        (*even, *odd) = (0, 0);
    }
}
