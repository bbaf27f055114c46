//! Sums of bytes with words of a table, requantised: eleven instructions for an output.

use super::Fast;
#[cfg(not(armv7e_m))]
use super::{high_product_sum, saturate, shift_right};

/// What is computed of two bytes: `first · unit + table[second]`, doubled already, by a factor.
#[derive(Clone, Copy, Debug)]
pub struct LookedUp<'t> {
    /// A word for each byte.
    pub table: &'t [i32; 256],
    /// What the first byte, with its sign, is multiplied by.
    pub unit: i32,
    /// Makes bytes of sums.
    pub factor: Fast,
}

impl LookedUp<'_> {
    /// Makes as many bytes as all three runs have.
    #[inline(never)]
    pub fn sums(&self, first: &[u8], second: &[u8], to: &mut [u8]) {
        let count = to.len().min(first.len()).min(second.len());
        #[cfg(armv7e_m)]
        if count > 0 {
            let Fast { multiplier, right, rounding } = self.factor;
            let end = to.as_mut_ptr().wrapping_add(count);
            let (table, unit) = (self.table.as_ptr(), self.unit);
            let run = arm::Run { end, table, unit, multiplier, right, rounding };
            // SAFETY: `count` bytes of each run are read or written, of the table a word for a byte.
            #[expect(unsafe_code, reason = "a loop whose values fill the registers")]
            unsafe {
                arm::sums(first.as_ptr(), second.as_ptr(), to.as_mut_ptr(), &run);
            }
        }
        #[cfg(not(armv7e_m))]
        for ((to, first), second) in to.iter_mut().zip(first).zip(second).take(count) {
            let Fast { multiplier, right, rounding } = self.factor;
            let product = i32::from(*first as i8).wrapping_mul(self.unit);
            let sum = self.table[usize::from(*second)].wrapping_add(product);
            let rounding = rounding.wrapping_add(sum >> 31);
            *to = saturate(shift_right(high_product_sum(sum, multiplier, rounding), right)) as u8;
        }
    }
}

#[cfg(armv7e_m)]
#[expect(unsafe_code, reason = "a loop whose values fill the registers")]
mod arm {
    /// What the loop knows.
    #[repr(C)]
    pub struct Run {
        pub end: *mut u8,
        pub table: *const i32,
        pub unit: i32,
        pub multiplier: i32,
        pub right: i32,
        pub rounding: i32,
    }

    /// See [`super::LookedUp::sums`]; there is at least one byte.
    #[unsafe(naked)]
    pub unsafe extern "C" fn sums(
        first: *const u8,
        second: *const u8,
        to: *mut u8,
        run: *const Run,
    ) {
        assembly!(
            "push {{r4-r10, lr}}
        ldm r3, {{r3-r8}}
        1:
        ldrb r9, [r1], #1
        ldrsb r10, [r0], #1
        ldr r9, [r4, r9, lsl #2]
        mla r9, r10, r5, r9
        add lr, r8, r9, asr #31
        smmlar r9, r9, r6, lr
        asr r9, r9, r7
        ssat r9, #8, r9
        strb r9, [r2], #1
        cmp r2, r3
        bne 1b
        pop {{r4-r10, pc}}",
        )
    }
}
