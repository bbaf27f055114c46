//! Blocks for a core that issues one instruction at a time: words of pixels come in twos.

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

/// Four windows of three taps.
macro_rules! three_block {
    () => {
        concat!(
            "ldm r3, {{r7-r12, lr}}\n",
            three_row!("[r0, #-{row}]", "[r0, #8 - {row}]", "r8", "r9", ["r7", "r7", "r7"]),
            three_row!("[r0, #{row}]", "[r0, #{row} + 8]", "r10", "r11", ["r4", "r5", "r6"]),
            three_row!("[r0]", "[r0, #8]!", "r12", "lr", ["r4", "r5", "r6"])
        )
    };
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

/// Four windows of three taps, two pixels apart.
macro_rules! three_strided_block {
    () => {
        concat!(
            "ldm r3, {{r7-r12, lr}}\n",
            three_strided_row!(
                "[r0, #-{row}]",
                "[r0, #8 - {row}]",
                "[r0, #16 - {row}]",
                "r8",
                "r9",
                ["r7", "r7", "r7"]
            ),
            three_strided_row!(
                "[r0, #{row}]",
                "[r0, #{row} + 8]",
                "[r0, #{row} + 16]",
                "r10",
                "r11",
                ["r4", "r5", "r6"]
            ),
            three_strided_row!("[r0]", "[r0, #8]", "[r0, #16]!", "r12", "lr", ["r4", "r5", "r6"])
        )
    };
}
