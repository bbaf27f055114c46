//! What of the microcontroller is switched on for everything that follows.

use embassy_stm32::pac::rcc::regs::{Ahb1lpenr, Ahb3lpenr};
use embassy_stm32::pac::{RCC, SYSCFG};

/// Clocks of AHB1 that go on while the core sleeps: flash (15), SRAM (16, 17) and DMA2 (22); on the STM32F7 the matrix
/// (13) and DTCM (20), on the STM32F4 SRAM3 (19) (RM0385, 5.3.16; RM0386, 6.3.17).
const ASLEEP: u32 = 1 << 15 | 1 << 16 | 1 << 17 | 1 << 22 | FAMILY;
const FAMILY: u32 = if cfg!(feature = "stm32f4") { 1 << 19 } else { 1 << 13 | 1 << 20 };
/// Those of AHB3: FMC, QUADSPI.
const OUTSIDE: u32 = 3;

/// SYSCFG_CMPCR: the cell that steadies pins at their highest speeds is on; it is ready (RM0385, 7.2.7).
const CELL: u32 = 1;
const READY: u32 = 1 << 8;
/// How often it is asked.
const ASKED: u32 = 10_000;

/// Switches on what transfers need while the core sleeps, and what pins need that switch fast; SYSCFG has its clock,
/// from `embassy_stm32::init`.
pub fn prepare() {
    RCC.ahb1lpenr().modify(|clocks| *clocks = Ahb1lpenr(clocks.0 | ASLEEP));
    RCC.ahb3lpenr().modify(|clocks| *clocks = Ahb3lpenr(clocks.0 | OUTSIDE));
    let cell = SYSCFG.cmpcr().as_ptr().cast::<u32>();
    // SAFETY: the register is this crate's alone.
    #[expect(unsafe_code, reason = "the register's type gives no way to write it")]
    unsafe {
        cell.write_volatile(CELL);
        // Pins work without it, only less cleanly.
        let _ = (0..ASKED).any(|_| cell.read_volatile() & READY != 0);
    }
}
