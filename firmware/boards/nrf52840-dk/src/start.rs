//! Start-up: the crystal that the serial port's baud rate comes from, and the cache in front of flash. The core runs at
//! 64 MHz always.

use cortex_m::Peripherals;
use nrf_pac::{CLOCK, NVMC};

use crate::board;

const _: () = assert!(board::CLOCK_HERTZ == 64_000_000);

/// Makes everything ready that does not depend on what is wired to the pins: once, before anything else.
///
/// # Panics
/// If it is called again.
pub fn start() -> Peripherals {
    // nRF52840 PS, NVMC, cache: off after reset.
    NVMC.icachecnf().write(|cache| cache.set_cacheen(true));
    // nRF52840 PS, CLOCK, 64 MHz crystal oscillator: until it runs, an RC oscillator of 1.5 % does.
    CLOCK.events_hfclkstarted().write_value(0);
    CLOCK.tasks_hfclkstart().write_value(1);
    while CLOCK.events_hfclkstarted().read() == 0 {}
    let Some(core) = Peripherals::take() else {
        panic!("the core's peripherals are taken once, here");
    };
    core
}
