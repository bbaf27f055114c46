//! Blocks for a core that issues a load beside a multiplication: each word of pixels is loaded alone,
//! the first two of a row while the row before is multiplied.

/// A row of four windows of three taps, the first in the high half. `a`: weights 0 and 1, `b`: 1
/// and 2. Sums start at `s` and are in place already but for the first row. `third` and `fourth`: where
/// these words of pixels lie; `first` and `second`: loads of these words of the next row.
macro_rules! three_row {
    (
        [$third:literal, $fourth:literal], [$first:literal, $second:literal],
        $a:literal, $b:literal, [$s4:literal, $s5:literal, $s6:literal]
    ) => {
        concat!(
            "smlatb r4, r1, ",
            $a,
            ", ",
            $s4,
            "\n",
            "ldr r1, ",
            $third,
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
            "ldr r2, ",
            $fourth,
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
            $first,
            "\n",
            "smlabt r7, r2, ",
            $b,
            ", r7\n",
            $second,
            "\n",
        )
    };
}

/// Four windows of three taps.
macro_rules! three_block {
    () => {
        concat!(
            "ldr r1, [r0, #-{row}]
            ldr r2, [r0, #4 - {row}]
            ldm r3, {{r7-r12, lr}}\n",
            three_row!(
                ["[r0, #8 - {row}]", "[r0, #12 - {row}]"],
                ["ldr r1, [r0, #{row}]", "ldr r2, [r0, #{row} + 4]"],
                "r8",
                "r9",
                ["r7", "r7", "r7"]
            ),
            three_row!(
                ["[r0, #{row} + 8]", "[r0, #{row} + 12]"],
                ["ldr r1, [r0]", "ldr r2, [r0, #4]"],
                "r10",
                "r11",
                ["r4", "r5", "r6"]
            ),
            three_row!(["[r0, #8]!", "[r0, #4]"], ["", ""], "r12", "lr", ["r4", "r5", "r6"])
        )
    };
}

/// A row of four windows of three taps, two pixels apart, as [`three_row`].
macro_rules! three_strided_row {
    (
        [$third:literal, $fourth:literal, $fifth:literal], [$second:literal, $first:literal],
        $a:literal, $b:literal, [$s4:literal, $s5:literal, $s6:literal]
    ) => {
        concat!(
            "smlad r4, r1, ",
            $a,
            ", ",
            $s4,
            "\n",
            "ldr r1, ",
            $third,
            "\n",
            "smlabt r4, r2, ",
            $b,
            ", r4\n",
            "smlad r5, r2, ",
            $a,
            ", ",
            $s5,
            "\n",
            "ldr r2, ",
            $fourth,
            "\n",
            "smlabt r5, r1, ",
            $b,
            ", r5\n",
            "smlad r6, r1, ",
            $a,
            ", ",
            $s6,
            "\n",
            "ldr r1, ",
            $fifth,
            "\n",
            "smlabt r6, r2, ",
            $b,
            ", r6\n",
            "smlad r7, r2, ",
            $a,
            ", r7\n",
            $second,
            "\n",
            "smlabt r7, r1, ",
            $b,
            ", r7\n",
            $first,
            "\n",
        )
    };
}

/// Four windows of three taps, two pixels apart.
macro_rules! three_strided_block {
    () => {
        concat!(
            "ldr r1, [r0, #-{row}]
            ldr r2, [r0, #4 - {row}]
            ldm r3, {{r7-r12, lr}}\n",
            three_strided_row!(
                ["[r0, #8 - {row}]", "[r0, #12 - {row}]", "[r0, #16 - {row}]"],
                ["ldr r2, [r0, #{row} + 4]", "ldr r1, [r0, #{row}]"],
                "r8",
                "r9",
                ["r7", "r7", "r7"]
            ),
            three_strided_row!(
                ["[r0, #{row} + 8]", "[r0, #{row} + 12]", "[r0, #{row} + 16]"],
                ["ldr r2, [r0, #4]", "ldr r1, [r0]"],
                "r10",
                "r11",
                ["r4", "r5", "r6"]
            ),
            three_strided_row!(
                ["[r0, #8]", "[r0, #12]", "[r0, #16]!"],
                ["", ""],
                "r12",
                "lr",
                ["r4", "r5", "r6"]
            )
        )
    };
}
