//! What the core waits for flash, and what it may do there.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{assembled, job, run_on};
use tilewright_report::FaultKind;

const M4: &str = "stm32f469i-disco";
const M7: &str = "stm32f746g-disco";

/// movw r7,#turns, of which the lowest 8 bits and the next 3 are used; movw r5,#0; movt r5,#0x804: behind
/// the firmware.
fn start(turns: u16) -> Vec<u16> {
    vec![0xf240, 0x0700 | turns >> 8 << 12 | turns & 0xff, 0xf240, 0x0500, 0xf6c0, 0x0504]
}

/// Cycles of a thousand turns of a loop of this body.
fn thousand(board: &str, body: &[u16]) -> u64 {
    let cycles = |turns| {
        let mut code = start(turns);
        code.extend(body);
        // subs r7,#1; bne.w to the body; wfi
        let back = -(2 * body.len() as i32 + 6) / 2;
        let low = back as u16 & 0x07ff;
        let high = (back >> 11) as u16 & 0x003f;
        code.extend([0x3f01, 0xf440 | high, 0xa800 | low, 0xbf30]);
        let (finish, _) = run_on(board, assembled(&code), &job());
        assert_eq!(finish.fault.unwrap().kind, FaultKind::Deadlock, "it ends asleep");
        finish.boot.cycles().0
    };
    cycles(2000) - cycles(1000)
}

#[test]
fn each_line_of_constants_is_waited_for_once() {
    // ldr r4,[r5],#n: turns of 6 and 2 cycles, lines of 16 and 32 bytes.
    for (bytes, m4, m7) in [(4, 1250, 15_000 / 8), (16, 5000, 7500), (32, 5000, 15_000)] {
        let body = [0xf855, 0x4b00 | bytes];
        let waits = [thousand(M4, &body) - 6000, thousand(M7, &body) - 2000];
        assert_eq!(waits, [m4, m7], "{bytes} bytes a turn");
    }
    // The same word again and again.
    assert_eq!([M4, M7].map(|board| thousand(board, &[0x682c])), [6000, 2000]);
}

#[test]
fn code_waits_if_it_is_longer_than_what_is_kept() {
    // adds.w r0,r0,#1 n times, four in a line of the F469, and 6 bytes of the loop.
    let body = |count: usize| [0xf110u16, 0x0001].repeat(count);
    assert_eq!(thousand(M4, &body(240)), 244_000);
    // Each turn a jump into a line, 5 cycles, and 72 lines or so behind, 2 cycles each.
    let waits = thousand(M4, &body(288)) - 292_000;
    assert!((145_000..=155_000).contains(&waits), "{waits}");
    // Half of what the F746 keeps.
    assert_eq!(thousand(M7, &body(500)), 501_000);
}

#[test]
fn flash_is_not_written_and_what_lies_behind_the_firmware_does_not_run() {
    // str r0,[r5]
    let mut code = start(1);
    code.extend([0x6028, 0xbf30]);
    let fault = run_on(M7, assembled(&code), &job()).0.fault.unwrap();
    assert_eq!(fault.kind, FaultKind::UnmappedAccess);
    assert!(fault.message.contains("write to 0x08040000"), "{fault:?}");
    // adds r5,#1; bx r5
    let mut code = start(1);
    code.extend([0x3501, 0x4728]);
    let fault = run_on(M7, assembled(&code), &job()).0.fault.unwrap();
    assert_eq!(fault.kind, FaultKind::UnmappedAccess);
    assert!(fault.message.contains("fetch from 0x08040000"), "{fault:?}");
}
