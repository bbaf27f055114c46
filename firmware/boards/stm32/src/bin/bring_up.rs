//! Tests of a new board: each part that plans rely on, a line each on the ST-LINK's virtual COM port, once after each
//! reset. `docs/bring-up.md` says what to expect.
#![no_std]
#![no_main]

use tilewright_stm32::start::{self, Started};
use tilewright_stm32::{bring_up, wired};

#[cortex_m_rt::entry]
fn main() -> ! {
    let Started { peripherals, mut core, missing } = start::start(wired::OSCILLATOR);
    let (_port, memories) = wired::set_up(peripherals, &mut core);
    bring_up::run(core, missing, memories)
}
