//! Pixels of four channels to planes.

#[cfg(not(armv7e_m))]
use super::CHANNEL_WORDS;
use super::{CHANNELS, COLUMNS, Planes, ROW_WORDS, ROWS};

/// Pixels to be expanded: rows and columns of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Pixels<'a> {
    /// From the first pixel's first channel on.
    pub bytes: &'a [u8],
    /// Rows and columns; neither is zero.
    pub size: [usize; 2],
    /// Bytes from a row to the next, and from a pixel to the next.
    pub pitch: [usize; 2],
    /// Row and column of the planes where the first pixel goes.
    pub place: [usize; 2],
    /// Zero point: written beside a pixel that has no neighbour in its word.
    pub zero: i8,
}

/// Pixels that fit the planes.
#[derive(Clone, Copy, Debug)]
pub struct Fitting<'a> {
    pixels: Pixels<'a>,
    /// How many bytes of a pixel there are.
    channels: usize,
}

impl<'a> Pixels<'a> {
    /// Checks that all is inside of the planes and, with `channels` bytes of each pixel, inside of the
    /// bytes.
    #[must_use]
    pub fn fitting(self, channels: usize) -> Option<Fitting<'a>> {
        let [rows, columns] = self.size;
        let inside = |size: usize, place: usize, limit: usize| {
            size >= 1 && place < limit && size <= limit - place
        };
        let row = rows.checked_sub(1)?.checked_mul(self.pitch[0])?;
        let column = columns.checked_sub(1)?.checked_mul(self.pitch[1])?;
        let end = row.checked_add(column)?.checked_add(channels)?;
        let fits = inside(rows, self.place[0], ROWS)
            && inside(columns, self.place[1], COLUMNS)
            && end <= self.bytes.len();
        fits.then_some(Fitting { pixels: self, channels })
    }
}

impl Planes {
    /// Writes four channels of pixels, from `first` on, into the planes; beside them at most the other
    /// half of a word, as zero point.
    ///
    /// Nothing is written if there are not as many channels.
    #[must_use]
    pub fn expand(&mut self, pixels: &Fitting<'_>, first: usize) -> Option<()> {
        let inside = first.checked_add(CHANNELS)? <= pixels.channels;
        inside.then(|| run(self, &pixels.pixels, first))
    }
}

/// What the loop knows.
#[cfg(armv7e_m)]
#[repr(C)]
struct Run {
    /// Bytes from a pixel to the next, and three times as many.
    column_pitch: usize,
    three_columns: usize,
    rows: usize,
    /// Times four pixels.
    groups: usize,
    /// Bit 0: whether the first pixel goes to a high half; above it, pixels behind the groups: 0..=3.
    single: usize,
    /// Bytes from behind a row to the next, in the tensor and in the planes.
    next_from: usize,
    next_to: usize,
    /// The zero point, four times.
    zero: u32,
}

#[cfg(armv7e_m)]
fn run(planes: &mut Planes, pixels: &Pixels<'_>, first: usize) {
    let [row, column] = pixels.place;
    let [row_pitch, column_pitch] = pixels.pitch;
    let [rows, columns] = pixels.size;
    let head = column % 2;
    let behind = columns - head;
    let words = head + behind.div_ceil(2);
    let run = Run {
        column_pitch,
        three_columns: column_pitch.wrapping_mul(3),
        rows,
        groups: behind / 4,
        single: head | behind % 4 << 1,
        next_from: row_pitch.wrapping_sub(columns.wrapping_mul(column_pitch)),
        next_to: (ROW_WORDS - words) * 4,
        zero: u32::from_ne_bytes([pixels.zero as u8; 4]),
    };
    let from = pixels.bytes.as_ptr().wrapping_add(first);
    let to = planes.words.as_mut_ptr().wrapping_add(row * ROW_WORDS + column / 2).cast();
    // SAFETY: `Pixels::fitting` has checked that the last pixel's channels lie in the slice, of which
    // four from `first` on are read, and that rows and columns lie in the planes: words at most up to
    // the one that holds the last pixel.
    #[expect(unsafe_code, reason = "a loop whose values fill the registers")]
    unsafe {
        rows::expand(from, to, &run);
    }
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "a loop whose values fill the registers")]
mod rows;

#[cfg(not(armv7e_m))]
fn run(planes: &mut Planes, pixels: &Pixels<'_>, first: usize) {
    let [rows, columns] = pixels.size;
    let [row, column] = pixels.place;
    for y in 0..rows {
        for channel in 0..CHANNELS {
            let line = (row + y) * ROW_WORDS + channel * CHANNEL_WORDS;
            // Whole words are written.
            for at in column & !1..(column + columns).next_multiple_of(2) {
                let x = at.wrapping_sub(column);
                let value = if x < columns {
                    pixels.bytes[y * pixels.pitch[0] + x * pixels.pitch[1] + first + channel] as i8
                } else {
                    pixels.zero
                };
                let word = &mut planes.words[line + at / 2];
                let half = u32::from(i16::from(value) as u16);
                *word = match at % 2 {
                    0 => *word & 0xffff_0000 | half,
                    _ => *word & 0xffff | half << 16,
                };
            }
        }
    }
}
