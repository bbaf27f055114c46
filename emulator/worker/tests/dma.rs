//! What DMA does not reach, and what it does not move while the core sleeps.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{assembled, run_on, short_job, stores};
use tilewright_report::{Fault, FaultKind};

const F746: &str = "stm32f746g-disco";
const F767: &str = "nucleo-f767zi";
const F469: &str = "stm32f469i-disco";
const RCC: u32 = 0x4002_3800;
const STREAM: u32 = 0x4002_6410;

/// Moves 64 words with other registers of RCC as given; then runs this code.
fn moves(board: &str, [source, destination]: [u32; 2], rcc: &[(u32, u32)], then: &[u16]) -> Fault {
    let first = rcc.iter().map(|(offset, value)| (RCC + offset, *value));
    let stream = [
        (RCC + 0x30, 1 << 22 | 1 << 20),
        (STREAM + 0x04, 64),
        (STREAM + 0x08, source),
        (STREAM + 0x0c, destination),
        (STREAM + 0x14, 7),
        // Words in bursts of four, both addresses counting up.
        (STREAM, 1 << 23 | 1 << 21 | 2 << 13 | 2 << 11 | 1 << 10 | 1 << 9 | 2 << 6 | 1),
    ];
    let code = [stores(&first.chain(stream).collect::<Vec<_>>()), then.to_vec()].concat();
    run_on(board, assembled(&code), &short_job()).0.fault.unwrap()
}

/// b .
const STAYS: [u16; 1] = [0xe7fe];
/// wfi; b -.
const SLEEPS: [u16; 2] = [0xbf30, 0xe7fd];

#[test]
fn memory_that_the_core_alone_reaches_is_out_of_reach() {
    for (board, inside, out, name) in [
        (F746, 0x2001_0000, 0x0000_1000, "ITCM RAM"),
        (F767, 0x2002_0000, 0x0000_1000, "ITCM RAM"),
        (F469, 0x2000_0000, 0x1000_1000, "CCM data RAM"),
    ] {
        for (places, what) in [([out, inside], "read"), ([inside, out], "write")] {
            let fault = moves(board, places, &[], &STAYS);
            assert_eq!(fault.kind, FaultKind::Firmware, "{board}: {fault:?}");
            let told = format!("is to {what} 256 bytes at 0x{out:08x} in {name}");
            assert!(fault.message.contains(&told), "{board}: {fault:?}");
            assert!(fault.message.contains("a board ends the transfer with an error"));
        }
        let within = moves(board, [inside, inside + 0x400], &[], &STAYS);
        assert_eq!(within.kind, FaultKind::InstructionLimit, "{board}: {within:?}");
    }
}

#[test]
fn what_moves_while_the_core_sleeps_needs_its_clocks() {
    const AHB1_ASLEEP: u32 = 0x7ef7_b7ff;
    for (bit, name) in [(22, "DMA2LPEN"), (16, "SRAM1LPEN"), (20, "DTCMLPEN")] {
        let rcc = [(0x50, AHB1_ASLEEP & !(1 << bit))];
        let places = [0x2000_4000, 0x2001_0000];
        let stands = moves(F746, places, &rcc, &SLEEPS);
        assert_eq!(stands.kind, FaultKind::Firmware, "{stands:?}");
        assert!(stands.message.contains(&format!("{name} is 0: a board's transfer stands")));
        // Awake it moves.
        assert_eq!(moves(F746, places, &rcc, &STAYS).kind, FaultKind::InstructionLimit);
        // By the values at reset it moves asleep; nothing wakes the core then.
        assert_eq!(moves(F746, places, &[], &SLEEPS).kind, FaultKind::Deadlock);
    }
    let places = [0x2000_4000, 0x2003_0000];
    let stands = moves(F469, places, &[(0x50, 0x7eef_97ff & !(1 << 19))], &SLEEPS);
    assert!(stands.message.contains("SRAM3LPEN"), "{stands:?}");
    assert_eq!(moves(F469, places, &[], &SLEEPS).kind, FaultKind::Deadlock);
}

/// Copies 256 bytes of 0x11 to `destination`, whose lines it cleans and invalidates before; behind the copy it does what
/// `then` says. Gives what the core reads there in the end, in words.
fn copied(reads_ahead: Option<u64>, then: &[(u32, u32)]) -> Vec<u32> {
    const CACHE: u32 = 0xe000_e000;
    const SOURCE: u32 = 0x2001_4000;
    const DESTINATION: u32 = 0x2002_0000;
    let filled = (0..64).map(|word| (SOURCE + 4 * word, 0x1111_1111));
    let lines = |register: u32, first: u32| (0..8).map(move |line| (register, first + 32 * line));
    let begins = [
        // The data cache on; DMA2 and SRAM clocked.
        (CACHE + 0xd14, 0x0001_0000),
        (RCC + 0x30, 1 << 22 | 1 << 20),
        (STREAM + 0x04, 64),
        (STREAM + 0x08, SOURCE),
        (STREAM + 0x0c, DESTINATION),
        (STREAM + 0x14, 7),
    ];
    let go = [(STREAM, 1 << 23 | 1 << 21 | 2 << 13 | 2 << 11 | 1 << 10 | 1 << 9 | 2 << 6 | 1)];
    let before = filled.chain(begins);
    let before =
        before.chain(lines(CACHE + 0xf68, SOURCE)).chain(lines(CACHE + 0xf70, DESTINATION));
    let before: Vec<_> = before.chain(go).collect();
    (0..8)
        .map(|line| {
            // Waits a thousand turns: movw r2, #1000; subs r2, #1; bne -.
            let waits = vec![0xf240, 0x32e8, 0x3a01, 0xd1fd];
            // r0 points there: ldr r0, [r0]; b .
            let address = DESTINATION + 32 * line;
            let [low, high] = [address & 0xffff, address >> 16];
            let [low, high] = [[low, 0xf240], [high, 0xf2c0]].map(|[half, opcode]| {
                let [imm4, i, imm3, imm8] =
                    [half >> 12, half >> 11 & 1, half >> 8 & 7, half & 0xff];
                [(opcode | i << 10 | imm4) as u16, (imm3 << 12 | imm8) as u16]
            });
            let reads = [&low[..], &high[..], &[0x6800, 0xe7fe]].concat();
            let code = [stores(&before), waits, stores(then), reads].concat();
            let mut job = short_job();
            job.hardware.reads_ahead = reads_ahead;
            let fault = run_on(F746, assembled(&code), &job).0.fault.unwrap();
            assert_eq!(fault.kind, FaultKind::InstructionLimit, "{fault:?}");
            fault.registers.iter().find(|(name, _)| name.eq_ignore_ascii_case("r0")).unwrap().1
        })
        .collect()
}

#[test]
fn what_the_core_read_ahead_is_not_what_dma_wrote() {
    const RIGHT: u32 = 0x1111_1111;
    assert_eq!(copied(None, &[]), [RIGHT; 8]);
    let stale = copied(Some(1), &[]);
    assert!(stale.contains(&RIGHT) && stale.contains(&0xa5a5_a5a5), "{stale:x?}");
    // Invalidated behind the copy, all is there.
    let forgets: Vec<_> = (0..8).map(|line| (0xe000_ef5c, 0x2002_0000 + 32 * line)).collect();
    assert_eq!(copied(Some(1), &forgets), [RIGHT; 8]);
    // To clean them is not enough.
    let cleans: Vec<_> = (0..8).map(|line| (0xe000_ef68, 0x2002_0000 + 32 * line)).collect();
    assert_eq!(copied(Some(1), &cleans), stale);
}
