//! The largest of four runs of bytes: eleven instructions for four bytes of each.

#[cfg(not(armv7e_m))]
use super::{larger_bytes, store_word, word};

/// Pixels that are looked at together.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// How many.
    pub pixels: usize,
    /// Bytes of each.
    pub length: usize,
    /// Bytes from a pixel to the next, and from what is seen for it to what is seen for the next.
    pub pitch: [usize; 2],
}

impl Row {
    /// Bytes from a first pixel on, with this pitch.
    fn bytes(&self, pitch: usize) -> Option<usize> {
        self.pixels.checked_sub(1)?.checked_mul(pitch)?.checked_add(self.length)
    }
}

/// Makes each byte of a row's pixels, the first of which begins in `to`, the largest of those at four
/// places of `bytes`, which are the first pixel's, or with `own` of itself and those at the last
/// three. Gives whether the bytes were as many; computes nothing if not.
#[inline]
#[must_use]
pub fn keep_largest(to: &mut [u8], bytes: &[u8], places: [usize; 4], own: bool, row: &Row) -> bool {
    let Some([needed, seen]) =
        row.bytes(row.pitch[0]).zip(row.bytes(row.pitch[1])).map(<[_; 2]>::from)
    else {
        return false;
    };
    let fits = |place: usize| place.checked_add(seen).is_some_and(|end| end <= bytes.len());
    if needed > to.len() || !places.into_iter().all(fits) {
        return false;
    }
    if row.length < 4 {
        for pixel in 0..row.pixels {
            let from = places.map(|place| place.wrapping_add(pixel.wrapping_mul(row.pitch[1])));
            let to = to.get_mut(pixel.wrapping_mul(row.pitch[0])..).unwrap_or(&mut []);
            few(to.get_mut(..row.length).unwrap_or(&mut []), bytes, from, own);
        }
        return true;
    }
    // SAFETY: checked above: the last pixel lies in `to`, and as many bytes as it has at each place.
    #[cfg(armv7e_m)]
    #[expect(unsafe_code, reason = "a loop that keeps all addresses in registers")]
    unsafe {
        let [a, b, c, d] = places.map(|place| bytes.as_ptr().wrapping_add(place));
        let to = to.as_mut_ptr();
        let Row { pixels, length, pitch: [next, step] } = *row;
        let (a, of_a) = if own { (to.cast_const(), next) } else { (a, step) };
        let behind = |pitch: usize| pitch.wrapping_sub(length);
        arm::keep_largest(to, a, b, c, d, length, pixels, behind(next), behind(of_a), behind(step));
    }
    #[cfg(not(armv7e_m))]
    for pixel in 0..row.pixels {
        let to = &mut to[pixel * row.pitch[0]..][..row.length];
        for at in (0..row.length - 3).step_by(4).chain([row.length - 4]) {
            let ahead = pixel * row.pitch[1] + at;
            let seen = |place: usize| bytes[place + ahead..].first_chunk().map_or(0, word);
            let [a, b, c, d] = places;
            if let Some(to) = to[at..].first_chunk_mut() {
                let first = if own { word(to) } else { seen(a) };
                let (first, second) =
                    (larger_bytes(first, seen(b)), larger_bytes(seen(c), seen(d)));
                store_word(to, larger_bytes(first, second));
            }
        }
    }
    true
}

/// The same of a pixel that has no whole word.
#[cold]
fn few(to: &mut [u8], bytes: &[u8], [a, places @ ..]: [usize; 4], own: bool) {
    for (at, byte) in to.iter_mut().enumerate() {
        let seen = |place: usize| bytes.get(place + at).map_or(i8::MIN, |byte| *byte as i8);
        let first = if own { *byte as i8 } else { seen(a) };
        *byte = places.into_iter().fold(first, |largest, place| largest.max(seen(place))) as u8;
    }
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "addresses and bytes fill the registers")]
mod arm {

    /// See [`super::keep_largest`]; pixels of at least four bytes, of which there is one. A last part
    /// of a word is made with what lies before it, once more. The last three arguments are bytes from
    /// behind a pixel to the next: in `to`, at `a`, and at the other places.
    #[unsafe(naked)]
    pub unsafe extern "C" fn keep_largest(
        to: *mut u8,
        a: *const u8,
        b: *const u8,
        c: *const u8,
        d: *const u8,
        length: usize,
        pixels: usize,
        next: usize,
        of_a: usize,
        step: usize,
    ) {
        // On the stack behind what was pushed (9 words): d at 36, length at 40, pixels at 44, next at
        // 48, of_a at 52, step at 56.
        assembly!(
            "push {{r4-r11, lr}}
            ldrd r4, r5, [sp, #36]
            ldr r9, [sp, #44]
            ldrd r10, r11, [sp, #48]
            subs r5, #4
            1:
            ldr r6, [r1], #4
            ldr r7, [r2], #4
            ldr r8, [r3], #4
            ldr r12, [r4], #4
            ssub8 lr, r6, r7
            sel r6, r6, r7
            ssub8 lr, r8, r12
            sel r8, r8, r12
            ssub8 lr, r6, r8
            sel r6, r6, r8
            str r6, [r0], #4
            subs r5, #4
            bge 1b
            adds r6, r5, #4
            beq 2f
            add r0, r5
            add r1, r5
            add r2, r5
            add r3, r5
            add r4, r5
            movs r5, #0
            b 1b
            2:
            ldr r5, [sp, #40]
            ldr r6, [sp, #56]
            add r0, r10
            add r1, r11
            add r2, r6
            add r3, r6
            add r4, r6
            subs r5, #4
            subs.w r9, r9, #1
            bne 1b
            pop {{r4-r11, pc}}",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_largest_of_their_places() {
        let bytes: Vec<u8> = (0..240u8).map(|byte| byte.wrapping_mul(61)).collect();
        let places = [3, 21, 40, 77];
        for length in 1..40 {
            for own in [false, true] {
                let row = Row { pixels: 3, length, pitch: [length + 2, 41] };
                let before: Vec<u8> =
                    (0..3 * length as u8 + 4).map(|byte| byte.wrapping_mul(97)).collect();
                let (mut to, mut expected) = (before.clone(), before.clone());
                for (pixel, at) in (0..3).flat_map(|pixel| (0..length).map(move |at| (pixel, at))) {
                    let seen = places.map(|place| bytes[place + 41 * pixel + at] as i8);
                    let to = &mut expected[pixel * row.pitch[0] + at];
                    let first = if own { *to as i8 } else { seen[0] };
                    *to = seen[1..].iter().fold(first, |largest, byte| largest.max(*byte)) as u8;
                }
                assert!(keep_largest(&mut to, &bytes, places, own, &row));
                assert_eq!(to, expected, "{length} bytes, own {own}");
            }
        }
        let row = Row { pixels: 2, length: 8, pitch: [8, 8] };
        let mut to = [0; 16];
        assert!(keep_largest(&mut to, &bytes, [0, 0, 0, 224], false, &row));
        assert!(!keep_largest(&mut to, &bytes, [0, 0, 0, 225], false, &row));
        assert!(!keep_largest(&mut to, &bytes, [usize::MAX, 0, 0, 0], false, &row));
        assert!(!keep_largest(&mut to[1..], &bytes, [0; 4], false, &row));
    }
}
