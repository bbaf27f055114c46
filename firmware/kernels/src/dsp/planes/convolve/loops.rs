//! The loops over planes in assembly.
//!
//! Each takes the windows of four outputs of a row at once, `r4` to `r7` their sums, and then pairs
//! of what is left. `r0` is at the middle row of the first output's window, so that all rows are
//! within reach of a load's offset; the middle row comes last and moves `r0` ahead. Weights and
//! what requantises take turns in `r3` and `r8` to `r12`. A row of weights is read in [`Kind`]'s
//! order of pairs.
//!
//! [`Kind`]: crate::dsp::planes::Kind

/// The output bytes of sums, as [`crate::dsp::Fast`] makes them: multiplier in `r8`, rounding in `r9`,
/// shift in `r10`; spoils `lr`.
macro_rules! bytes {
    ($($sum:literal),+) => {
        concat!(
            $(
                "add lr, r9, ", $sum, ", asr #31\n",
                "smmlar ", $sum, ", ", $sum, ", r8, lr\n",
            )+
            $("asr ", $sum, ", ", $sum, ", r10\n",)+
            $("ssat ", $sum, ", #8, ", $sum, "\n",)+
        )
    };
}

/// A loop over channels and the rows of a strip; `block` and `pair` make the sums of four outputs and
/// of two.
macro_rules! rows {
    ($(#[$about:meta])* $name:ident, stride: $stride:literal, block: [$($block:expr),+], pair: [$($pair:expr),+]) => {
        $(#[$about])*
        ///
        /// # Safety
        /// What the run says lies in memory that may be read and written.
        #[unsafe(naked)]
        pub(in crate::dsp::planes::convolve) unsafe extern "C" fn $name(run: *const Run) {
            assembly!(
                "push {{r4-r11, lr}}",
                // From the stack's top: what a row knows (`r1` to `r3`, `r8` to `r10`), the run, where
                // the channel's loop ends, outputs left in a tail, channels.
                "sub sp, sp, #12",
                "add r1, r0, #20",
                "ldm r1, {{r4-r8}}",
                "push {{r4-r8}}",
                "ldm r0, {{r4-r8}}",
                "push {{r4-r8}}",
                "sub sp, sp, #24",
                "movs r4, #{channels}",
                "str r4, [sp, #72]",
                // A channel.
                "2:",
                "ldrd r0, r1, [sp, #40]",
                "ldrd r3, r4, [sp, #48]",
                "ldr r5, [sp, #56]",
                "ldm r3!, {{r8-r10}}",
                "add r2, r0, r4",
                "add r5, r5, r0",
                "str r5, [sp, #64]",
                "stm sp, {{r1-r3, r8-r10}}",
                "add r6, r0, #{channel}",
                "adds r7, r1, #1",
                "strd r6, r7, [sp, #40]",
                "add r4, r3, #{filter} - 12",
                "str r4, [sp, #48]",
                "cmp r0, r2",
                "beq 4f",
                "3:",
                $($block,)+
                "ldm sp, {{r1-r3, r8-r12}}",
                bytes!("r4", "r5", "r6", "r7"),
                "strb r4, [r1]",
                "strb r5, [r1, r11]",
                "strb r6, [r1, r11, lsl #1]",
                "strb r7, [r1, r12]",
                "add r1, r1, r11, lsl #2",
                "str r1, [sp]",
                "cmp r0, r2",
                "bne 3b",
                // The row's end.
                "4:",
                "ldrd r5, r4, [sp, #60]",
                "cbz r5, 5f",
                "b 6f",
                "5:",
                "cmp r0, r4",
                "beq 7f",
                "ldrd r4, r5, [sp, #32]",
                "add r0, r0, r4",
                "add r1, r1, r5",
                "add r2, r2, #{row} * {stride}",
                "strd r1, r2, [sp]",
                "cmp r0, r2",
                "bne 3b",
                "b 4b",
                // One to three outputs.
                "6:",
                "str r5, [sp, #68]",
                "8:",
                $($pair,)+
                "ldm sp, {{r1-r3, r8-r12}}",
                bytes!("r4", "r5"),
                "strb r4, [r1]",
                "ldr lr, [sp, #68]",
                "subs lr, lr, #2",
                "it ge",
                "strbge r5, [r1, r11]",
                "str lr, [sp, #68]",
                "add r1, r1, r11, lsl #1",
                "str r1, [sp]",
                "bgt 8b",
                "ldr r4, [sp, #64]",
                "b 5b",
                "7:",
                "ldr r4, [sp, #72]",
                "subs r4, #1",
                "str r4, [sp, #72]",
                "bne 2b",
                "add sp, sp, #76",
                "pop {{r4-r11, pc}}",
                row = const ROW_WORDS * 4,
                stride = const $stride,
                channel = const CHANNEL_WORDS * 4,
                channels = const CHANNELS,
                filter = const size_of::<Filter>(),
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
