//! Windows of seven taps.

/// A row of four windows of seven taps, the first in the high half. Weights 0 and 1, 1 and 2, to 5
/// and 6 in `r3` and `r8` to `r12`.
macro_rules! seven_row {
    () => {
        concat!(
            "ldm lr!, {{r3, r8-r12}}\n",
            "ldrd r1, r2, [r0, #{row}]!\n",
            "smlatb r4, r1, r3, r4\n",
            "smlad r5, r2, r3, r5\n",
            "smlatb r6, r2, r3, r6\n",
            "smlad r4, r2, r8, r4\n",
            "ldrd r1, r2, [r0, #8]\n",
            "smlad r7, r1, r3, r7\n",
            "smlad r4, r1, r10, r4\n",
            "smlad r5, r1, r9, r5\n",
            "smlad r6, r1, r8, r6\n",
            "smlad r7, r2, r9, r7\n",
            "smlad r4, r2, r12, r4\n",
            "smlad r5, r2, r11, r5\n",
            "smlad r6, r2, r10, r6\n",
            "ldrd r1, r2, [r0, #16]\n",
            "smlad r7, r1, r11, r7\n",
            "smlabt r5, r1, r12, r5\n",
            "smlad r6, r1, r12, r6\n",
            "smlabt r7, r2, r12, r7\n",
        )
    };
}

/// A row of two windows of seven taps, the first in the high half.
macro_rules! seven_pair {
    () => {
        concat!(
            "ldm lr!, {{r3, r8-r12}}\n",
            "ldrd r1, r2, [r0, #{row}]!\n",
            "ldrd r6, r7, [r0, #8]\n",
            "smlatb r4, r1, r3, r4\n",
            "smlad r5, r2, r3, r5\n",
            "smlad r4, r2, r8, r4\n",
            "ldr r1, [r0, #16]\n",
            "smlad r5, r6, r9, r5\n",
            "smlad r4, r6, r10, r4\n",
            "smlad r5, r7, r11, r5\n",
            "smlad r4, r7, r12, r4\n",
            "smlabt r5, r1, r12, r5\n",
        )
    };
}

/// A row of four windows of seven taps, two pixels apart. Weights 0 and 1, 2 and 3, 4 and 5, and 6 in
/// `r8` to `r11`.
macro_rules! seven_strided_row {
    () => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, [r0, #{row}]!\n",
            "ldrd r3, r12, [r0, #8]\n",
            "smlad r4, r1, r8, r4\n",
            "smlad r5, r2, r8, r5\n",
            "smlad r6, r3, r8, r6\n",
            "smlad r7, r12, r8, r7\n",
            "smlad r4, r2, r9, r4\n",
            "ldrd r1, r2, [r0, #16]\n",
            "smlad r5, r3, r9, r5\n",
            "smlad r4, r3, r10, r4\n",
            "smlad r6, r12, r9, r6\n",
            "smlad r5, r12, r10, r5\n",
            "smlabb r4, r12, r11, r4\n",
            "ldr r3, [r0, #24]\n",
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
    () => {
        concat!(
            "ldm lr!, {{r8-r11}}\n",
            "ldrd r1, r2, [r0, #{row}]!\n",
            "ldrd r3, r12, [r0, #8]\n",
            "smlad r4, r1, r8, r4\n",
            "smlad r5, r2, r8, r5\n",
            "smlad r4, r2, r9, r4\n",
            "ldr r1, [r0, #16]\n",
            "smlad r5, r3, r9, r5\n",
            "smlad r4, r3, r10, r4\n",
            "smlad r5, r12, r10, r5\n",
            "smlabb r4, r12, r11, r4\n",
            "smlabb r5, r1, r11, r5\n",
        )
    };
}
