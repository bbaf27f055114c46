//! Windows of seven taps.

use crate::dsp::planes::convolve::Run;
use crate::dsp::planes::{CHANNEL_WORDS, CHANNELS, Filter, ROW_WORDS};

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
