//! Measures the core's pipeline and says it on the ST-LINK's virtual COM port, once after each reset.
#![no_std]
#![no_main]

use tilewright_board_support::{clock, marks};
use tilewright_stm32::start::{self, Started};
use tilewright_stm32::{BOARD, wired};

#[cortex_m_rt::entry]
fn main() -> ! {
    let Started { peripherals, mut core, missing } = start::start(wired::OSCILLATOR);
    marks::CycleCounter::start(&mut core);
    let mut port = wired::console(peripherals);
    start::stop_without(missing);
    clock::run(&mut port, BOARD.id, BOARD.places.plan.address)
}
