//! Measures the core's pipeline on the Raspberry Pi Pico 2 and says it on its serial port, once after
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
    let mut port = uart::open(core.SYST);
    clock::run(&mut port, board::BOARD, board::PLAN_ADDRESS)
}
