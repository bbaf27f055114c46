//! Windows of three taps.

use crate::dsp::planes::convolve::Run;
use crate::dsp::planes::{CHANNEL_WORDS, CHANNELS, Filter, ROW_WORDS};

#[cfg(feature = "dual-issue")]
#[macro_use]
mod dual;
#[cfg(not(feature = "dual-issue"))]
#[macro_use]
mod single;

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
    held: 0,
    begin: [],
    channel: [],
    block: [three_block!()],
    pair: [
        "ldm r3, {{r7-r12, lr}}",
        "mov r5, r7",
        three_pair!("[r0, #-{row}]", "[r0, #8 - {row}]", "r8", "r9", "r7"),
        three_pair!("[r0, #{row}]", "[r0, #{row} + 8]", "r10", "r11", "r4"),
        three_pair!("[r0], #4", "[r0, #4]", "r12", "lr", "r4")
    ],
    next: ["add r2, r2, #{row}"],
    data: []
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
    held: 0,
    begin: [],
    channel: [],
    block: [three_strided_block!()],
    pair: [
        "ldm r3, {{r7-r12, lr}}",
        "mov r5, r7",
        three_strided_pair!("[r0, #-{row}]", "[r0, #8 - {row}]", "r8", "r9", "r7"),
        three_strided_pair!("[r0, #{row}]", "[r0, #{row} + 8]", "r10", "r11", "r4"),
        three_strided_pair!("[r0]", "[r0, #8]!", "r12", "lr", "r4")
    ],
    next: ["add r2, r2, #{row} * 2"],
    data: []
}
