//! What the firmware of all boards shares. A board adds its clocks, its serial port and its
//! memories.
#![no_std]

pub mod clock;
pub mod console;
pub mod coupled;
mod faults;
pub mod inside;
pub mod marks;
pub mod sleep;
pub mod wait;

pub use faults::{say, stop};

use tilewright_runtime::console::LayerCycles;

/// Where cycles of layers are kept: among the statics, since kernels and interrupts need the stack. Taken once.
///
/// # Panics
/// If it is taken again.
#[must_use]
pub fn layer_cycles() -> &'static mut LayerCycles {
    match cortex_m::singleton!(: LayerCycles = LayerCycles::new()) {
        Some(layers) => layers,
        None => panic!("cycles of layers have one place, which is taken once"),
    }
}
