//! A board around a core, and the jobs that firmware does on it.
//!
//! A core is any [`Engine`]: a program that executes Thumb instructions. All else is here. Before a block runs,
//! [`block::entered`] counts its instructions and the cycles that a model gives it; that is virtual time. Devices live
//! in it and are looked at only when something is due. Exceptions, sleep, and accesses to anything but plain memory are
//! the same for each engine. [`prepare`] sets a job up and [`finish`] judges how it ended.
//!
//! Nothing here reads a clock, a file or the network, so that it runs in a browser as well: times come from a
//! [`Clock`], and bytes that arrive meanwhile from a [`Host`].

mod board;
mod core;
mod elf;
mod engine;
mod fault;
mod job;
mod machine;
mod own;
mod rules;
mod watch;

pub use crate::board::card::CardImage;
pub use crate::board::host::{Host, Waited};
pub use crate::board::{access, constants, devices, external, memories};
pub use crate::core::registers::Register;
pub use crate::core::{block, exception, sleep};
pub use crate::elf::{ElfError, Firmware};
pub use crate::engine::{Engine, Trap};
pub use crate::fault::trapped;
pub use crate::job::{JobError, finish, open, prepare, reset, run_on};
pub use crate::machine::{Clock, End, Machine, Sink};
pub use crate::own::{Lent, Own, run};
pub use crate::rules::{border, long_loads};
/// What runs code that the core of our own translates.
pub mod translate {
    pub use tilewright_cpu::{Asked, Modules, Shared};
}
pub use crate::watch::observer::{Observer, Seen, show};
