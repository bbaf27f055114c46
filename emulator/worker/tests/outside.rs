//! What a board's core makes of external memory that the emulator would read and write like any other.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{assembled, run_on, short_job, stores};
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
