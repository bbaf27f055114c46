//! Firmware: runs the programs of the plan image that lies behind it in flash, for frames that arrive on the ST-LINK's
//! virtual COM port.
#![no_std]
#![no_main]

use tilewright_board_support::{marks, sleep};
use tilewright_stm32::start::{self, Started};
use tilewright_stm32::{BOARD, Cache, wired};

#[cortex_m_rt::entry]
fn main() -> ! {
    let Started { peripherals, mut core, missing } = start::start(wired::OSCILLATOR);
    let mut marker = marks::CycleCounter::start(&mut core);
    let (mut port, memories) = wired::set_up(peripherals, &mut core);
    start::stop_without(missing);
    let cache = Cache::new(core.CBP);
    BOARD.run(&mut port, memories, (cache, core.SYST), &mut marker);
    sleep::for_ever()
}
