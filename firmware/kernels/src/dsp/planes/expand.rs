//! Pixels of four channels to planes.

#[cfg(not(armv7e_m))]
use super::CHANNEL_WORDS;
use super::{CHANNELS, COLUMNS, Planes, ROW_WORDS, ROWS};

/// Pixels to be expanded: four channels of rows and columns of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Pixels<'a> {
    /// From the first pixel's first of the four channels on.
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

impl Pixels<'_> {
    /// Whether all is inside of the planes and of the bytes.
    fn fit(&self) -> bool {
        let [rows, columns] = self.size;
        let inside = |size: usize, place: usize, limit: usize| {
            size >= 1 && place < limit && size <= limit - place
        };
        let last = || {
            let row = (rows - 1).checked_mul(self.pitch[0])?;
            let column = (columns - 1).checked_mul(self.pitch[1])?;
            row.checked_add(column)?.checked_add(CHANNELS)
        };
        inside(rows, self.place[0], ROWS)
            && inside(columns, self.place[1], COLUMNS)
            && last().is_some_and(|end| end <= self.bytes.len())
    }
}

impl Planes {
    /// Writes pixels into the planes; beside them at most the other half of a word, as zero point.
    ///
    /// Nothing is written if the pixels do not fit.
    #[must_use]
    pub fn expand(&mut self, pixels: &Pixels<'_>) -> Option<()> {
        pixels.fit().then(|| run(self, pixels))
    }
}

/// What the loop knows: written over by it.
#[cfg(armv7e_m)]
#[repr(C)]
struct Run {
    from: *const u8,
    /// Bytes from a pixel to the next, and three times as many.
    column_pitch: usize,
    three_columns: usize,
    /// Times four pixels.
    groups: usize,
    to: *mut u32,
    /// The zero point, four times.
    zero: u32,
    /// Whether the first pixel goes to a high half.
    head: usize,
    /// Pixels behind the groups: 0..=3.
    rest: usize,
    row_pitch: usize,
    rows: usize,
}

#[cfg(armv7e_m)]
fn run(planes: &mut Planes, pixels: &Pixels<'_>) {
    let [row, column] = pixels.place;
    let [row_pitch, column_pitch] = pixels.pitch;
    let head = column % 2;
    let behind = pixels.size[1] - head;
    let mut run = Run {
        from: pixels.bytes.as_ptr(),
        column_pitch,
        three_columns: column_pitch.wrapping_mul(3),
        groups: behind / 4,
        to: planes.words.as_mut_ptr().wrapping_add(row * ROW_WORDS + column / 2),
        zero: u32::from_ne_bytes([pixels.zero as u8; 4]),
        head,
        rest: behind % 4,
        row_pitch,
        rows: pixels.size[0],
    };
    // SAFETY: `fit` has checked that the last pixel's four bytes lie in the slice, and that rows and
    // columns lie in the planes: words at most up to the one that holds the last pixel.
    #[expect(unsafe_code, reason = "a loop whose values fill the registers")]
    unsafe {
        rows::expand(&mut run);
    }
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "a loop whose values fill the registers")]
mod rows;

#[cfg(not(armv7e_m))]
fn run(planes: &mut Planes, pixels: &Pixels<'_>) {
    let [rows, columns] = pixels.size;
    let [row, column] = pixels.place;
    for y in 0..rows {
        for channel in 0..CHANNELS {
            let line = (row + y) * ROW_WORDS + channel * CHANNEL_WORDS;
            // Whole words are written.
            for at in column & !1..(column + columns).next_multiple_of(2) {
                let x = at.wrapping_sub(column);
                let value = if x < columns {
                    pixels.bytes[y * pixels.pitch[0] + x * pixels.pitch[1] + channel] as i8
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
