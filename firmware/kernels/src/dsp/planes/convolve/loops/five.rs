//! Windows of five taps.

/// A row of four windows of five taps. Weights 0 and 1, 2 and 3, 1 and 2, 3 and 4 in `r8` to `r11`.
macro_rules! five_row {
    ($first:literal, $second:literal) => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, ",
            $first,
            "\n",
            "ldrd r3, r12, ",
            $second,
            "\n",
            "smlad r4, r1, r8, r4\n",
            "smlatb r5, r1, r8, r5\n",
            "smlad r6, r2, r8, r6\n",
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

/// A row of two windows of five taps.
macro_rules! five_pair {
    () => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, [r0, #{row}]!\n",
            "ldr r3, [r0, #8]\n",
            "smlad r4, r1, r8, r4\n",
            "smlatb r5, r1, r8, r5\n",
            "smlad r4, r2, r9, r4\n",
            "smlad r5, r2, r10, r5\n",
            "smlabt r4, r3, r11, r4\n",
            "smlad r5, r3, r11, r5\n",
        )
    };
}

/// A row of four windows of five taps, two pixels apart. Weights: as [`five_row`].
macro_rules! five_strided_row {
    () => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, [r0, #{row}]!\n",
            "ldrd r3, r12, [r0, #8]\n",
            "smlad r4, r1, r8, r4\n",
            "smlad r5, r2, r8, r5\n",
            "smlad r4, r2, r9, r4\n",
            "smlad r6, r3, r8, r6\n",
            "ldrd r1, r2, [r0, #16]\n",
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
    () => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, [r0, #{row}]!\n",
            "ldrd r3, r12, [r0, #8]\n",
            "smlad r4, r1, r8, r4\n",
            "smlad r5, r2, r8, r5\n",
            "smlad r4, r2, r9, r4\n",
            "smlad r5, r3, r9, r5\n",
            "smlabt r4, r3, r11, r4\n",
            "smlabt r5, r12, r11, r5\n",
        )
    };
}
