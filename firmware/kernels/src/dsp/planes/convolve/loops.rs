//! The loops over planes in assembly.
//!
//! Each takes the windows of four outputs of a row at once, `r4` to `r7` their sums, and then pairs
//! of what is left. `r0` is at the middle row of the first output's window, so that all rows are
//! within reach of a load's offset; the middle row comes last and moves `r0` ahead. Weights and
//! what requantises take turns in `r3` and `r8` to `r12`. A row of weights is read in [`Kind`]'s
//! order of pairs.
//!
//! Windows of five and seven taps share one loop, for code's size. Most of them have a loop over their
//! rows: from the row above the first on, `r0` moves down, until `lr` is behind the weights.
//!
//! [`Kind`]: crate::dsp::planes::Kind

/// A loop over the rows of windows from the upper middle row `r0` on; `r0` ends up as many bytes ahead
/// as outputs were made. Spoils a register that each row loads anew.
macro_rules! looped {
    ($above:literal, [$($row:expr),+], $spoiled:literal, $ahead:literal) => {
        concat!(
            "sub r0, r0, #{row} * ", $above, " + {row}\n",
            "9:\n",
            $($row,)+
            "ldr ", $spoiled, ", [sp, #76]\n",
            "cmp lr, ", $spoiled, "\n",
            "bne 9b\n",
            "sub r0, r0, #{row} * ", $above, " - ", $ahead, "\n",
        )
    };
}

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
/// of two, and `next` moves `r2` to the next row's end. `begin` and `channel`, where `r3` is at a channel's
/// weights, set what is held besides, so many bytes; `data` lies behind the code.
macro_rules! rows {
    (
        $(#[$about:meta])*
        $name:ident, held: $held:literal, begin: [$($begin:expr),*], channel: [$($channel:expr),*],
        block: [$($block:expr),+], pair: [$($pair:expr),+], next: [$($next:expr),+], data: [$($data:expr),*]
    ) => {
        $(#[$about])*
        ///
        /// # Safety
        /// What the run says lies in memory that may be read and written.
        #[unsafe(naked)]
        pub(in crate::dsp::planes::convolve) unsafe extern "C" fn $name(run: *const Run) {
            assembly!(
                "push {{r4-r11, lr}}",
                // From the stack's top: what a row knows (`r1` to `r3`, `r8` to `r10`), the run, where
                // the channel's loop ends, outputs left in a tail, channels, what else is held.
                "sub sp, sp, #12 + {held}",
                "add r1, r0, #20",
                "ldm r1, {{r4-r8}}",
                "push {{r4-r8}}",
                "ldm r0, {{r4-r8}}",
                "push {{r4-r8}}",
                "sub sp, sp, #24",
                "movs r4, #{channels}",
                "str r4, [sp, #72]",
                $($begin,)*
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
                $($channel,)*
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
                $($next,)+
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
                "add sp, sp, #76 + {held}",
                "pop {{r4-r11, pc}}",
                $($data,)*
                row = const ROW_WORDS * 4,
                held = const $held,
                channel = const CHANNEL_WORDS * 4,
                channels = const CHANNELS,
                filter = const size_of::<Filter>(),
            )
        }
    };
}

#[macro_use]
mod five;
#[macro_use]
mod seven;
mod large;
mod three;

pub(super) use large::large;
pub(super) use three::{three, three_strided};
