//! Boards: memories, clocks and what is known about them.
//!
//! The files in `boards/` are the only place where a board's facts stand, each with its source; the
//! build script reads them and embeds them encoded. Planner, emulator and firmware take parameters
//! from here and nothing else.

mod board;
#[cfg(test)]
mod file;
mod list;

pub use board::{Board, Clock, Core, CoreKind, Firmware, Memory, MemoryKind, Support};
pub use list::{BoardError, all, find};
