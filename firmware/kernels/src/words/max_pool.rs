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
        if self.count == PASS {
            self.finish(pixel);
        }
        if let Some(place) = self.taps.get_mut(self.count) {
            *place = tap;
        }
        self.count += 1;
    }

    /// Makes the pixel the largest of itself and the taps.
    #[inline(never)]
    fn finish(&mut self, pixel: &mut [u8]) {
        let [a, b, c, d] = self.taps;
        match (self.started, self.count) {
            (false, 4..) => keep(pixel, [b, c, d], Some(a)),
            (false, 3) => keep(pixel, [b, c], Some(a)),
            (false, 2) => keep(pixel, [b], Some(a)),
            (false, _) => keep(pixel, [], Some(a)),
            (true, 4..) => keep(pixel, [a, b, c, d], None),
            (true, 3) => keep(pixel, [a, b, c], None),
            (true, 2) => keep(pixel, [a, b], None),
            (true, _) => keep(pixel, [a], None),
        }
        self.count = 0;
        self.started = true;
    }
}

/// Makes each byte the largest of the taps' and `start`'s, its own if there is none. All are as long
/// as the pixel.
#[inline(always)]
fn keep<const N: usize>(pixel: &mut [u8], taps: [&[u8]; N], start: Option<&[u8]>) {
    let (words, rest) = pixel.as_chunks_mut();
    let whole = words.len();
    let taps = taps.map(|tap| tap.as_chunks());
    let start = start.map(<[u8]>::as_chunks);
    for at in 0..whole {
        let Some(place) = words.get_mut(at) else { return };
        let mut largest = match start {
            Some((words, _)) => words.get(at).map_or(0, word),
            None => word(place),
        };
        for (words, _) in &taps {
            largest = larger_bytes(largest, words.get(at).map_or(largest, word));
        }
        store_word(place, largest);
    }
    for (at, byte) in rest.iter_mut().enumerate() {
        let own = *byte;
        let mut largest = start.map_or(own, |(_, rest)| rest.get(at).copied().unwrap_or(own)) as i8;
        for (_, rest) in &taps {
            largest = largest.max(rest.get(at).map_or(largest, |byte| *byte as i8));
        }
        *byte = largest as u8;
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
