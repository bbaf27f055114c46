//! Firmware for boards with an STM32F4 or STM32F7, but for what its programs begin with (`bin`): start-up, clocks, console,
//! DMA2, the card's controller (SDIO of the one, SDMMC1 of the other), SDRAM and serial flash behind FMC and QUADSPI.
//! The board's file says which of these there are, where memories lie and what is wired to pins.
//!
//! Transfers from memory to memory, which `embassy-stm32` lacks, are driven by registers. Functions between kernels run from
//! coupled memory where a board has any (`COUPLED` in `board_file.rs`): a kernel takes the code cache for itself.
#![no_std]

pub mod bring_up;
mod cache;
mod card;
mod card_lane;
#[cfg(feature = "stm32f4")]
#[path = "clocks/f4.rs"]
mod clocks;
#[cfg(feature = "stm32f7")]
#[path = "clocks/f7.rs"]
mod clocks;
mod crc;
mod dma;
mod engines;
mod memory;
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
mod uart;
mod watch;
pub mod wired;

/// What the board's file says; made by the build script.
#[allow(dead_code, reason = "families and programs use parts of it")]
mod board {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
}

use cortex_m::asm;
use embassy_stm32::pac::common::{Read, Reg};

pub use cache::Cache;
pub use oscillator::Oscillator;
pub use serve::{BOARD, Board};

/// Waits until a clock runs that was enabled in a register: accesses that follow at once may be lost (STM32F4
/// erratum "Delay after an RCC peripheral clock enabling"). The read waits for the store before it, DSB for both;
/// one of them alone has been seen to be too short.
#[inline]
pub fn clock_runs<T: Copy, A: Read>(enabling: Reg<T, A>) {
    let _ = enabling.read();
    asm::dsb();
}
