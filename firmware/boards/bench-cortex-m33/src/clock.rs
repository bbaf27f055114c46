//! Measures the pipeline of the emulated Cortex-M33 and says it on the console, once after each reset.
#![no_std]
#![no_main]

mod uart;

/// What the board's file says; made by the build script.
#[allow(dead_code, reason = "the plan and its memories are not used here")]
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use tilewright_board_support::{clock, marks};

#[cortex_m_rt::entry]
fn main() -> ! {
    let Some(mut core) = cortex_m::Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    marks::CycleCounter::start(&mut core);
    let mut port = uart::open();
    clock::run(&mut port, board::BOARD, board::PLAN_ADDRESS)
}
