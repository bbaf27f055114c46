//! What boards with STM32F4 and STM32F7 have in common: DMA2, the card's controller (SDIO of the one, SDMMC1
//! of the other), SDRAM and serial flash behind FMC and QUADSPI; of those with STM32F7 start-up, clocks and
//! console too. A board says where its memories lie and what is wired to its pins.
#![no_std]

pub mod bring_up;
pub mod cache;
mod card;
mod card_lane;
#[cfg(feature = "stm32f4")]
mod clocks_f4;
#[cfg(feature = "stm32f7")]
mod clocks_f7;
mod crc;
mod dma;
mod engines;
pub mod memory;
mod oscillator;
mod power;
mod protection;
mod ram_test;
mod rng;
mod sdmmc;
pub mod sdram;
mod sector_checksums;
pub mod serial_flash;
mod serve;
pub mod start;
#[cfg(feature = "stm32f7")]
pub mod uart;
mod watch;

use cortex_m::asm;
use embassy_stm32::pac::common::{Read, Reg};

pub use cache::Cache;
pub use oscillator::Oscillator;
pub use sdmmc::power_up as power_up_card;
pub use serve::Board;

/// Waits until a clock runs that was enabled in a register: accesses that follow at once may be lost (STM32F4
/// erratum "Delay after an RCC peripheral clock enabling"). The read waits for the store before it, DSB for both;
/// one of them alone has been seen to be too short.
#[inline]
pub fn clock_runs<T: Copy, A: Read>(enabling: Reg<T, A>) {
    let _ = enabling.read();
    asm::dsb();
}
