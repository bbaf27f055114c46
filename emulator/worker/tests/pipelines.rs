//! Loops of a few instructions on each core: what a turn takes, from block to block, is what the
//! rules of its pipeline say.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{assembled, job, run_on};

const M4: &str = "stm32f469i-disco";
const M7: &str = "stm32f746g-disco";
const M33: &str = "bench-cortex-m33";

/// What a loop does beside `subs r7,#1; bne`, its halfwords (r5 points to RAM), and cycles a turn on
/// Cortex-M4, Cortex-M7 and Cortex-M33.
const LOOPS: &[(&str, &[u16], [u64; 3])] = &[
    // The M4 refills its pipeline behind the branch, the M7 foresees it, the M33 takes two cycles.
    ("nothing", &[], [4, 1, 3]),
    ("nop; nop", &[0xbf00, 0xbf00], [6, 2, 4]),
    ("ldr r4,[r5]", &[0x682c], [6, 2, 4]),
    ("ldr r4,[r5]; ldr r6,[r5,#4]", &[0x682c, 0x686e], [7, 2, 5]),
    ("ldr r4,[r5]; adds r4,#1", &[0x682c, 0x3401], [7, 4, 6]),
    ("ldrd r0,r1,[r5]", &[0xe9d5, 0x0100], [7, 2, 5]),
    ("str r4,[r5]; str r6,[r5,#4]", &[0x602c, 0x606e], [6, 3, 5]),
    ("two independent smlad", &[0xfb21, 0x0002, 0xfb21, 0x3302], [6, 3, 5]),
    ("two smlad in a chain", &[0xfb21, 0x0002, 0xfb21, 0x0002], [6, 3, 5]),
    ("sxtb16 r0,r1; sxtb16 r3,r2", &[0xfa2f, 0xf081, 0xfa2f, 0xf382], [6, 3, 5]),
    ("b over a nop", &[0xe000, 0xbf00], [7, 2, 5]),
    // The M33 forwards a word to what stores it.
    ("ldr r4,[r5]; str r4,[r5]", &[0x682c, 0x602c], [7, 4, 5]),
    // Its result is late if an operand was shifted.
    ("add.w r0,r1,r2,lsl #2; adds r0,#1", &[0xeb01, 0x0082, 0x3001], [6, 3, 6]),
];

fn cycles(board: &str, body: &[u16], turns: u16) -> u64 {
    // movw r7,#turns, of which the lowest 8 bits and the next 3 are used; mov.w r5,#0x20000000
    let mut code = vec![0xf240, 0x0700 | turns >> 8 << 12 | turns & 0xff, 0xf04f, 0x5500];
    code.extend(body);
    // subs r7,#1; bne to the body; wfi
    let back = 0u8.wrapping_sub(body.len() as u8 + 3);
    code.extend([0x3f01, 0xd100 | u16::from(back), 0xbf30]);
    run_on(board, assembled(&code), &job()).0.boot.cycles().0
}

#[test]
fn turns_of_loops_take_what_the_rules_say() {
    for (what, body, expected) in LOOPS {
        for (board, expected) in [M4, M7, M33].into_iter().zip(expected) {
            let thousand = cycles(board, body, 2000) - cycles(board, body, 1000);
            assert_eq!(thousand, expected * 1000, "{what} on {board}");
        }
    }
}
