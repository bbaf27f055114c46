//! Runs firmware in Unicorn: one job a process, over standard input and output.
//!
//! [`run`] does a [`Job`] and gives what it finds to a closure. Unicorn executes instructions; the board around its core
//! and what a job asks for are `tilewright-machine`, which Unicorn's hooks call.
#![allow(missing_docs, reason = "a program: nothing else uses its items")]

mod bench;
mod engine;
mod hooks;
mod host;
mod lock_step;
mod maps;
mod pages;

use std::sync::mpsc::Receiver;
use std::time::Instant;

use tilewright_board::Board;
use tilewright_machine::{Clock, Lent, Machine};
use tilewright_protocol::{Engine, Finish, Job, Response};

pub use bench::bench;
pub use bench::steps::bench as bench_steps;
pub use tilewright_machine::{ElfError, Firmware, JobError};

/// Name and version of what emulates, for the handshake.
#[must_use]
pub fn name(engine: Engine) -> String {
    use unicorn_engine::{API_MAJOR, API_MINOR};
    let (unicorn, worker) = (format!("unicorn {API_MAJOR}.{API_MINOR}"), env!("CARGO_PKG_VERSION"));
    match engine {
        Engine::Unicorn => format!("{unicorn}, worker {worker}"),
        Engine::Own => format!("own core, worker {worker}"),
        Engine::Both => format!("{unicorn} and own core in lock step, worker {worker}"),
    }
}

/// Does a job on an engine of choice; messages but the last go to `sink`.
///
/// # Errors
/// [`JobError`] if it cannot be started. What goes wrong later is in the result.
pub fn run_on(
    engine: Engine,
    job: &Job,
    sink: impl FnMut(Response) + 'static,
) -> Result<Finish, JobError> {
    match engine {
        Engine::Unicorn => run(job, sink),
        Engine::Own => tilewright_machine::run(job, clock(), Box::new(sink), Lent::default()),
        Engine::Both => lock_step::run(job, Box::new(sink)),
    }
}

/// Does a job on Unicorn; messages but the last go to `sink`.
///
/// # Errors
/// As [`run_on`].
pub fn run(job: &Job, sink: impl FnMut(Response) + 'static) -> Result<Finish, JobError> {
    let (board, firmware) = tilewright_machine::open(job)?;
    run_firmware(board, firmware, job, sink)
}

/// Does a job whose console a host has: its bytes come from there as they arrive, and the job's frames are not looked
/// at. It ends with a fault, or with the process.
///
/// # Errors
/// As [`run`].
pub fn run_with_host(
    job: &Job,
    host: Receiver<Vec<u8>>,
    sink: impl FnMut(Response) + 'static,
) -> Result<Finish, JobError> {
    let (board, firmware) = tilewright_machine::open(job)?;
    let hertz = board.core.clock.hertz.0;
    let mut machine = prepare(board, firmware, job, sink)?;
    machine.connect(Box::new(host::Host::new(host, hertz)));
    run_machine(machine)
}

/// Does a job with firmware that is loaded already; the job's ELF file is not looked at.
///
/// # Errors
/// As [`run`].
pub fn run_firmware(
    board: Board,
    firmware: Firmware,
    job: &Job,
    sink: impl FnMut(Response) + 'static,
) -> Result<Finish, JobError> {
    run_machine(prepare(board, firmware, job, sink)?)
}

fn prepare(
    board: Board,
    firmware: Firmware,
    job: &Job,
    sink: impl FnMut(Response) + 'static,
) -> Result<Machine, JobError> {
    tilewright_machine::prepare(board, firmware, job, clock(), Box::new(sink))
}

fn clock() -> Clock {
    let start = Instant::now();
    Box::new(move || start.elapsed())
}

fn run_machine(machine: Machine) -> Result<Finish, JobError> {
    let mut uc = engine::set_up(machine).map_err(engine::failed)?;
    tilewright_machine::run_on(&mut engine::Core(&mut uc))
}
