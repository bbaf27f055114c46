//! Pixels of four channels to planes.

use super::{CHANNEL_WORDS, CHANNELS, COLUMNS, Planes, ROW_WORDS, ROWS};

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
        expand_rows(&mut run);
    }
}

/// Two pixels, in `r5` and `r6`, to four words at `r4`.
#[cfg(armv7e_m)]
macro_rules! two_pixels {
    () => {
        concat!(
            "sxtb16 r8, r5\n",
            "sxtb16 r5, r5, ror #8\n",
            "sxtb16 r9, r6\n",
            "sxtb16 r6, r6, ror #8\n",
            "pkhbt r10, r8, r9, lsl #16\n",
            "pkhtb r8, r9, r8, asr #16\n",
            "pkhbt r9, r5, r6, lsl #16\n",
            "pkhtb r5, r6, r5, asr #16\n",
            "str r9, [r4, #{channel}]\n",
            "str r8, [r4, #{channel} * 2]\n",
            "str r5, [r4, #{channel} * 3]\n",
            "str r10, [r4], #4\n",
        )
    };
}

/// # Safety
/// The pixels lie in memory that may be read, their words in planes that may be written.
#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "a loop whose values fill the registers")]
#[unsafe(naked)]
unsafe extern "C" fn expand_rows(run: *mut Run) {
    core::arch::naked_asm!(
        "push {{r0, r4-r11, lr}}",
        "2:",
        "mov lr, r0",
        "ldm lr, {{r0-r4, r7, r11}}",
        "cmp r3, #0",
        "beq 4f",
        "cmp r11, #0",
        "bne 8f",
        "3:",
        "ldr r5, [r0]",
        "ldr r6, [r0, r1]",
        "sxtb16 r8, r5",
        "sxtb16 r5, r5, ror #8",
        "sxtb16 r9, r6",
        "sxtb16 r6, r6, ror #8",
        "pkhbt r7, r8, r9, lsl #16",
        "pkhtb r8, r9, r8, asr #16",
        "pkhbt r9, r5, r6, lsl #16",
        "pkhtb r5, r6, r5, asr #16",
        "ldr r6, [r0, r1, lsl #1]",
        "ldr r10, [r0, r2]",
        "add r0, r0, r1, lsl #2",
        "sxtb16 r11, r6",
        "sxtb16 r6, r6, ror #8",
        "sxtb16 r12, r10",
        "sxtb16 r10, r10, ror #8",
        "pkhbt lr, r11, r12, lsl #16",
        "pkhtb r11, r12, r11, asr #16",
        "pkhbt r12, r6, r10, lsl #16",
        "pkhtb r6, r10, r6, asr #16",
        "strd r9, r12, [r4, #{channel}]",
        "strd r8, r11, [r4, #{channel} * 2]",
        "strd r5, r6, [r4, #{channel} * 3]",
        "strd r7, lr, [r4], #8",
        "subs r3, r3, #1",
        "bne 3b",
        "ldr lr, [sp]",
        "ldr r11, [lr, #24]",
        "4:",
        // No group: a head may still come first.
        "ldr r7, [lr, #20]",
        "ldr r2, [lr, #28]",
        "ldr r3, [lr, #12]",
        "cmp r3, #0",
        "bne 5f",
        "cmp r11, #0",
        "beq 5f",
        "mov r5, r7",
        "ldr r6, [r0]",
        "add r0, r0, r1",
        two_pixels!(),
        "5:",
        "cmp r2, #0",
        "beq 7f",
        "tst r2, #2",
        "beq 6f",
        "ldr r5, [r0]",
        "ldr r6, [r0, r1]",
        "add r0, r0, r1, lsl #1",
        two_pixels!(),
        "6:",
        "tst r2, #1",
        "beq 7f",
        "ldr r5, [r0]",
        "mov r6, r7",
        two_pixels!(),
        "7:",
        "ldrd r5, r6, [lr, #32]",
        "subs r6, r6, #1",
        "beq 9f",
        "ldr r4, [lr]",
        "ldr r3, [lr, #16]",
        "add r4, r4, r5",
        "add r3, r3, #{row}",
        "str r4, [lr]",
        "str r3, [lr, #16]",
        "str r6, [lr, #36]",
        "mov r0, lr",
        "b 2b",
        // The first pixel, beside zero point.
        "8:",
        "mov r5, r7",
        "ldr r6, [r0]",
        "add r0, r0, r1",
        two_pixels!(),
        "b 3b",
        "9:",
        "pop {{r0, r4-r11, pc}}",
        channel = const CHANNEL_WORDS * 4,
        row = const ROW_WORDS * 4,
    )
}

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
