//! Windows of five taps.

use crate::dsp::planes::convolve::Run;
use crate::dsp::planes::{CHANNEL_WORDS, CHANNELS, Filter, ROW_WORDS};

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
