//! What the firmware of all boards shares. A board adds its clocks, its serial port and its
//! memories.
#![no_std]

pub mod clock;
pub mod console;
mod faults;
pub mod marks;
pub mod wait;
