//! What a board's core makes of external memory that the emulator would read and write like any other.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{assembled, run_on, short_job, stores};
use tilewright_protocol::Job;
use tilewright_report::{Fault, FaultKind};

const F746: &str = "stm32f746g-disco";
const F469: &str = "stm32f469i-disco";
const SDRAM: u32 = 0xc000_0000;

fn fault(board: &str, code: &[Vec<u16>]) -> Fault {
    run_on(board, assembled(&code.concat()), &short_job()).0.fault.unwrap()
}

#[test]
fn nine_words_of_sdram_in_one_load_are_wrong_on_the_stm32f469() {
    // movs r0, its upper byte; lsls r0,r0,#24; the load; b .
    let load = |board, upper: u32, load: [u16; 2]| {
        let code = vec![0x2000 | upper as u16, 0x0600, load[0], load[1], 0xe7fe];
        fault(board, &[code])
    };
    // ldm.w r0,{r1-r9}; ldm.w r0,{r1-r8}.
    const NINE: [u16; 2] = [0xe890, 0x03fe];
    const EIGHT: [u16; 2] = [0xe890, 0x01fe];
    let told = load(F469, SDRAM >> 24, NINE);
    assert!(told.message.contains("a load of 9 words from 0xc0000000"), "{told:?}");
    assert!(told.message.contains("wrong words from the ninth on"), "{told:?}");
    // SDRAM is not set up here, which is told of a load that may be made.
    for allowed in [load(F469, SDRAM >> 24, EIGHT), load(F746, SDRAM >> 24, NINE)] {
        assert_eq!(allowed.kind, FaultKind::UnmappedAccess, "{allowed:?}");
    }
    assert_eq!(load(F469, 0x20, NINE).kind, FaultKind::InstructionLimit);
}

/// MPU region 0: so many bytes from an address on, cached like this (C and B), then the MPU, then the data cache.
fn cached(address: u32, size: u32, bits: u32) -> Vec<u16> {
    stores(&[
        (0xe000_ed98, 0),
        (0xe000_ed9c, address),
        (0xe000_eda0, 3 << 24 | bits << 16 | size << 1 | 1),
        (0xe000_ed94, 5),
        (0xe000_ed14, 0x0005_0200),
    ])
}

#[test]
fn sram_that_is_written_is_not_cached_write_through() {
    // ldr r0,[r2] at 0xc0000000, which lets the registers be looked at; b .
    let look = vec![0x22c0, 0x0612, 0x6810, 0xe7fe];
    let of = |board, bits| fault(board, &[cached(0x2000_0000, 18, bits), look.clone()]);
    let told = of(F746, 2);
    assert!(
        told.message.contains("stores to SRAM1, which the MPU makes write-through"),
        "{told:?}"
    );
    assert!(told.message.contains("erratum 1259864"), "{told:?}");
    assert_eq!(of(F746, 3).kind, FaultKind::UnmappedAccess);
}

#[test]
fn no_word_lies_across_the_end_of_dtcm() {
    // movs r0,#0x20; lsls r0,r0,#8; adds r0, the upper half; lsls r0,r0,#16; adds r0, or subs; the access; b .
    let mut job = short_job();
    let access = |job: &Job, board, upper: u16, offset: i32, access: [u16; 2]| {
        let [add, subtract] = [0x3000, 0x3800].map(|opcode| opcode | offset.unsigned_abs() as u16);
        let moved = if offset < 0 { subtract } else { add };
        let address = [0x2020, 0x0200, 0x3000 | upper, 0x0400, moved];
        let code = [&address[..], &access, &[0xe7fe]].concat();
        run_on(board, assembled(&code), job).0.fault.unwrap()
    };
    // ldr.w r1,[r0]; str.w r1,[r0]; ldrh.w r1,[r0].
    let (load, store, half) = ([0xf8d0, 0x1000], [0xf8c0, 0x1000], [0xf8b0, 0x1000]);
    assert_eq!(access(&job, F746, 1, -3, load).kind, FaultKind::InstructionLimit, "nobody looks");
    job.hardware.torn_words = true;
    for (board, upper) in [(F746, 1), ("nucleo-f767zi", 2)] {
        for (offset, instruction, what) in [
            (-3, load, "read of 4 bytes"),
            (-1, store, "write of 4 bytes"),
            (-1, half, "read of 2 bytes"),
        ] {
            let told = access(&job, board, upper, offset, instruction);
            assert_eq!(told.kind, FaultKind::Firmware, "{board}, {offset}: {told:?}");
            assert!(told.message.contains(what), "{told:?}");
            assert!(told.message.contains("half of them lie in DTCM"), "{told:?}");
        }
        for (offset, instruction) in [(-4, load), (0, load), (-4, store), (-2, half), (1, store)] {
            let whole = access(&job, board, upper, offset, instruction);
            assert_eq!(whole.kind, FaultKind::InstructionLimit, "{board}, {offset}: {whole:?}");
        }
    }
    assert_eq!(access(&job, F469, 1, -3, load).kind, FaultKind::InstructionLimit);
}
