//! Sums of sixteen channels over pixels: fifteen instructions for sixteen bytes.

#[cfg(not(armv7e_m))]
use super::{add_even_bytes, add_odd_bytes, word};

/// Channels that are added up together.
pub const SUMMED: usize = 16;

/// Sums as halves of words: of bytes 0 and 2, then of 1 and 3, of each word of a pixel.
pub type Halves = [u32; SUMMED / 2];

/// Adds the first sixteen bytes of each of `count` pixels, `step` bytes apart, to the halves, which
/// wrap. Gives whether there were as many; computes nothing if not.
#[inline]
#[must_use]
pub fn add_pixels(bytes: &[u8], step: usize, count: usize, halves: &mut Halves) -> bool {
    let Some(last) = count.checked_sub(1) else { return true };
    let needed = last.checked_mul(step).and_then(|before| before.checked_add(SUMMED));
    if needed.is_none_or(|needed| needed > bytes.len()) {
        return false;
    }
    // SAFETY: checked above: the last pixel's bytes lie in the slice.
    #[cfg(armv7e_m)]
    #[expect(unsafe_code, reason = "a loop whose sums fill the registers")]
    unsafe {
        arm::add_pixels(bytes.as_ptr(), step, count, halves);
    }
    #[cfg(not(armv7e_m))]
    for pixel in 0..count {
        let words = bytes.get(pixel * step..).unwrap_or(&[]).as_chunks().0;
        for ([even, odd], bytes) in halves.as_chunks_mut().0.iter_mut().zip(words) {
            *even = add_even_bytes(*even, word(bytes));
            *odd = add_odd_bytes(*odd, word(bytes));
        }
    }
    true
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "all registers are needed")]
mod arm {
    use super::Halves;

    /// See [`super::add_pixels`]; there is at least one pixel.
    #[unsafe(naked)]
    pub unsafe extern "C" fn add_pixels(
        from: *const u8,
        step: usize,
        count: usize,
        halves: *mut Halves,
    ) {
        assembly!(
            "push {{r3-r11, lr}}
            ldm r3, {{r4-r11}}
            1:
            ldr r3, [r0]
            ldr r12, [r0, #4]
            ldr lr, [r0, #8]
            sxtab16 r4, r4, r3
            sxtab16 r5, r5, r3, ror #8
            ldr r3, [r0, #12]
            add r0, r1
            sxtab16 r6, r6, r12
            sxtab16 r7, r7, r12, ror #8
            sxtab16 r8, r8, lr
            sxtab16 r9, r9, lr, ror #8
            sxtab16 r10, r10, r3
            sxtab16 r11, r11, r3, ror #8
            subs r2, #1
            bne 1b
            ldr r3, [sp]
            stm r3, {{r4-r11}}
            pop {{r3-r11, pc}}",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_pixels_are_halves() {
        let bytes: Vec<u8> = (0..80u8).map(|byte| byte.wrapping_mul(37)).collect();
        let mut halves = [0; 8];
        assert!(add_pixels(&bytes, 20, 4, &mut halves));
        for (index, halves) in halves.into_iter().enumerate() {
            for (half, channel) in [(halves as i16, 0), ((halves >> 16) as i16, 2)] {
                let channel = index / 2 * 4 + index % 2 + channel;
                let sum: i16 = (0..4).map(|x| i16::from(bytes[20 * x + channel] as i8)).sum();
                assert_eq!(half, sum, "channel {channel}");
            }
        }
        assert!(!add_pixels(&bytes, 20, 5, &mut halves));
        assert!(!add_pixels(&bytes, usize::MAX, 3, &mut halves));
    }
}
