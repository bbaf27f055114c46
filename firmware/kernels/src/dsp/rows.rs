//! Copies of short rows of bytes.

#[cfg(not(armv7e_m))]
use super::{store_word, word};

/// Copies `count` rows of `length` bytes each, `pitch` bytes apart in `to` and in `from`. Gives whether
/// both have as many; copies nothing if not.
#[inline]
#[must_use]
pub fn copy_rows(
    to: &mut [u8],
    from: &[u8],
    count: usize,
    length: usize,
    pitch: [usize; 2],
) -> bool {
    let Some(last) = count.checked_sub(1) else { return true };
    let inside = |pitch: usize, bytes: usize| {
        let end = last.checked_mul(pitch).and_then(|row| row.checked_add(length));
        end.is_some_and(|end| end <= bytes)
    };
    if length == 0 || !inside(pitch[0], to.len()) || !inside(pitch[1], from.len()) {
        return length == 0;
    }
    // SAFETY: checked above: the last row lies in both slices.
    #[cfg(armv7e_m)]
    #[expect(unsafe_code, reason = "checks and addresses for each row take more than its bytes")]
    unsafe {
        let [to_pitch, from_pitch] = pitch;
        arm::copy_rows(to.as_mut_ptr(), from.as_ptr(), count, length, to_pitch, from_pitch);
    }
    #[cfg(not(armv7e_m))]
    for row in 0..count {
        let (to, from) = (&mut to[row * pitch[0]..][..length], &from[row * pitch[1]..][..length]);
        if let (Some(to_last), Some(last)) = (to.last_chunk_mut::<4>(), from.last_chunk::<4>()) {
            store_word(to_last, word(last));
        }
        let whole = if length < 4 { length } else { length & !3 };
        to[..whole].copy_from_slice(&from[..whole]);
    }
    true
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "checks and addresses for each row take more than its bytes")]
mod arm {

    /// See [`super::copy_rows`]; there is a row, and a byte in it. A row of four bytes or more is
    /// copied by words, of which the last may lie over the one before.
    #[unsafe(naked)]
    pub unsafe extern "C" fn copy_rows(
        to: *mut u8,
        from: *const u8,
        count: usize,
        length: usize,
        to_pitch: usize,
        from_pitch: usize,
    ) {
        assembly!(
            "push {{r4-r7, lr}}
            ldrd r4, r5, [sp, #20]
            subs r6, r3, #4
            blt 4f
            1:
            ldr r12, [r1, r6]
            bic lr, r3, #3
            2:
            subs.w lr, lr, #4
            ldr.w r7, [r1, lr]
            str.w r7, [r0, lr]
            bne 2b
            str r12, [r0, r6]
            add r0, r4
            add r1, r5
            subs r2, #1
            bne 1b
            pop {{r4-r7, pc}}
            4:
            mov r6, r3
            5:
            subs r6, #1
            ldrb r7, [r1, r6]
            strb r7, [r0, r6]
            bne 5b
            add r0, r4
            add r1, r5
            subs r2, #1
            bne 4b
            pop {{r4-r7, pc}}",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_copied_and_nothing_else() {
        let from: Vec<u8> = (1..=200).collect();
        for length in 0..30 {
            for count in 0..5 {
                let pitch = [length + 3, length + 7];
                let (mut to, mut expected) = ([0; 200], [0; 200]);
                for (row, at) in (0..count).flat_map(|row| (0..length).map(move |at| (row, at))) {
                    expected[row * pitch[0] + at] = from[row * pitch[1] + at];
                }
                assert!(copy_rows(&mut to, &from, count, length, pitch));
                assert_eq!(to, expected, "{count} rows of {length} bytes");
            }
        }
        assert!(copy_rows(&mut [0; 12], &from[..14], 2, 5, [7, 9]));
        assert!(!copy_rows(&mut [0; 11], &from[..14], 2, 5, [7, 9]));
        assert!(!copy_rows(&mut [0; 12], &from[..13], 2, 5, [7, 9]));
        assert!(!copy_rows(&mut [0; 12], &from, 3, 5, [usize::MAX, 1]));
    }
}
