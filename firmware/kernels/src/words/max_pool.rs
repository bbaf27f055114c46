//! Maximum over a window, four bytes at a time and up to four taps in one pass over a pixel.

use crate::dsp::{larger_bytes, smaller_bytes, store_word, word};
use crate::error::KernelError;
use crate::geometry::{Output, Source, Target, Tile};
use crate::portable::Pool;

/// Taps that are looked at in one pass.
const PASS: usize = 4;

/// Takes the largest value that each window sees; a window that sees no input is refused.
///
/// # Errors
/// [`KernelError`] if the operands do not fit the tile.
pub fn max_pool(
    op: &Pool,
    tile: &Tile,
    input: &Source<'_>,
    output: &mut Target<'_>,
) -> Result<(), KernelError> {
    op.check(tile, input)?;
    let (layout, target) = (input.layout, output.layout);
    let channels = layout.channels;
    let step = layout.column_pitch.wrapping_mul(op.window.dilation[1] as usize);
    for y in tile.outputs(0) {
        let rows = op.window.taps(0, y, tile);
        let to = output.row(y)?;
        for x in tile.outputs(1) {
            let columns = op.window.taps(1, x, tile);
            if rows.count == 0 || columns.count == 0 {
                return Err(KernelError::Shape);
            }
            let start = target.column(x);
            let pixel = to.get_mut(start..start.wrapping_add(channels));
            let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
            let mut pass = Pass { taps: [&[]; PASS], count: 0, started: false };
            let mut row = rows.position;
            for _ in 0..rows.count {
                let line = input.row(row)?;
                let mut start = layout.column(columns.position);
                for _ in 0..columns.count {
                    let seen = line.get(start..start.wrapping_add(channels));
                    pass.take(seen.ok_or(KernelError::OutOfBounds)?, pixel);
                    start = start.wrapping_add(step);
                }
                row = row.wrapping_add(op.window.dilation[0]);
            }
            pass.finish(pixel);
            if op.output.is_narrow() {
                clamp(&op.output, pixel);
            }
        }
    }
    Ok(())
}

/// Taps that were seen but not looked at yet.
struct Pass<'a> {
    taps: [&'a [u8]; PASS],
    count: usize,
    /// Whether the pixel holds the largest of others already.
    started: bool,
}

impl<'a> Pass<'a> {
    #[inline(always)]
    fn take(&mut self, tap: &'a [u8], pixel: &mut [u8]) {
        if self.count == PASS - usize::from(self.started) {
            self.finish(pixel);
        }
        // Where taps are missing in the end, the first one stands for them.
        match self.count {
            0 => self.taps = [tap; PASS],
            1 => self.taps[1] = tap,
            2 => self.taps[2] = tap,
            _ => self.taps[3] = tap,
        }
        self.count += 1;
    }

    /// Makes the pixel the largest of the taps, and of itself once it was started.
    #[inline(always)]
    fn finish(&mut self, pixel: &mut [u8]) {
        let [a, b, c, d] = self.taps;
        if self.started {
            larger(pixel, [a, b, c]);
        } else {
            largest(pixel, [a, b, c, d]);
        }
        self.count = 0;
        self.started = true;
    }
}

/// Makes each byte the largest of four; all are as long as the pixel.
#[inline(never)]
fn largest(pixel: &mut [u8], taps: [&[u8]; 4]) {
    let (words, rest) = pixel.as_chunks_mut();
    let [(a, a_rest), (b, b_rest), (c, c_rest), (d, d_rest)] = taps.map(<[u8]>::as_chunks);
    for ((((to, a), b), c), d) in words.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        let (a, c) = (larger_bytes(word(a), word(b)), larger_bytes(word(c), word(d)));
        store_word(to, larger_bytes(a, c));
    }
    let others = b_rest.iter().zip(c_rest).zip(d_rest);
    for ((to, a), ((b, c), d)) in rest.iter_mut().zip(a_rest).zip(others) {
        let [a, b, c, d] = [*a, *b, *c, *d].map(|byte| byte as i8);
        *to = a.max(b).max(c).max(d) as u8;
    }
}

/// Makes each byte the largest of itself and three others; all are as long as the pixel.
#[inline(never)]
fn larger(pixel: &mut [u8], taps: [&[u8]; 3]) {
    let (words, rest) = pixel.as_chunks_mut();
    let [(a, a_rest), (b, b_rest), (c, c_rest)] = taps.map(<[u8]>::as_chunks);
    for (((to, a), b), c) in words.iter_mut().zip(a).zip(b).zip(c) {
        let (a, c) = (larger_bytes(word(to), word(a)), larger_bytes(word(b), word(c)));
        store_word(to, larger_bytes(a, c));
    }
    for ((to, a), (b, c)) in rest.iter_mut().zip(a_rest).zip(b_rest.iter().zip(c_rest)) {
        let [own, a, b, c] = [*to, *a, *b, *c].map(|byte| byte as i8);
        *to = own.max(a).max(b).max(c) as u8;
    }
}

/// Clamps the bytes of a pixel.
pub(super) fn clamp(to: &Output, pixel: &mut [u8]) {
    let [least, most] = [to.min, to.max].map(|bound| u32::from_ne_bytes([bound as u8; 4]));
    let (words, rest) = pixel.as_chunks_mut();
    for bytes in words {
        store_word(bytes, larger_bytes(smaller_bytes(word(bytes), most), least));
    }
    for byte in rest {
        *byte = to.clamp(*byte);
    }
}
