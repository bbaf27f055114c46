//! Sums of sixteen channels over pixels: fifteen instructions for sixteen bytes.

/// Channels that are added up together.
pub const SUMMED: usize = 16;

/// Pixels whose sum stays within a half: 255 · −128 is above −2^15.
const MOST: usize = 255;

/// Adds the first sixteen bytes of each of `count` pixels, `step` bytes apart, to sums, which wrap.
/// Gives whether there were as many; computes nothing if not.
#[must_use]
pub fn add_pixels(bytes: &[u8], step: usize, count: usize, sums: &mut [i32; SUMMED]) -> bool {
    let Some(last) = count.checked_sub(1) else { return true };
    let needed = last.checked_mul(step).and_then(|before| before.checked_add(SUMMED));
    if needed.is_none_or(|needed| needed > bytes.len()) {
        return false;
    }
    let mut done = 0;
    while done < count {
        let some = (count - done).min(MOST);
        // SAFETY: checked above: the last pixel's bytes lie in the slice.
        #[cfg(armv7e_m)]
        #[expect(unsafe_code, reason = "a loop whose sums fill the registers")]
        unsafe {
            arm::add_pixels(bytes.as_ptr().wrapping_add(done * step), step, some, sums);
        }
        #[cfg(not(armv7e_m))]
        for pixel in done..done + some {
            for (sum, byte) in sums.iter_mut().zip(&bytes[pixel * step..]) {
                *sum = sum.wrapping_add(i32::from(*byte as i8));
            }
        }
        done += some;
    }
    true
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "all registers are needed")]
mod arm {
    use super::SUMMED;

    /// Four halves of `$even` and `$odd` to the sums at `r3`.
    macro_rules! four {
        ($even:literal, $odd:literal) => {
            concat!(
                "ldm r3, {{r0-r2, r12}}\n",
                "sxtah r0, r0, ",
                $even,
                "\nsxtah r1, r1, ",
                $odd,
                "\nadd r2, r2, ",
                $even,
                ", asr #16\nadd r12, r12, ",
                $odd,
                ", asr #16\nstm r3!, {{r0-r2, r12}}\n",
            )
        };
    }

    /// The next pixel's bytes to the halves.
    macro_rules! pixel {
        () => {
            "ldr r3, [r0]
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
            sxtab16 r11, r11, r3, ror #8"
        };
    }

    /// See [`super::add_pixels`]; there is at least one pixel, and no sum leaves a half.
    #[unsafe(naked)]
    pub unsafe extern "C" fn add_pixels(
        from: *const u8,
        step: usize,
        count: usize,
        sums: *mut [i32; SUMMED],
    ) {
        // Halves: of bytes 0 and 2, then of 1 and 3, of each word of a pixel. Two pixels in a turn, of
        // which an odd number's first begins with the second.
        assembly!(
            "push {{r3-r11, lr}}
            movs r4, #0
            movs r5, #0
            movs r6, #0
            movs r7, #0
            mov r8, r4
            mov r9, r4
            mov r10, r4
            mov r11, r4
            adds r2, #1
            lsrs r2, r2, #1
            bcc 2f
            1:",
            pixel!(),
            "2:",
            pixel!(),
            "subs r2, #1
            bne 1b
            ldr r3, [sp]",
            four!("r4", "r5"),
            four!("r6", "r7"),
            four!("r8", "r9"),
            four!("r10", "r11"),
            "pop {{r3-r11, pc}}",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_added_to_their_channels() {
        let bytes: Vec<u8> = (0..20 * 600u32).map(|byte| ((byte * 37) >> 3) as u8).collect();
        for count in [1, 4, 255, 256, 599] {
            let mut sums = core::array::from_fn(|channel| channel as i32 * 1000 - 7);
            assert!(add_pixels(&bytes, 20, count, &mut sums));
            for (channel, sum) in sums.into_iter().enumerate() {
                let seen = |x: usize| i32::from(bytes[20 * x + channel] as i8);
                assert_eq!(sum, channel as i32 * 1000 - 7 + (0..count).map(seen).sum::<i32>());
            }
        }
        // A sum of halves at its end.
        let mut sums = [0; SUMMED];
        assert!(add_pixels(&[0x80; 16], 0, 511, &mut sums));
        assert_eq!(sums, [511 * -128; SUMMED]);
        assert!(!add_pixels(&bytes[..80], 20, 5, &mut sums));
        assert!(!add_pixels(&bytes, usize::MAX, 3, &mut sums));
    }
}
