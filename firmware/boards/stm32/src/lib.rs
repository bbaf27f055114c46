//! Transfer engines of STM32F4 and STM32F7, which are the same: DMA2, and the card's controller (SDIO of
//! the one, SDMMC1 of the other). A board says where its memories lie and what is wired to its pins.
#![no_std]

mod cache;
mod card;
mod card_lane;
mod crc;
mod dma;
mod engines;
mod kept;
mod rng;
mod sdmmc;

pub use cache::Cache;
pub use engines::{Engines, Spaces};
pub use sdmmc::power_up as power_up_card;
