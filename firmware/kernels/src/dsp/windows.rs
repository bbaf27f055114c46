//! What the windows of four pixels that follow each other see, as activations: sixteen instructions for
//! sixteen bytes.

use super::{PIXELS, Quad, activations};
#[cfg(not(armv7e_m))]
use super::{even_bytes, odd_bytes, word};
use core::ops::Range;

/// What of four windows is padding.
#[derive(Clone, Copy, Debug)]
pub struct Edges {
    /// Bytes at the start and at the end of each row of each window; no more than a row has.
    pub bytes: [[usize; 2]; PIXELS],
    /// The value of padding.
    pub zero: i8,
}

impl Edges {
    /// No padding.
    pub const NONE: Self = Self { bytes: [[0; 2]; PIXELS], zero: 0 };

    /// Whether all are whole words, or none is there.
    fn are_words(&self) -> bool {
        self.bytes.as_flattened().iter().fold(0, |all, bytes| all | bytes).is_multiple_of(4)
    }

    /// Visits the bytes of rows, `length` bytes long, that are padding: pixel, row and bytes of the row.
    fn each(&self, rows: usize, length: usize, visit: &mut dyn FnMut(usize, usize, Range<usize>)) {
        for (pixel, [start, end]) in self.bytes.iter().enumerate() {
            let range = match (*start, *end) {
                (0, 0) => continue,
                (start, 0) => 0..start.min(length),
                (0, end) => length.saturating_sub(end)..length,
                // Both at once are rare enough to be two visits.
                (start, end) => {
                    for row in 0..rows {
                        visit(pixel, row, 0..start.min(length));
                    }
                    length.saturating_sub(end)..length
                }
            };
            for row in 0..rows {
                visit(pixel, row, range.clone());
            }
        }
    }
}

/// Windows of four pixels: rows of bytes, each in one run.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// What the loop makes of windows whose rows are whole words.
    words: Rows,
    /// What copies other windows to patches, and what the loop makes of those.
    copies: Copies,
    patches: Rows,
    /// Rows of a window, and bytes of a row.
    rows: usize,
    length: usize,
    /// Words of a window.
    count: usize,
    /// Bytes that are read: from the first window's first to behind the last word of the last.
    end: usize,
}

impl Windows {
    /// Most bytes of patches.
    pub const PATCHES: usize = 576;

    /// Windows `step` bytes apart, of `rows` rows of `length` bytes that begin `pitch` bytes apart.
    /// Nothing if they cannot be expanded: rows of no whole words in windows too large for patches.
    #[must_use]
    #[inline(never)]
    pub fn new(step: usize, rows: usize, pitch: usize, length: usize) -> Option<Self> {
        let last = rows.checked_sub(1)?.checked_mul(pitch)?;
        let read = length.checked_next_multiple_of(4)?;
        let end = step.checked_mul(PIXELS - 1)?.checked_add(last)?.checked_add(read)?;
        let count = rows.checked_mul(length)?.div_ceil(4);
        // From a window's patch to the next: the last row's last word may lie over its end.
        let patch = count.checked_mul(4)?.checked_add(4)?;
        let fits = length.is_multiple_of(4) || patch.checked_mul(4)? <= Self::PATCHES;
        let copies = Copies {
            step,
            three_steps: step.wrapping_mul(3),
            patch,
            three_patches: patch.wrapping_mul(3),
            rows,
            words: read / 4,
            next: pitch.wrapping_sub(read),
            back: read - length,
        };
        let words = Rows::new(step, read / 4, rows, pitch);
        let patches = Rows::new(patch, count, 1, 0);
        (fits && length > 0).then_some(Self { words, copies, patches, rows, length, count, end })
    }

    /// Makes activations of the windows whose first one begins with `bytes`: values in their order, and
    /// any behind the last; what is padding counts as its value. Gives whether there were as many bytes,
    /// quads as words in a window, and room for patches where they are needed; makes nothing if not.
    #[must_use]
    #[inline(always)]
    pub fn expand(
        &self,
        bytes: &[u8],
        patches: &mut [u8; Self::PATCHES],
        quads: &mut [Quad],
        edges: Option<&Edges>,
    ) -> bool {
        let in_words = self.length.is_multiple_of(4) && edges.is_none_or(Edges::are_words);
        let fits = in_words || self.copies.patch * PIXELS <= Self::PATCHES;
        if bytes.len() < self.end || quads.len() != self.count || !fits {
            return false;
        }
        if in_words {
            expand(bytes, quads, &self.words);
            if let Some(edges) = edges {
                self.pad_quads(edges, quads);
            }
        } else {
            copy(bytes, patches, &self.copies);
            if let Some(edges) = edges {
                self.pad_patches(edges, patches);
            }
            expand(patches, quads, &self.patches);
        }
        true
    }

    #[inline(never)]
    fn pad_quads(&self, edges: &Edges, quads: &mut [Quad]) {
        let half = u32::from(i16::from(edges.zero) as u16);
        edges.each(self.rows, self.length, &mut |pixel, row, range| {
            let first = row * self.length / 4;
            let quads = quads.get_mut(first + range.start / 4..first + range.end / 4);
            for [even, odd] in quads.unwrap_or(&mut []) {
                even[pixel % PIXELS] = activations(half << 16 | half);
                odd[pixel % PIXELS] = activations(half << 16 | half);
            }
        });
    }

    #[inline(never)]
    fn pad_patches(&self, edges: &Edges, patches: &mut [u8; Self::PATCHES]) {
        edges.each(self.rows, self.length, &mut |pixel, row, range| {
            let first = pixel * self.copies.patch + row * self.length;
            let bytes = patches.get_mut(first + range.start..first + range.end);
            for byte in bytes.unwrap_or(&mut []) {
                *byte = edges.zero as u8;
            }
        });
    }
}

/// Makes activations of runs of four pixels, as many words of each as there are quads: the first's
/// begins with `bytes`, the others' `step` bytes apart. Gives whether there were as many bytes; makes
/// nothing if not.
#[must_use]
pub fn expand_four(bytes: &[u8], step: usize, quads: &mut [Quad]) -> bool {
    let words = quads.len();
    let end = step.checked_mul(PIXELS - 1).and_then(|skip| skip.checked_add(words * 4));
    if end.is_none_or(|end| end > bytes.len()) {
        return false;
    }
    if words > 0 {
        expand(bytes, quads, &Rows::new(step, words, 1, 0));
    }
    true
}

/// Rows of words of four pixels, as the loop in assembly reads it; each row's words and those of the pixels
/// lie in the bytes, and there are as many quads.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Rows {
    step: usize,
    three_steps: usize,
    rows: usize,
    words: usize,
    /// Bytes from behind a row to the next.
    next: usize,
}

impl Rows {
    const fn new(step: usize, words: usize, rows: usize, pitch: usize) -> Self {
        let next = pitch.wrapping_sub(words * 4);
        Self { step, three_steps: step.wrapping_mul(3), rows, words, next }
    }
}

/// Rows of windows and their patches, as the loop in assembly reads it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Copies {
    step: usize,
    three_steps: usize,
    /// Bytes from a window's patch to the next.
    patch: usize,
    three_patches: usize,
    rows: usize,
    /// Words of a row, and bytes from behind them to the next row.
    words: usize,
    next: usize,
    /// Bytes of a row's last word that are not the row's.
    back: usize,
}

#[cfg(armv7e_m)]
#[inline(always)]
fn expand(bytes: &[u8], quads: &mut [Quad], rows: &Rows) {
    // SAFETY: `Windows::expand` or `expand_four` has checked that words and quads lie in their slices.
    #[expect(unsafe_code, reason = "a loop whose values fill the registers")]
    unsafe {
        arm::expand(bytes.as_ptr(), quads.as_mut_ptr(), rows);
    }
}

#[cfg(not(armv7e_m))]
fn expand(bytes: &[u8], quads: &mut [Quad], rows: &Rows) {
    let pitch = rows.next.wrapping_add(rows.words * 4);
    for (row, quads) in quads.chunks_mut(rows.words).enumerate().take(rows.rows) {
        for (at, [even, odd]) in quads.iter_mut().enumerate() {
            let words: [u32; PIXELS] = core::array::from_fn(|pixel| {
                let from = &bytes[pixel * rows.step + row * pitch + at * 4..];
                from.first_chunk().map_or(0, word)
            });
            *even = words.map(|word| activations(even_bytes(word)));
            *odd = words.map(|word| activations(odd_bytes(word)));
        }
    }
}

/// Copies each window's rows one behind the other to its patch, by words.
#[cfg(armv7e_m)]
#[inline(always)]
fn copy(bytes: &[u8], patches: &mut [u8; Windows::PATCHES], copies: &Copies) {
    // SAFETY: `Windows::expand` has checked that all words of rows lie in the bytes, and that patches with
    // a word behind each lie in theirs.
    #[expect(unsafe_code, reason = "checks of each word take more than its copy")]
    unsafe {
        arm::copy(bytes.as_ptr(), patches.as_mut_ptr(), copies);
    }
}

#[cfg(not(armv7e_m))]
fn copy(bytes: &[u8], patches: &mut [u8; Windows::PATCHES], copies: &Copies) {
    let Copies { step, patch, rows, words, next, back, .. } = *copies;
    let (pitch, length) = (next.wrapping_add(words * 4), words * 4 - back);
    for (pixel, patch) in patches.chunks_mut(patch).take(PIXELS).enumerate() {
        for row in 0..rows {
            let from = &bytes[pixel * step + row * pitch..][..words * 4];
            patch[row * length..][..words * 4].copy_from_slice(from);
        }
    }
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "loops whose values fill the registers")]
mod arm {
    use super::{Copies, Quad, Rows};

    /// See [`super::expand`]; there is a row and a word in it.
    #[unsafe(naked)]
    pub unsafe extern "C" fn expand(from: *const u8, quads: *mut Quad, rows: *const Rows) {
        // On the stack: words, bytes to the next row.
        assembly!(
            "push {{r4-r11, lr}}
            mov r3, r1
            ldrd r4, r5, [r2, #12]
            push {{r4, r5}}
            ldm r2, {{r1, r2, lr}}
            1:
            ldr r12, [sp]
            2:
            ldr r5, [r0, r1]
            ldr r6, [r0, r1, lsl #1]
            ldr r7, [r0, r2]
            ldr r4, [r0], #4
            sxtb16 r9, r5
            sxtb16 r10, r6
            sxtb16 r11, r7
            sxtb16 r8, r4
            stm r3!, {{r8-r11}}
            sxtb16 r8, r4, ror #8
            sxtb16 r9, r5, ror #8
            sxtb16 r10, r6, ror #8
            sxtb16 r11, r7, ror #8
            stm r3!, {{r8-r11}}
            subs.w r12, r12, #1
            bne 2b
            ldr r4, [sp, #4]
            add r0, r4
            subs.w lr, lr, #1
            bne 1b
            add sp, #8
            pop {{r4-r11, pc}}",
        )
    }

    /// See [`super::copy`]; there is a row and a word in it.
    #[unsafe(naked)]
    pub unsafe extern "C" fn copy(from: *const u8, to: *mut u8, copies: *const Copies) {
        // On the stack: words, bytes to the next row, bytes back.
        assembly!(
            "push {{r4-r11, lr}}
            mov r3, r1
            ldrd r4, r5, [r2, #20]
            ldr r6, [r2, #28]
            push {{r4-r6}}
            ldm r2, {{r1, r2, r8, r9, lr}}
            1:
            ldr r12, [sp]
            2:
            ldr r5, [r0, r1]
            ldr r6, [r0, r1, lsl #1]
            ldr r7, [r0, r2]
            ldr r4, [r0], #4
            str r5, [r3, r8]
            str r6, [r3, r8, lsl #1]
            str r7, [r3, r9]
            str r4, [r3], #4
            subs.w r12, r12, #1
            bne 2b
            ldrd r4, r5, [sp, #4]
            add r0, r4
            subs r3, r3, r5
            subs.w lr, lr, #1
            bne 1b
            add sp, #12
            pop {{r4-r11, pc}}",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_activations_in_their_order() {
        let bytes: Vec<u8> = (0..900u32).map(|at| ((at * 37) >> 2) as u8).collect();
        for (step, rows, pitch, length) in
            [(3, 3, 40, 9), (6, 5, 61, 15), (8, 1, 0, 8), (4, 3, 50, 12), (1, 2, 9, 1)]
        {
            let windows = Windows::new(step, rows, pitch, length).unwrap();
            let count = (rows * length).div_ceil(4);
            let mut quads = vec![crate::dsp::EMPTY; count];
            let mut patches = [0; Windows::PATCHES];
            let read = 3 * step + (rows - 1) * pitch + length.next_multiple_of(4);
            assert!(!windows.expand(&bytes[..read - 1], &mut patches, &mut quads, None));
            assert!(!windows.expand(&bytes, &mut patches, &mut quads[1..], None));
            // Two bytes, or a word, at the start of the first; three, or a word, at the end of the last.
            let edge = |bytes: usize| if length % 8 == 0 { 4 } else { bytes.min(length) };
            let edges = [[edge(2), 0], [0; 2], [0; 2], [0, edge(3)]];
            let padding = Edges { bytes: edges, zero: -77 };
            assert!(windows.expand(&bytes[..read], &mut patches, &mut quads, Some(&padding)));
            for (pixel, value) in
                (0..4).flat_map(|pixel| (0..rows * length).map(move |v| (pixel, v)))
            {
                let at = value % length;
                let [start, end] = edges[pixel];
                let padded = at < start || at + end >= length;
                let seen = bytes[pixel * step + value / length * pitch + at] as i8;
                let seen = if padded { -77 } else { seen };
                let half = quads[value / 4][value % 2][pixel] >> (value / 2 % 2 * 16);
                assert_eq!(half as i16, i16::from(seen), "{rows} rows of {length}: {value}");
            }
        }
        assert!(Windows::new(3, 5, 100, 33).is_none());
        assert!(Windows::new(3, 0, 100, 4).is_none());
        assert!(Windows::new(usize::MAX, 1, 1, 4).is_none());
    }
}
