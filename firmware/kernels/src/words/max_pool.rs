//! Maximum over a window, four bytes at a time and up to four taps in one pass over a pixel.

use crate::clamp::clamp;
use crate::dsp::keep_largest;
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile};
use crate::portable::Pool;

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
    let (layout, target, window) = (input.layout, output.layout, &op.window);
    let pitch = |axis: usize, pitch: usize| pitch.wrapping_mul(window.dilation[axis] as usize);
    let (down, across) = (pitch(0, layout.row_pitch), pitch(1, layout.column_pitch));
    for y in tile.outputs(0) {
        let rows = window.taps(0, y, tile);
        if rows.count == 0 {
            return Err(KernelError::Shape);
        }
        let to = output.row(y)?;
        let mut done = 0;
        while done < rows.count {
            // Rows that follow each other in memory.
            let row = rows.position.wrapping_add(window.dilation[0].wrapping_mul(done as i32));
            let (bytes, run) = input.run([row, layout.first[1]], layout.columns)?;
            let count = run.div_ceil(window.dilation[0].max(1) as usize).min(rows.count - done);
            for x in tile.outputs(1) {
                let columns = window.taps(1, x, tile);
                let start = target.column(x);
                let pixel = to.get_mut(start..start.wrapping_add(layout.channels));
                let pixel = pixel.ok_or(KernelError::OutOfBounds)?;
                let mut pass = Pass { places: [0; TAPS], count: 0, own: done > 0 };
                let mut row = layout.column(columns.position);
                for _ in 0..count {
                    let mut place = row;
                    for _ in 0..columns.count {
                        pass.take(place, bytes, pixel)?;
                        place = place.wrapping_add(across);
                    }
                    row = row.wrapping_add(down);
                }
                pass.finish(bytes, pixel)?;
            }
            done += count;
        }
        if op.output.is_narrow() {
            for x in tile.outputs(1) {
                let start = target.column(x);
                let pixel = to.get_mut(start..start.wrapping_add(layout.channels));
                clamp(&op.output, pixel.unwrap_or(&mut []));
            }
        }
    }
    Ok(())
}

/// Taps that are looked at in one pass.
const TAPS: usize = 4;

/// Taps that were seen but not looked at yet.
struct Pass {
    places: [usize; TAPS],
    count: usize,
    /// Whether the pixel holds the largest of others already: it takes the first tap's place.
    own: bool,
}

impl Pass {
    #[inline(always)]
    fn take(&mut self, place: usize, bytes: &[u8], pixel: &mut [u8]) -> Result<(), KernelError> {
        if self.count == 0 {
            // Where taps are missing in the end, the first one stands for them.
            self.places = [place; TAPS];
            self.count = usize::from(self.own);
        }
        if let Some(to) = self.places.get_mut(self.count) {
            *to = place;
        }
        self.count += 1;
        if self.count == TAPS { self.finish(bytes, pixel) } else { Ok(()) }
    }

    /// Makes the pixel the largest of the taps, and of itself once it was started.
    #[inline(never)]
    fn finish(&mut self, bytes: &[u8], pixel: &mut [u8]) -> Result<(), KernelError> {
        if self.count == 0 {
            return if self.own { Ok(()) } else { Err(KernelError::Shape) };
        }
        let fits = keep_largest(pixel, bytes, self.places, self.own);
        (self.count, self.own) = (0, true);
        if fits { Ok(()) } else { Err(KernelError::OutOfBounds) }
    }
}
