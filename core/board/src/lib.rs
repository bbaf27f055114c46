//! Boards: memories, clocks and what is known about them.
//!
//! The files in `boards/` are the only place where a board's facts stand, each with its source;
//! they are embedded here as text. Planner, emulator and firmware take parameters from here and
//! nothing else.

mod board;

pub use board::{
    Board, BoardError, Clock, Core, CoreKind, Firmware, Memory, MemoryKind, Support, all, find,
};
