//! Firmware for a Cortex-M33 that exists in the emulator alone: runs the programs of the plan image that
//! lies behind it in flash, so that kernels can be measured.
#![no_std]
#![no_main]

mod uart;

/// What the board's file says; made by the build script.
#[allow(dead_code, reason = "there is nothing outside of the core")]
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use tilewright_board_support::inside::Board;
use tilewright_board_support::{marks, sleep};

const BOARD: Board = tilewright_board_support::board_inside!(board);

#[cortex_m_rt::entry]
fn main() -> ! {
    let Some(mut core) = cortex_m::Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    let mut marker = marks::CycleCounter::start(&mut core);
    let mut port = uart::open();
    // SAFETY: the build script takes both places from the board's file, which keeps them apart from the
    // firmware's own flash and SRAM; this is called once, here.
    #[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
    let memories = unsafe { BOARD.memories() };
    BOARD.run(&mut port, memories, &mut marker);
    // What could not go on has been said.
    sleep::for_ever()
}
