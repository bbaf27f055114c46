//! Sums of channels over pixels: halves of words, sixteen channels at a time.

use crate::dsp::{add_even_bytes, add_odd_bytes, word};
use crate::error::KernelError;
use crate::geometry::Source;

/// Channels whose sums are held together.
pub const BLOCK: usize = 16;

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

/// Adds up the bytes of the channels from `first` on, as many as `sums` has.
#[inline(always)]
pub fn add_up(
    input: &Source<'_>,
    area: &Area,
    first: usize,
    sums: &mut [i32],
) -> Result<(), KernelError> {
    match sums.first_chunk_mut::<BLOCK>() {
        Some(sums) => blocks::<{ BLOCK / 4 }>(input, area, first, sums.as_chunks_mut().0)?,
        None => {
            let (whole, rest) = sums.as_chunks_mut::<4>();
            let channels = whole.len() * 4;
            for (index, sums) in whole.chunks_mut(1).enumerate() {
                blocks::<1>(input, area, first + index * 4, sums)?;
            }
            for (index, sum) in rest.iter_mut().enumerate() {
                *sum = sum.wrapping_add(single(input, area, first + channels + index)?);
            }
        }
    }
    Ok(())
}

/// Adds up `4 · WORDS` channels.
#[inline(never)]
fn blocks<const WORDS: usize>(
    input: &Source<'_>,
    area: &Area,
    first: usize,
    sums: &mut [[i32; 4]],
) -> Result<(), KernelError> {
    let step = input.layout.column_pitch.wrapping_mul(area.step[1] as usize);
    let [mut even, mut odd] = [[0u32; WORDS]; 2];
    let mut room = MOST;
    let mut y = area.first[0];
    for _ in 0..area.size[0] {
        let line = input.row(y)?;
        let start = input.layout.column(area.first[1]).wrapping_add(first);
        let mut rest = line.get(start..).ok_or(KernelError::OutOfBounds)?;
        let mut left = area.size[1];
        while left > 0 {
            if room == 0 {
                flush(&mut even, &mut odd, sums);
                room = MOST;
            }
            let count = left.min(room);
            left -= count;
            room -= count;
            for _ in 0..count {
                let (words, _) = rest.as_chunks::<4>();
                let words = words.first_chunk::<WORDS>().ok_or(KernelError::OutOfBounds)?;
                for ((even, odd), bytes) in even.iter_mut().zip(&mut odd).zip(words) {
                    *even = add_even_bytes(*even, word(bytes));
                    *odd = add_odd_bytes(*odd, word(bytes));
                }
                rest = rest.get(step..).unwrap_or(&[]);
            }
        }
        y = y.wrapping_add(area.step[0]);
    }
    flush(&mut even, &mut odd, sums);
    Ok(())
}

/// Moves halves to the sums of their channels.
#[inline(always)]
fn flush<const WORDS: usize>(
    even: &mut [u32; WORDS],
    odd: &mut [u32; WORDS],
    sums: &mut [[i32; 4]],
) {
    let low = |halves: u32| i32::from(halves as i16);
    let high = |halves: u32| halves as i32 >> 16;
    for (([a, b, c, d], even), odd) in sums.iter_mut().zip(even).zip(odd) {
        *a = a.wrapping_add(low(*even));
        *b = b.wrapping_add(low(*odd));
        *c = c.wrapping_add(high(*even));
        *d = d.wrapping_add(high(*odd));
        (*even, *odd) = (0, 0);
    }
}

/// The sum of one channel.
fn single(input: &Source<'_>, area: &Area, channel: usize) -> Result<i32, KernelError> {
    let step = input.layout.column_pitch.wrapping_mul(area.step[1] as usize);
    let (mut sum, mut y) = (0i32, area.first[0]);
    for _ in 0..area.size[0] {
        let line = input.row(y)?;
        let mut at = input.layout.column(area.first[1]).wrapping_add(channel);
        for _ in 0..area.size[1] {
            let byte = line.get(at).ok_or(KernelError::OutOfBounds)?;
            sum = sum.wrapping_add(i32::from(*byte as i8));
            at = at.wrapping_add(step);
        }
        y = y.wrapping_add(area.step[0]);
    }
    Ok(sum)
}
