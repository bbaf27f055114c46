//! The loops over planes in assembly.
//!
//! Each takes the windows of four outputs of a row at once, `r4` to `r7` their sums, and then pairs
//! of what is left. `r0` is at the middle row of the first output's window, so that all rows are
//! within reach of a load's offset; the middle row comes last and moves `r0` ahead. Weights and
//! what requantises take turns in `r3` and `r8` to `r12`. A row of weights is read in [`Kind`]'s
//! order of pairs.
//!
//! [`Kind`]: crate::dsp::planes::Kind

/// The output byte of a sum: zero point, rounding and clamp as [`crate::dsp::Fast`] has them.
macro_rules! byte {
    ($sum:literal) => {
        concat!(
            "add lr, r9, ",
            $sum,
            ", asr #31\n",
            "smmlar ",
            $sum,
            ", ",
            $sum,
            ", r8, lr\n",
            "asr ",
            $sum,
            ", ",
            $sum,
            ", r10\n",
            "ssat ",
            $sum,
            ", #8, ",
            $sum,
            "\n",
        )
    };
}

/// A loop over the rows of a strip; `block` and `pair` make the sums of four outputs and of two.
macro_rules! rows {
    ($(#[$about:meta])* $name:ident, stride: $stride:literal, block: [$($block:expr),+], pair: [$($pair:expr),+]) => {
        $(#[$about])*
        ///
        /// # Safety
        /// What the run says lies in memory that may be read and written.
        #[unsafe(naked)]
        pub(in crate::dsp::planes::convolve) unsafe extern "C" fn $name(run: *const Run) {
            core::arch::naked_asm!(
                "push {{r4-r11, lr}}",
                // From the stack's top: the run's first twelve words, and outputs left in a tail.
                "sub sp, sp, #4",
                "add r1, r0, #32",
                "ldm r1, {{r4-r7, r12}}",
                "push {{r4-r7}}",
                "ldm r0, {{r4-r11}}",
                "push {{r4-r11}}",
                "mov r0, r12",
                "ldm sp, {{r1-r3}}",
                "cmp r0, r2",
                "beq 4f",
                "3:",
                $($block,)+
                "ldm sp, {{r1-r3, r8-r12}}",
                byte!("r4"),
                "strb r4, [r1]",
                byte!("r5"),
                "strb r5, [r1, r11]",
                byte!("r6"),
                "strb r6, [r1, r11, lsl #1]",
                byte!("r7"),
                "strb r7, [r1, r12]",
                "add r1, r1, r11, lsl #2",
                "str r1, [sp]",
                "cmp r0, r2",
                "bne 3b",
                // The row's end.
                "4:",
                "ldrd r4, r5, [sp, #32]",
                "cbz r5, 5f",
                "b 6f",
                "5:",
                "cmp r0, r4",
                "beq 7f",
                "ldrd r4, r5, [sp, #40]",
                "add r0, r0, r4",
                "add r1, r1, r5",
                "add r2, r2, #{row} * {stride}",
                "strd r1, r2, [sp]",
                "cmp r0, r2",
                "bne 3b",
                "b 4b",
                // One to three outputs.
                "6:",
                "str r5, [sp, #48]",
                "8:",
                $($pair,)+
                "ldm sp, {{r1-r3, r8-r12}}",
                byte!("r4"),
                "strb r4, [r1]",
                byte!("r5"),
                "ldr lr, [sp, #48]",
                "subs lr, lr, #2",
                "it ge",
                "strbge r5, [r1, r11]",
                "str lr, [sp, #48]",
                "add r1, r1, r11, lsl #1",
                "str r1, [sp]",
                "bgt 8b",
                "ldr r4, [sp, #32]",
                "b 5b",
                "7:",
                "add sp, sp, #52",
                "pop {{r4-r11, pc}}",
                row = const ROW_WORDS * 4,
                stride = const $stride,
            )
        }
    };
}

mod five;
mod seven;
mod three;

pub(super) use five::{five, five_strided};
pub(super) use seven::{seven, seven_strided};
pub(super) use three::{three, three_strided};
