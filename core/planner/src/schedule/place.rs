//! Where residences lie in SRAM: layouts, each from work and numbers to offsets.

mod gaps;
mod pools;
mod slots;

pub use gaps::{gaps, held};
pub use pools::{Pools, pools};
pub use slots::{Phase, Slots, slots};
