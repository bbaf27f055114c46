//! Register-level devices in virtual time. Pure: bytes in, bytes out, no host clock.
//!
//! A [`Bus`] holds the devices of a board's microcontroller and dispatches accesses by address.
//! Time is counted in cycles of the core ([`Time`]); a device does nothing between accesses but
//! says when it next will ([`Bus::next_event`]). Manuals: RM0385 (STM32F75xxx and STM32F74xxx),
//! RM0410 (STM32F76xxx and STM32F77xxx), RM0386 (STM32F469xx and STM32F479xx), RM0432 (STM32L4+), PM0253 and PM0214
//! (programming manuals of STM32F7 and STM32F4), DDI 0403E (Armv7-M).

mod access;
mod bus;
mod card;
mod chip;
mod clocks;
mod clocks_l4;
mod control;
mod core_registers;
mod crc;
mod dma;
mod dwt;
mod exti;
mod fmc;
mod gpio;
mod maintenance;
mod mpu;
mod nrf_timer;
mod nrf_uart;
mod nvic;
mod pl011;
mod plain;
mod quadspi;
mod resets;
mod rng;
mod scb;
mod sdmmc;
mod serial;
mod systick;
mod timer;
mod usart;
mod wiring;

pub use access::{AccessError, Size, Time};
pub use bus::{Bus, NoDevices};
pub use card::{CardFault, CardTrouble, SdCard};
pub use clocks::ClockError;
pub use dma::{DmaEvent, Move, Paced};
pub use maintenance::{Line, Maintenance, Operation};
pub use mpu::{Attributes, Caching};
pub use nvic::{Masks, Nvic};
pub use quadspi::SerialFlash;
pub use sdmmc::{CardBytes, CardEvent, CardMove, CardQuirks};
pub use usart::Noise;
