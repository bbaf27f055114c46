//! Thumb-2 decoding and pipeline models. Pure: no emulator, no clock.
//!
//! [`block_cost`] turns the bytes of a translated block into what the emulator charges each time
//! the block runs: the number of its instructions, which is exact, and its cycles, which are
//! modelled. [`issues`] tells it by instructions, and [`disassemble`] gives their text.

mod alignment;
mod block;
mod cache;
mod decode;
mod disassembly;
mod exception;
mod float;
mod instruction;
mod lines;
mod m33;
mod m4;
mod m7;
mod narrow;
mod wide;

pub use alignment::Alignment;
pub use block::{
    BlockCost, Branches, Flags, Issued, block_cost, branches, exception_cycles, issues,
};
pub use cache::{Access, DataCache};
pub use decode::{Decoder, decode, waits_for_stores};
pub use disassembly::disassemble;
pub use exception::{ExceptionReturn, Frame, FrameKind, above_frame, frame_address};
pub use instruction::{Class, Instruction, Registers};
pub use lines::Lines;
