//! Register-level devices in virtual time. Pure: bytes in, bytes out, no host clock.
//!
//! A [`Bus`] holds the devices of a board's microcontroller and dispatches accesses by address.
//! Time is counted in cycles of the core ([`Time`]); a device does nothing between accesses but
//! says when it next will ([`Bus::next_event`]). Manuals: RM0385 (STM32F75xxx and STM32F74xxx),
//! PM0253 (STM32F7 programming manual), DDI 0403E (Armv7-M).

mod access;
mod bus;
mod clocks;
mod core_registers;
mod dwt;
mod exti;
mod fmc;
mod gpio;
mod maintenance;
mod mpu;
mod nvic;
mod plain;
mod quadspi;
mod scb;
mod stm32f746;
mod systick;
mod timer;
mod usart;

pub use access::{AccessError, Size, Time};
pub use bus::{Bus, NoDevices};
pub use maintenance::{Line, Maintenance, Operation};
pub use mpu::{Attributes, Caching};
pub use nvic::{Masks, Nvic};
