//! A Cortex-M core: Armv7E-M with its DSP and floating-point instructions, and of Armv8-M mainline what compiled
//! firmware uses.
//!
//! Code is decoded once, block by block, into operations of eight bytes, which one `match` executes. The host is told
//! of each block before it runs: it counts, charges time, and may let the core go on elsewhere. It also answers the
//! loads and stores that go to no plain memory.
//!
//! The manuals are DDI 0403E (Armv7-M) and DDI 0553B (Armv8-M).
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod access;
mod arithmetic;
mod blocks;
mod core;
mod decode;
mod execute;
mod float;
mod host;
mod memory;
mod operation;
mod run;
#[cfg(test)]
mod tests;
mod translate;

pub use crate::core::Core;
pub use blocks::{Architecture, Code, PAGE};
pub use host::{Entry, Host};
pub use memory::{Memory, Reach};
pub use operation::R;
pub use run::{Leaves, run};
pub use translate::{Asked, Charge, HISTORY, Meter, Modules, Shared, Translator, Turns, Visits};
