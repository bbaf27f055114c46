//! Tests of a new STM32F746G-DISCO: each part that plans rely on, a line each on the ST-LINK's virtual COM port,
//! once after each reset. `docs/bring-up.md` says what to expect.
#![no_std]
#![no_main]

mod external;
mod wired;

/// What the board's file says; made by the build script.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

/// What these tests name beside it; likewise.
mod named {
    include!(concat!(env!("OUT_DIR"), "/bring_up.rs"));
}

use tilewright_stm32::Board;
use tilewright_stm32::bring_up::{self, Bench};
use tilewright_stm32::start::{self, Started};

const BOARD: Board = tilewright_stm32::board!(board);

#[cortex_m_rt::entry]
fn main() -> ! {
    let Started { peripherals, mut core, missing } = start::start(wired::OSCILLATOR);
    let Ok((_port, memories)) = external::set_up(peripherals, &mut core) else {
        panic!("the core's clock cannot give the console's baud rate");
    };
    bring_up::run(Bench {
        board: &BOARD,
        core,
        missing,
        memories,
        reached: named::REACHED,
        uncached: board::UNCACHED,
        border: named::BORDER,
    })
}
