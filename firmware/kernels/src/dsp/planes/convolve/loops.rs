//! The loops over planes in assembly.
//!
//! Each takes the windows of four outputs of a row at once, `r4` to `r7` their sums, and then pairs
//! of what is left. `r0` is at the middle row of the first output's window, so that all rows are
//! within reach of a load's offset; the middle row comes last and moves `r0` ahead. Weights and
//! what requantises take turns in `r3` and `r8` to `r12`. A row of weights is read in [`Kind`]'s
//! order of pairs.
//!
//! [`Kind`]: crate::dsp::planes::Kind

use super::Run;
use crate::dsp::planes::ROW_WORDS;

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
        pub(super) unsafe extern "C" fn $name(run: *const Run) {
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

/// A row of four windows of three taps, the first in the high half. `a`: weights 0 and 1, `b`: 1
/// and 2. Sums start at `s` and are in place already but for the first row.
macro_rules! three_row {
    ($first:literal, $second:literal, $a:literal, $b:literal, [$s4:literal, $s5:literal, $s6:literal]) => {
        concat!(
            "ldrd r1, r2, ",
            $first,
            "\n",
            "smlatb r4, r1, ",
            $a,
            ", ",
            $s4,
            "\n",
            "smlad r4, r2, ",
            $b,
            ", r4\n",
            "smlad r5, r2, ",
            $a,
            ", ",
            $s5,
            "\n",
            "smlatb r6, r2, ",
            $a,
            ", ",
            $s6,
            "\n",
            "ldrd r1, r2, ",
            $second,
            "\n",
            "smlabt r5, r1, ",
            $b,
            ", r5\n",
            "smlad r6, r1, ",
            $b,
            ", r6\n",
            "smlad r7, r1, ",
            $a,
            ", r7\n",
            "smlabt r7, r2, ",
            $b,
            ", r7\n",
        )
    };
}

/// A row of two windows of three taps, as [`three_row`].
macro_rules! three_pair {
    ($first:literal, $second:literal, $a:literal, $b:literal, $s4:literal) => {
        concat!(
            "ldrd r1, r2, ",
            $first,
            "\n",
            "ldr r6, ",
            $second,
            "\n",
            "smlatb r4, r1, ",
            $a,
            ", ",
            $s4,
            "\n",
            "smlad r5, r2, ",
            $a,
            ", r5\n",
            "smlad r4, r2, ",
            $b,
            ", r4\n",
            "smlabt r5, r6, ",
            $b,
            ", r5\n",
        )
    };
}

rows! {
    /// 3x3, stride 1.
    three,
    stride: 1,
    block: [
        "ldm r3, {{r7-r12, lr}}",
        three_row!("[r0, #-{row}]", "[r0, #8 - {row}]", "r8", "r9", ["r7", "r7", "r7"]),
        three_row!("[r0, #{row}]", "[r0, #{row} + 8]", "r10", "r11", ["r4", "r5", "r6"]),
        three_row!("[r0]", "[r0, #8]!", "r12", "lr", ["r4", "r5", "r6"])
    ],
    pair: [
        "ldm r3, {{r7-r12, lr}}",
        "mov r5, r7",
        three_pair!("[r0, #-{row}]", "[r0, #8 - {row}]", "r8", "r9", "r7"),
        three_pair!("[r0, #{row}]", "[r0, #{row} + 8]", "r10", "r11", "r4"),
        three_pair!("[r0], #4", "[r0, #4]", "r12", "lr", "r4")
    ]
}

/// A row of four windows of three taps, two pixels apart. `a`, `b`, `s`: as [`three_row`].
macro_rules! three_strided_row {
    ($first:literal, $second:literal, $third:literal, $a:literal, $b:literal, [$s4:literal, $s5:literal, $s6:literal]) => {
        concat!(
            "ldrd r1, r2, ",
            $first,
            "\n",
            "smlad r4, r1, ",
            $a,
            ", ",
            $s4,
            "\n",
            "smlabt r4, r2, ",
            $b,
            ", r4\n",
            "smlad r5, r2, ",
            $a,
            ", ",
            $s5,
            "\n",
            "ldrd r1, r2, ",
            $second,
            "\n",
            "smlabt r5, r1, ",
            $b,
            ", r5\n",
            "smlad r6, r1, ",
            $a,
            ", ",
            $s6,
            "\n",
            "smlabt r6, r2, ",
            $b,
            ", r6\n",
            "ldr r1, ",
            $third,
            "\n",
            "smlad r7, r2, ",
            $a,
            ", r7\n",
            "smlabt r7, r1, ",
            $b,
            ", r7\n",
        )
    };
}

/// A row of two windows of three taps, two pixels apart.
macro_rules! three_strided_pair {
    ($first:literal, $second:literal, $a:literal, $b:literal, $s4:literal) => {
        concat!(
            "ldrd r1, r2, ",
            $first,
            "\n",
            "ldr r6, ",
            $second,
            "\n",
            "smlad r4, r1, ",
            $a,
            ", ",
            $s4,
            "\n",
            "smlad r5, r2, ",
            $a,
            ", r5\n",
            "smlabt r4, r2, ",
            $b,
            ", r4\n",
            "smlabt r5, r6, ",
            $b,
            ", r5\n",
        )
    };
}

rows! {
    /// 3x3, stride 2.
    three_strided,
    stride: 2,
    block: [
        "ldm r3, {{r7-r12, lr}}",
        three_strided_row!("[r0, #-{row}]", "[r0, #8 - {row}]", "[r0, #16 - {row}]", "r8", "r9", ["r7", "r7", "r7"]),
        three_strided_row!("[r0, #{row}]", "[r0, #{row} + 8]", "[r0, #{row} + 16]", "r10", "r11", ["r4", "r5", "r6"]),
        three_strided_row!("[r0]", "[r0, #8]", "[r0, #16]!", "r12", "lr", ["r4", "r5", "r6"])
    ],
    pair: [
        "ldm r3, {{r7-r12, lr}}",
        "mov r5, r7",
        three_strided_pair!("[r0, #-{row}]", "[r0, #8 - {row}]", "r8", "r9", "r7"),
        three_strided_pair!("[r0, #{row}]", "[r0, #{row} + 8]", "r10", "r11", "r4"),
        three_strided_pair!("[r0]", "[r0, #8]!", "r12", "lr", "r4")
    ]
}

/// A row of four windows of five taps. Weights 0 and 1, 2 and 3, 1 and 2, 3 and 4 in `r8` to `r11`.
macro_rules! five_row {
    ($first:literal, $second:literal, [$s4:literal, $s5:literal, $s6:literal]) => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, ",
            $first,
            "\n",
            "ldrd r3, r12, ",
            $second,
            "\n",
            "smlad r4, r1, r8, ",
            $s4,
            "\n",
            "smlatb r5, r1, r8, ",
            $s5,
            "\n",
            "smlad r6, r2, r8, ",
            $s6,
            "\n",
            "smlatb r7, r2, r8, r7\n",
            "smlad r4, r2, r9, r4\n",
            "smlad r5, r2, r10, r5\n",
            "smlad r6, r3, r9, r6\n",
            "smlad r7, r3, r10, r7\n",
            "smlabt r4, r3, r11, r4\n",
            "smlad r5, r3, r11, r5\n",
            "smlabt r6, r12, r11, r6\n",
            "smlad r7, r12, r11, r7\n",
        )
    };
}

/// A row of two windows of five taps. Above the middle row single loads are out of reach, so that
/// two words are loaded.
macro_rules! five_pair {
    ($first:literal, $second:literal, $s4:literal) => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, ",
            $first,
            "\n",
            $second,
            "\n",
            "smlad r4, r1, r8, ",
            $s4,
            "\n",
            "smlatb r5, r1, r8, r5\n",
            "smlad r4, r2, r9, r4\n",
            "smlad r5, r2, r10, r5\n",
            "smlabt r4, r3, r11, r4\n",
            "smlad r5, r3, r11, r5\n",
        )
    };
}

rows! {
    /// 5x5, stride 1.
    five,
    stride: 1,
    block: [
        "mov lr, r3",
        "ldr r7, [lr], #4",
        five_row!("[r0, #-{row} * 2]", "[r0, #8 - {row} * 2]", ["r7", "r7", "r7"]),
        five_row!("[r0, #-{row}]", "[r0, #8 - {row}]", ["r4", "r5", "r6"]),
        five_row!("[r0, #{row}]", "[r0, #{row} + 8]", ["r4", "r5", "r6"]),
        five_row!("[r0, #{row} * 2]", "[r0, #{row} * 2 + 8]", ["r4", "r5", "r6"]),
        five_row!("[r0]", "[r0, #8]!", ["r4", "r5", "r6"])
    ],
    pair: [
        "mov lr, r3",
        "ldr r5, [lr], #4",
        five_pair!("[r0, #-{row} * 2]", "ldrd r3, r12, [r0, #8 - {row} * 2]", "r5"),
        five_pair!("[r0, #-{row}]", "ldrd r3, r12, [r0, #8 - {row}]", "r4"),
        five_pair!("[r0, #{row}]", "ldr r3, [r0, #{row} + 8]", "r4"),
        five_pair!("[r0, #{row} * 2]", "ldr r3, [r0, #{row} * 2 + 8]", "r4"),
        five_pair!("[r0], #4", "ldr r3, [r0, #4]", "r4")
    ]
}

/// A row of four windows of five taps, two pixels apart. Weights: as [`five_row`].
macro_rules! five_strided_row {
    ($first:literal, $second:literal, $third:literal, [$s4:literal, $s5:literal, $s6:literal]) => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, ",
            $first,
            "\n",
            "ldrd r3, r12, ",
            $second,
            "\n",
            "smlad r4, r1, r8, ",
            $s4,
            "\n",
            "smlad r5, r2, r8, ",
            $s5,
            "\n",
            "smlad r4, r2, r9, r4\n",
            "smlad r6, r3, r8, ",
            $s6,
            "\n",
            "ldrd r1, r2, ",
            $third,
            "\n",
            "smlabt r4, r3, r11, r4\n",
            "smlad r5, r3, r9, r5\n",
            "smlad r7, r12, r8, r7\n",
            "smlabt r5, r12, r11, r5\n",
            "smlad r6, r12, r9, r6\n",
            "smlad r7, r1, r9, r7\n",
            "smlabt r6, r1, r11, r6\n",
            "smlabt r7, r2, r11, r7\n",
        )
    };
}

/// A row of two windows of five taps, two pixels apart.
macro_rules! five_strided_pair {
    ($first:literal, $second:literal, $s4:literal) => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, ",
            $first,
            "\n",
            "ldrd r3, r12, ",
            $second,
            "\n",
            "smlad r4, r1, r8, ",
            $s4,
            "\n",
            "smlad r5, r2, r8, r5\n",
            "smlad r4, r2, r9, r4\n",
            "smlad r5, r3, r9, r5\n",
            "smlabt r4, r3, r11, r4\n",
            "smlabt r5, r12, r11, r5\n",
        )
    };
}

rows! {
    /// 5x5, stride 2.
    five_strided,
    stride: 2,
    block: [
        "mov lr, r3",
        "ldr r7, [lr], #4",
        five_strided_row!("[r0, #-{row} * 2]", "[r0, #8 - {row} * 2]", "[r0, #16 - {row} * 2]", ["r7", "r7", "r7"]),
        five_strided_row!("[r0, #-{row}]", "[r0, #8 - {row}]", "[r0, #16 - {row}]", ["r4", "r5", "r6"]),
        five_strided_row!("[r0, #{row}]", "[r0, #{row} + 8]", "[r0, #{row} + 16]", ["r4", "r5", "r6"]),
        five_strided_row!("[r0, #{row} * 2]", "[r0, #{row} * 2 + 8]", "[r0, #{row} * 2 + 16]", ["r4", "r5", "r6"]),
        five_strided_row!("[r0]", "[r0, #8]", "[r0, #16]!", ["r4", "r5", "r6"])
    ],
    pair: [
        "mov lr, r3",
        "ldr r5, [lr], #4",
        five_strided_pair!("[r0, #-{row} * 2]", "[r0, #8 - {row} * 2]", "r5"),
        five_strided_pair!("[r0, #-{row}]", "[r0, #8 - {row}]", "r4"),
        five_strided_pair!("[r0, #{row}]", "[r0, #{row} + 8]", "r4"),
        five_strided_pair!("[r0, #{row} * 2]", "[r0, #{row} * 2 + 8]", "r4"),
        five_strided_pair!("[r0]", "[r0, #8]!", "r4")
    ]
}

/// A row of four windows of seven taps, the first in the high half. Weights 0 and 1, 1 and 2, to 5
/// and 6 in `r3` and `r8` to `r12`.
macro_rules! seven_row {
    ($first:literal, $second:literal, $third:literal, [$s4:literal, $s5:literal, $s6:literal]) => {
        concat!(
            "ldm lr!, {{r3, r8-r12}}\n",
            "ldrd r1, r2, ",
            $first,
            "\n",
            "smlatb r4, r1, r3, ",
            $s4,
            "\n",
            "smlad r5, r2, r3, ",
            $s5,
            "\n",
            "smlatb r6, r2, r3, ",
            $s6,
            "\n",
            "smlad r4, r2, r8, r4\n",
            "ldrd r1, r2, ",
            $second,
            "\n",
            "smlad r7, r1, r3, r7\n",
            "smlad r4, r1, r10, r4\n",
            "smlad r5, r1, r9, r5\n",
            "smlad r6, r1, r8, r6\n",
            "smlad r7, r2, r9, r7\n",
            "smlad r4, r2, r12, r4\n",
            "smlad r5, r2, r11, r5\n",
            "smlad r6, r2, r10, r6\n",
            "ldrd r1, r2, ",
            $third,
            "\n",
            "smlad r7, r1, r11, r7\n",
            "smlabt r5, r1, r12, r5\n",
            "smlad r6, r1, r12, r6\n",
            "smlabt r7, r2, r12, r7\n",
        )
    };
}

/// A row of two windows of seven taps, the first in the high half.
macro_rules! seven_pair {
    ($first:literal, $second:literal, $third:literal, $s4:literal) => {
        concat!(
            "ldm lr!, {{r3, r8-r12}}\n",
            "ldrd r1, r2, ",
            $first,
            "\n",
            "ldrd r6, r7, ",
            $second,
            "\n",
            "smlatb r4, r1, r3, ",
            $s4,
            "\n",
            "smlad r5, r2, r3, r5\n",
            "smlad r4, r2, r8, r4\n",
            $third,
            "\n",
            "smlad r5, r6, r9, r5\n",
            "smlad r4, r6, r10, r4\n",
            "smlad r5, r7, r11, r5\n",
            "smlad r4, r7, r12, r4\n",
            "smlabt r5, r1, r12, r5\n",
        )
    };
}

rows! {
    /// 7x7, stride 1.
    seven,
    stride: 1,
    block: [
        "mov lr, r3",
        "ldr r7, [lr], #4",
        seven_row!("[r0, #-{row} * 3]", "[r0, #8 - {row} * 3]", "[r0, #16 - {row} * 3]", ["r7", "r7", "r7"]),
        seven_row!("[r0, #-{row} * 2]", "[r0, #8 - {row} * 2]", "[r0, #16 - {row} * 2]", ["r4", "r5", "r6"]),
        seven_row!("[r0, #-{row}]", "[r0, #8 - {row}]", "[r0, #16 - {row}]", ["r4", "r5", "r6"]),
        seven_row!("[r0, #{row}]", "[r0, #{row} + 8]", "[r0, #{row} + 16]", ["r4", "r5", "r6"]),
        seven_row!("[r0, #{row} * 2]", "[r0, #{row} * 2 + 8]", "[r0, #{row} * 2 + 16]", ["r4", "r5", "r6"]),
        seven_row!("[r0, #{row} * 3]", "[r0, #{row} * 3 + 8]", "[r0, #{row} * 3 + 16]", ["r4", "r5", "r6"]),
        seven_row!("[r0]", "[r0, #8]!", "[r0, #8]", ["r4", "r5", "r6"])
    ],
    pair: [
        "mov lr, r3",
        "ldr r5, [lr], #4",
        seven_pair!("[r0, #-{row} * 3]", "[r0, #8 - {row} * 3]", "ldrd r1, r2, [r0, #16 - {row} * 3]", "r5"),
        seven_pair!("[r0, #-{row} * 2]", "[r0, #8 - {row} * 2]", "ldrd r1, r2, [r0, #16 - {row} * 2]", "r4"),
        seven_pair!("[r0, #-{row}]", "[r0, #8 - {row}]", "ldrd r1, r2, [r0, #16 - {row}]", "r4"),
        seven_pair!("[r0, #{row}]", "[r0, #{row} + 8]", "ldr r1, [r0, #{row} + 16]", "r4"),
        seven_pair!("[r0, #{row} * 2]", "[r0, #{row} * 2 + 8]", "ldr r1, [r0, #{row} * 2 + 16]", "r4"),
        seven_pair!("[r0, #{row} * 3]", "[r0, #{row} * 3 + 8]", "ldr r1, [r0, #{row} * 3 + 16]", "r4"),
        seven_pair!("[r0], #4", "[r0, #4]", "ldr r1, [r0, #12]", "r4")
    ]
}

/// A row of four windows of seven taps, two pixels apart. Weights 0 and 1, 2 and 3, 4 and 5, and 6 in
/// `r8` to `r11`.
macro_rules! seven_strided_row {
    ($first:literal, $second:literal, $third:literal, $fourth:literal, [$s4:literal, $s5:literal, $s6:literal]) => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, ",
            $first,
            "\n",
            "ldrd r3, r12, ",
            $second,
            "\n",
            "smlad r4, r1, r8, ",
            $s4,
            "\n",
            "smlad r5, r2, r8, ",
            $s5,
            "\n",
            "smlad r6, r3, r8, ",
            $s6,
            "\n",
            "smlad r7, r12, r8, r7\n",
            "smlad r4, r2, r9, r4\n",
            "ldrd r1, r2, ",
            $third,
            "\n",
            "smlad r5, r3, r9, r5\n",
            "smlad r4, r3, r10, r4\n",
            "smlad r6, r12, r9, r6\n",
            "smlad r5, r12, r10, r5\n",
            "smlabb r4, r12, r11, r4\n",
            $fourth,
            "\n",
            "smlad r7, r1, r9, r7\n",
            "smlad r6, r1, r10, r6\n",
            "smlabb r5, r1, r11, r5\n",
            "smlad r7, r2, r10, r7\n",
            "smlabb r6, r2, r11, r6\n",
            "smlabb r7, r3, r11, r7\n",
        )
    };
}

/// A row of two windows of seven taps, two pixels apart.
macro_rules! seven_strided_pair {
    ($first:literal, $second:literal, $third:literal, $s4:literal) => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, ",
            $first,
            "\n",
            "ldrd r3, r12, ",
            $second,
            "\n",
            "smlad r4, r1, r8, ",
            $s4,
            "\n",
            "smlad r5, r2, r8, r5\n",
            "smlad r4, r2, r9, r4\n",
            $third,
            "\n",
            "smlad r5, r3, r9, r5\n",
            "smlad r4, r3, r10, r4\n",
            "smlad r5, r12, r10, r5\n",
            "smlabb r4, r12, r11, r4\n",
            "smlabb r5, r1, r11, r5\n",
        )
    };
}

rows! {
    /// 7x7, stride 2.
    seven_strided,
    stride: 2,
    block: [
        "mov lr, r3",
        "ldr r7, [lr], #4",
        seven_strided_row!("[r0, #-{row} * 3]", "[r0, #8 - {row} * 3]", "[r0, #16 - {row} * 3]", "ldrd r3, r12, [r0, #24 - {row} * 3]", ["r7", "r7", "r7"]),
        seven_strided_row!("[r0, #-{row} * 2]", "[r0, #8 - {row} * 2]", "[r0, #16 - {row} * 2]", "ldrd r3, r12, [r0, #24 - {row} * 2]", ["r4", "r5", "r6"]),
        seven_strided_row!("[r0, #-{row}]", "[r0, #8 - {row}]", "[r0, #16 - {row}]", "ldrd r3, r12, [r0, #24 - {row}]", ["r4", "r5", "r6"]),
        seven_strided_row!("[r0, #{row}]", "[r0, #{row} + 8]", "[r0, #{row} + 16]", "ldr r3, [r0, #{row} + 24]", ["r4", "r5", "r6"]),
        seven_strided_row!("[r0, #{row} * 2]", "[r0, #{row} * 2 + 8]", "[r0, #{row} * 2 + 16]", "ldr r3, [r0, #{row} * 2 + 24]", ["r4", "r5", "r6"]),
        seven_strided_row!("[r0, #{row} * 3]", "[r0, #{row} * 3 + 8]", "[r0, #{row} * 3 + 16]", "ldr r3, [r0, #{row} * 3 + 24]", ["r4", "r5", "r6"]),
        seven_strided_row!("[r0]", "[r0, #8]", "[r0, #16]!", "ldr r3, [r0, #8]", ["r4", "r5", "r6"])
    ],
    pair: [
        "mov lr, r3",
        "ldr r5, [lr], #4",
        seven_strided_pair!("[r0, #-{row} * 3]", "[r0, #8 - {row} * 3]", "ldrd r1, r2, [r0, #16 - {row} * 3]", "r5"),
        seven_strided_pair!("[r0, #-{row} * 2]", "[r0, #8 - {row} * 2]", "ldrd r1, r2, [r0, #16 - {row} * 2]", "r4"),
        seven_strided_pair!("[r0, #-{row}]", "[r0, #8 - {row}]", "ldrd r1, r2, [r0, #16 - {row}]", "r4"),
        seven_strided_pair!("[r0, #{row}]", "[r0, #{row} + 8]", "ldr r1, [r0, #{row} + 16]", "r4"),
        seven_strided_pair!("[r0, #{row} * 2]", "[r0, #{row} * 2 + 8]", "ldr r1, [r0, #{row} * 2 + 16]", "r4"),
        seven_strided_pair!("[r0, #{row} * 3]", "[r0, #{row} * 3 + 8]", "ldr r1, [r0, #{row} * 3 + 16]", "r4"),
        seven_strided_pair!("[r0], #8", "[r0]", "ldr r1, [r0, #8]", "r4")
    ]
}
