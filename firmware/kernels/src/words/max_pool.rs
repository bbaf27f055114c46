//! Maximum over a window, four bytes at a time and up to four taps in one pass over pixels.

use crate::clamp::clamp;
use crate::dsp::{Row, keep_largest};
use crate::error::KernelError;
use crate::geometry::{Source, Target, Tile, Window};
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
    let step = layout.column_pitch.wrapping_mul(window.stride[1] as usize);
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
            let mut outputs = tile.outputs(1);
            while let Some(x) = outputs.next() {
                let columns = window.taps(1, x, tile);
                let more = alike(window, tile, x).min(outputs.len());
                outputs.start += more as i32;
                let to = to.get_mut(target.column(x)..).unwrap_or(&mut []);
                let pitch = [target.column_pitch, step];
                let row = Row { pixels: more + 1, length: layout.channels, pitch };
                let mut pass = Pass { to, row, places: [0; TAPS], count: 0, own: done > 0 };
                let mut line = layout.column(columns.position);
                for _ in 0..count {
                    let mut place = line;
                    for _ in 0..columns.count {
                        pass.take(place, bytes)?;
                        place = place.wrapping_add(across);
                    }
                    line = line.wrapping_add(down);
                }
                pass.finish(bytes)?;
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

/// How many outputs behind column `x` see a whole row of a window, as that one does.
fn alike(window: &Window, tile: &Tile, x: i32) -> usize {
    let stride = window.stride[1].max(1);
    let origin = x.wrapping_mul(stride).wrapping_sub(window.padding[1]);
    let last = (window.size[1] as i32).wrapping_sub(1).wrapping_mul(window.dilation[1]);
    let room = tile.valid_end[1].saturating_sub(1).saturating_sub(origin.saturating_add(last));
    if origin < tile.valid_start[1] || room < 0 { 0 } else { (room / stride) as usize }
}

/// Taps that are looked at in one pass.
const TAPS: usize = 4;

/// Taps that were seen but not looked at yet, of pixels that see as many, as far apart.
struct Pass<'t> {
    /// From the first pixel on.
    to: &'t mut [u8],
    row: Row,
    /// The first pixel's.
    places: [usize; TAPS],
    count: usize,
    /// Whether pixels hold the largest of others already: they take the first tap's place.
    own: bool,
}

impl Pass<'_> {
    #[inline(always)]
    fn take(&mut self, place: usize, bytes: &[u8]) -> Result<(), KernelError> {
        if self.count == 0 {
            // Where taps are missing in the end, the first one stands for them.
            self.places = [place; TAPS];
            self.count = usize::from(self.own);
        }
        if let Some(to) = self.places.get_mut(self.count) {
            *to = place;
        }
        self.count += 1;
        if self.count == TAPS { self.finish(bytes) } else { Ok(()) }
    }

    /// Makes each pixel the largest of its taps, and of itself once it was started.
    #[inline(never)]
    fn finish(&mut self, bytes: &[u8]) -> Result<(), KernelError> {
        if self.count == 0 {
            return if self.own { Ok(()) } else { Err(KernelError::Shape) };
        }
        let fits = keep_largest(self.to, bytes, self.places, self.own, &self.row);
        (self.count, self.own) = (0, true);
        if fits { Ok(()) } else { Err(KernelError::OutOfBounds) }
    }
}
