//! Boards: memories, clocks and what is known about them.
//!
//! The files in `boards/` are the only place where a board's facts stand, each with its source; those of its chip stand
//! in `chips/`. The build script reads them and embeds them encoded. Planner, emulator and firmware take parameters
//! from here and nothing else.

mod board;
mod card;
mod desk;
mod engine;
#[cfg(test)]
mod file;
mod list;
mod own;
mod power;
mod timing;
mod wiring;

pub use board::{Board, Clock, Core, CoreKind, Firmware, Memory, MemoryKind, SMALL, Support};
pub use card::{Card, Curve, Endurance};
pub use desk::{Desk, DriveTakes};
pub use engine::{Between, DriverOverhead, Engine, Slot};
pub use list::{BoardError, CardError, all, cards, find, find_card};
pub use own::{OWN, OwnBoard, OwnBoardError};
pub use power::{Draw, Power};
pub use timing::{Access, DataCache, FlashLines, FlashWaits, Timing, Victim};
pub use wiring::{Oscillator, Wires};
