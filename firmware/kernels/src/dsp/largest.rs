//! The largest of four runs of bytes: eleven instructions for four bytes of each.

#[cfg(not(armv7e_m))]
use super::{larger_bytes, store_word, word};

/// Makes each byte of `to` the largest of those at four places of `bytes`, or with `own` of itself
/// and those at the last three. Gives whether the bytes were as many; computes nothing if not.
#[inline(always)]
#[must_use]
pub fn keep_largest(to: &mut [u8], bytes: &[u8], places: [usize; 4], own: bool) -> bool {
    let length = to.len();
    let fits = |place: usize| place.checked_add(length).is_some_and(|end| end <= bytes.len());
    if !places.into_iter().all(fits) {
        return false;
    }
    if length < 4 {
        let [a, places @ ..] = places;
        for (at, byte) in to.iter_mut().enumerate() {
            let seen = |place: usize| bytes.get(place + at).map_or(i8::MIN, |byte| *byte as i8);
            let first = if own { *byte as i8 } else { seen(a) };
            *byte = places.into_iter().fold(first, |largest, place| largest.max(seen(place))) as u8;
        }
        return true;
    }
    // SAFETY: checked above: as many bytes as `to` has lie at each place.
    #[cfg(armv7e_m)]
    #[expect(unsafe_code, reason = "a loop that keeps all addresses in registers")]
    unsafe {
        let [a, b, c, d] = places.map(|place| bytes.as_ptr().wrapping_add(place));
        let to = to.as_mut_ptr();
        arm::keep_largest(to, if own { to } else { a }, b, c, d, length);
    }
    #[cfg(not(armv7e_m))]
    for at in (0..length - 3).step_by(4).chain([length - 4]) {
        let seen = |place: usize| bytes[place + at..].first_chunk().map_or(0, word);
        let [a, b, c, d] = places;
        if let Some(to) = to[at..].first_chunk_mut() {
            let first = if own { word(to) } else { seen(a) };
            let (first, second) = (larger_bytes(first, seen(b)), larger_bytes(seen(c), seen(d)));
            store_word(to, larger_bytes(first, second));
        }
    }
    true
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "addresses and bytes fill the registers")]
mod arm {
    use core::arch::naked_asm;

    /// See [`super::keep_largest`]; at least four bytes. A last part of a word is made with what lies
    /// before it, once more.
    #[unsafe(naked)]
    pub unsafe extern "C" fn keep_largest(
        to: *mut u8,
        a: *const u8,
        b: *const u8,
        c: *const u8,
        d: *const u8,
        length: usize,
    ) {
        naked_asm!(
            "push {{r4-r8, lr}}
            ldrd r4, r5, [sp, #24]
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
            pop {{r4-r8, pc}}",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_largest_of_their_places() {
        let bytes: Vec<u8> = (0..120u8).map(|byte| byte.wrapping_mul(61)).collect();
        let places = [3, 21, 40, 77];
        for length in 0..40 {
            for own in [false, true] {
                let mut to: Vec<u8> = (0..length as u8).map(|byte| byte.wrapping_mul(97)).collect();
                let expected: Vec<u8> = (0..length)
                    .map(|at| {
                        let seen = places.map(|place| bytes[place + at] as i8);
                        let first = if own { to[at] as i8 } else { seen[0] };
                        seen[1..].iter().fold(first, |largest, byte| largest.max(*byte)) as u8
                    })
                    .collect();
                assert!(keep_largest(&mut to, &bytes, places, own));
                assert_eq!(to, expected, "{length} bytes, own {own}");
            }
        }
        let mut to = [0; 8];
        assert!(!keep_largest(&mut to, &bytes, [0, 0, 0, 113], false));
        assert!(!keep_largest(&mut to, &bytes, [usize::MAX, 0, 0, 0], false));
    }
}
