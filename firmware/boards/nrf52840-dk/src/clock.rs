//! Measures the core's pipeline on the nRF52840 DK and says it on the J-Link's virtual COM port, once after
//! each reset.
#![no_std]
#![no_main]

mod start;
mod uart;

/// What the board's file says; made by the build script.
#[allow(dead_code, reason = "the plan and its memories are not used here")]
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use tilewright_board_support::{clock, marks};

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut core = start::start();
    marks::CycleCounter::start(&mut core);
    let mut port = uart::open();
    clock::run(&mut port, board::BOARD, board::PLAN_ADDRESS)
}
