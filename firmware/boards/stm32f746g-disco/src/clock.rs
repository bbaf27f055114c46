//! Measures the core's pipeline on the STM32F746G-DISCO and says it on the ST-LINK's virtual COM port,
//! once after each reset.
#![no_std]
#![no_main]

mod wired;

/// What the board's file says; made by the build script.
#[allow(dead_code, reason = "the plan and its memories are not used here")]
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use tilewright_board_support::{clock, marks};
use tilewright_stm32::start::{self, Started};

#[cortex_m_rt::entry]
fn main() -> ! {
    let Started { peripherals: p, mut core, missing } = start::start(wired::OSCILLATOR);
    marks::CycleCounter::start(&mut core);
    let Ok(mut port) = wired::console(p.USART1, p.PB7, p.PA9) else {
        panic!("the core's clock cannot give the console's baud rate");
    };
    start::stop_without(missing);
    clock::run(&mut port, board::BOARD, board::PLAN_ADDRESS)
}
