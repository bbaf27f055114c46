//! Firmware for the STM32F469I-DISCO: runs the programs of the plan image that lies behind it in
//! flash, for frames that arrive on the ST-LINK's virtual COM port.
#![no_std]
#![no_main]

mod external;
mod wired;

/// What the board's file says; made by the build script.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use tilewright_board_support::{marks, sleep};
use tilewright_stm32::start::{self, Started};
use tilewright_stm32::{Board, Cache};

const BOARD: Board = tilewright_stm32::board!(board);

#[cortex_m_rt::entry]
fn main() -> ! {
    let Started { peripherals, mut core, missing } = start::start(wired::OSCILLATOR);
    let mut marker = marks::CycleCounter::start(&mut core);
    let Ok((mut port, memories)) = external::set_up(peripherals, &mut core) else {
        panic!("the core's clock cannot give the console's baud rate");
    };
    start::stop_without(missing);
    let cache = Cache::none();
    BOARD.run(&mut port, memories, (cache, core.SYST), &mut marker);
    sleep::for_ever()
}
