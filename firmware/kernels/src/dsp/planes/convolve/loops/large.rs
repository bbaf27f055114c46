//! Windows of five and seven taps: one loop, which jumps to what makes a window's sums.

use crate::dsp::planes::convolve::Run;
use crate::dsp::planes::{CHANNEL_WORDS, CHANNELS, Filter, ROW_WORDS};

rows! {
    /// 5x5 and 7x7, as [`Run`] says.
    large,
    // Where the channel's weights end, bytes from a row of outputs to the next in the planes, bytes of
    // weights with where sums start, the blocks' code, the pairs'.
    held: 20,
    begin: [
        "ldrd r4, r5, [r0, #40]",
        "strd r4, r5, [sp, #80]",
        "ldr r4, [r0, #48]",
        "adr.w r5, 60f",
        "add r4, r5, r4, lsl #3",
        "ldrd r6, r7, [r4]",
        "add r6, r6, r5",
        "add r7, r7, r5",
        "strd r6, r7, [sp, #88]"
    ],
    channel: ["ldr r4, [sp, #84]", "add r4, r4, r3", "str r4, [sp, #76]"],
    block: [
        "mov lr, r3",
        "ldr r7, [lr], #4",
        "mov r4, r7",
        "mov r5, r7",
        "mov r6, r7",
        "ldr pc, [sp, #88]",
        "20:",
        five_row!("[r0, #-{row} * 2]", "[r0, #8 - {row} * 2]"),
        five_row!("[r0, #-{row}]", "[r0, #8 - {row}]"),
        five_row!("[r0]", "[r0, #8]"),
        five_row!("[r0, #{row}]", "[r0, #{row} + 8]"),
        five_row!("[r0, #{row} * 2]", "[r0, #{row} * 2 + 8]"),
        "adds r0, #8",
        "b 30f",
        "21:",
        looped!("2", [five_strided_row!()], "r12", "16"),
        "b 30f",
        "22:",
        looped!("3", [seven_row!()], "r3", "8"),
        "b 30f",
        "23:",
        looped!("3", [seven_strided_row!()], "r3", "16"),
        "30:"
    ],
    pair: [
        "mov lr, r3",
        "ldr r4, [lr], #4",
        "mov r5, r4",
        "ldr pc, [sp, #92]",
        "40:",
        looped!("2", [five_pair!()], "r12", "4"),
        "b 50f",
        "41:",
        looped!("2", [five_strided_pair!()], "r12", "8"),
        "b 50f",
        "42:",
        looped!("3", [seven_pair!()], "r3", "4"),
        "b 50f",
        "43:",
        looped!("3", [seven_strided_pair!()], "r3", "8"),
        "50:"
    ],
    next: ["ldr r4, [sp, #80]", "add r2, r2, r4"],
    // Addresses of code are odd.
    data: [
        ".p2align 2",
        "60:",
        ".word 20b - 60b + 1, 40b - 60b + 1",
        ".word 21b - 60b + 1, 41b - 60b + 1",
        ".word 22b - 60b + 1, 42b - 60b + 1",
        ".word 23b - 60b + 1, 43b - 60b + 1"
    ]
}
