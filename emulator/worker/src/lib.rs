//! Runs firmware in Unicorn: one job a process, over standard input and output.
//!
//! [`run`] does a [`Job`](tilewright_protocol::Job) and gives what it finds to a closure. One
//! block hook counts instructions and modelled cycles from a cost that is worked out once for
//! each translated block; the devices live in virtual time and are looked at only when something
//! is due. Unicorn models neither exceptions nor devices of this kind of core: they are here and
//! in `tilewright-devices`.
#![allow(missing_docs, reason = "a program: nothing else uses its items")]

mod account;
mod ahead;
mod alignment;
mod bench;
mod block;
mod border;
mod card;
mod cause;
mod console;
mod dma;
mod elf;
mod engine;
mod exception;
mod external;
mod fault;
mod flash;
mod host;
mod last_words;
mod lines;
mod long_loads;
mod machine;
mod marks;
mod memory;
mod pages;
mod plan;
mod profile;
mod registers;
mod sampling;
mod sleep;
mod stack;
mod table;
mod written_through;

pub use bench::bench;
pub use bench::steps::bench as bench_steps;
pub use elf::{ElfError, Firmware};
pub use engine::{JobError, run, run_firmware, run_with_host};

/// Name and version of what emulates, for the handshake.
#[must_use]
pub fn engine() -> String {
    use unicorn_engine::{API_MAJOR, API_MINOR};
    let worker = env!("CARGO_PKG_VERSION");
    format!("unicorn {API_MAJOR}.{API_MINOR}, worker {worker}")
}
