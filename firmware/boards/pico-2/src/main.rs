//! Firmware for the Raspberry Pi Pico 2: runs the programs of the plan image that lies behind it in flash, for frames
//! that arrive on its serial port. The board has no external memory.
#![no_std]
#![no_main]

mod start;
mod uart;

/// What the board's file says; made by the build script.
#[allow(dead_code, reason = "there is nothing outside of the microcontroller")]
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use tilewright_board_support::inside::Board;
use tilewright_board_support::{marks, sleep};

const BOARD: Board = tilewright_board_support::board_inside!(board);

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut core = start::start();
    let mut marker = marks::CycleCounter::start(&mut core);
    let mut port = uart::open(core.SYST);
    // SAFETY: the build script takes both places from the board's file, which keeps them apart from the
    // firmware's own flash and SRAM; this is called once, here.
    #[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
    let memories = unsafe { BOARD.memories() };
    BOARD.run(&mut port, memories, &mut marker);
    sleep::for_ever()
}
