//! What boards with STM32F4 and STM32F7 have in common: DMA2, the card's controller (SDIO of the one, SDMMC1
//! of the other), SDRAM and serial flash behind FMC and QUADSPI. A board says where its memories lie and what
//! is wired to its pins.
#![no_std]

mod cache;
mod card;
mod card_lane;
mod crc;
mod dma;
mod engines;
pub mod memory;
mod protection;
mod rng;
mod sdmmc;
pub mod sdram;
mod sector_checksums;
pub mod serial_flash;
mod serve;

pub use cache::Cache;
pub use sdmmc::power_up as power_up_card;
pub use serve::Board;
