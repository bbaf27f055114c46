//! Firmware for the NUCLEO-F767ZI: runs the programs of the plan image that lies behind it in flash, for
//! frames that arrive on the ST-LINK's virtual COM port. The board has no external memory; a card is on wires.
#![no_std]
#![no_main]

mod wired;

/// What the board's file says; made by the build script.
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use tilewright_board_support::{marks, sleep};
use tilewright_stm32::start::{self, Started};
use tilewright_stm32::{Board, Cache, power_up_card};

const BOARD: Board = tilewright_stm32::board!(board);

#[cortex_m_rt::entry]
fn main() -> ! {
    let Started { peripherals: p, mut core, missing } = start::start(wired::OSCILLATOR);
    let mut marker = marks::CycleCounter::start(&mut core);
    let Ok(mut port) = wired::console(p.USART3, p.PD9, p.PD8) else {
        panic!("the core's clock cannot give the console's baud rate");
    };
    start::stop_without(missing);
    // Clock, command, data (UM1974, connector CN8).
    power_up_card([
        p.PC12.into(),
        p.PD2.into(),
        p.PC8.into(),
        p.PC9.into(),
        p.PC10.into(),
        p.PC11.into(),
    ]);
    // SAFETY: the build script takes both places from the board's file, which keeps them apart from the
    // firmware's own flash and SRAM; this is called once, here.
    #[expect(unsafe_code, reason = "slices of memory that the linker knows nothing of")]
    let memories = unsafe { BOARD.places.take(None, |_| {}) };
    let cache = Cache::new(core.CBP, board::UNCACHED);
    BOARD.run(&mut port, memories, (cache, core.SYST), &mut marker);
    sleep::for_ever()
}
