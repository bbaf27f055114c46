//! A job from its start to its end, for any engine.

use thiserror::Error;
use tilewright_board::{Board, BoardError, CardError};
use tilewright_devices::NoDevices;
use tilewright_plan::Space;
use tilewright_protocol::{Finish, Job};
use tilewright_report::FaultKind;

use crate::board::card::Card;
use crate::core::registers::Register;
use crate::elf::{ElfError, Firmware};
use crate::engine::Engine;
use crate::fault::{self, last_words};
use crate::machine::{Clock, End, Machine, Sink};
use crate::watch::profile;
use crate::watch::stack::Stack;

/// Why a job cannot be started.
#[derive(Debug, Error)]
pub enum JobError {
    /// The board is unknown.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The board cannot be emulated.
    #[error(transparent)]
    Devices(#[from] NoDevices),
    /// The card's class is unknown.
    #[error(transparent)]
    Card(#[from] CardError),
    /// The file is no firmware.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// A part of the file lies where the board has no memory.
    #[error("the ELF file has {bytes} bytes for 0x{address:08x}, where the board has no memory")]
    Outside {
        /// Where.
        address: u32,
        /// How many.
        bytes: usize,
    },
    /// The image for external flash is larger than it, or there is none.
    #[error("the image for external flash has {bytes} bytes, more than the board can hold there")]
    ExternalFlash {
        /// How many.
        bytes: usize,
    },
    /// There is no vector table where the board starts.
    #[error("no vector table at 0x{0:08x}: is this firmware for another board?")]
    NoVectors(u32),
    /// The engine failed, which says why.
    #[error("the emulator cannot be set up: {0}")]
    Engine(String),
}

/// The board and the firmware that a job names.
///
/// # Errors
/// [`JobError`] if they are none.
pub fn open(job: &Job) -> Result<(Board, Firmware), JobError> {
    let board = tilewright_board::find(&job.board)?;
    Ok((board, Firmware::from_elf(&job.elf)?))
}

/// A board before reset, with firmware in its flash and a job to do, whose own ELF file is not looked at. Messages go to
/// `sink`.
///
/// # Errors
/// [`JobError`] if the board cannot do it.
pub fn prepare(
    board: Board,
    firmware: Firmware,
    job: &Job,
    clock: Clock,
    sink: Sink,
) -> Result<Machine, JobError> {
    let mut machine = Machine::new(board, firmware, job, clock, sink)?;
    if let Some(card) = &job.card {
        machine.card = Card::insert(card, &mut machine.bus)?;
    }
    load(&mut machine, &job.external_flash)?;
    Ok(machine)
}

fn load(machine: &mut Machine, external_flash: &[u8]) -> Result<(), JobError> {
    let Machine { firmware, memories, .. } = machine;
    for (address, bytes) in &firmware.segments {
        if !memories.write(*address, bytes) {
            return Err(JobError::Outside { address: *address, bytes: bytes.len() });
        }
    }
    let flash = machine.board.external(Space::ExternalFlash);
    let address = flash.and_then(|memory| memory.address).unwrap_or(0);
    let bytes = external_flash.len();
    if bytes > 0 && !machine.memories.write(address, external_flash) {
        return Err(JobError::ExternalFlash { bytes });
    }
    Ok(())
}

/// Sets stack pointer and mode as reset does; gives the first instruction's address.
///
/// # Errors
/// [`JobError::NoVectors`].
pub fn reset(engine: &mut impl Engine) -> Result<u32, JobError> {
    let machine = engine.machine_mut();
    let vectors = machine.bus.vectors();
    let mut bytes = [0; 8];
    let is_there = machine.memories.read(vectors, &mut bytes);
    let word = |at: usize| bytes[at..at + 4].iter().rev().fold(0, |w, b| w << 8 | u32::from(*b));
    let (stack, entry) = (word(0), word(4));
    if !is_there || entry & 1 == 0 || stack == 0 {
        return Err(JobError::NoVectors(vectors));
    }
    if let Some(firmware) = &machine.board.firmware {
        let (lowest, bytes) = (firmware.sram_address, firmware.sram_bytes.0);
        let holds = u64::from(stack.saturating_sub(lowest)) <= bytes;
        let painted = holds.then(|| Stack::paint(&mut machine.memories, lowest, stack));
        machine.stack = painted.flatten();
    }
    engine.write(Register::Msp, stack);
    engine.write(Register::Lr, u32::MAX);
    Ok(entry)
}

/// Judges how a run ended, and says what is left to say.
pub fn finish(engine: &mut impl Engine, end: End) -> Finish {
    let machine = engine.machine_mut();
    let now = machine.account.counts();
    let (boot, invoke) = machine.marks.totals(now);
    let Machine { stack, memories, .. } = machine;
    let stack = stack.as_mut().map(|stack| stack.used(memories));
    let deeper = stack.filter(|stack| !stack.fits());
    let fault = match end {
        End::Done => deeper
            .map(|stack| fault::report(engine, FaultKind::StackOverflow, &fault::too_deep(&stack))),
        End::Fault(kind, message) => {
            let mut fault = fault::report(engine, kind, &message);
            fault.message.extend(last_words::hear(engine, kind));
            Some(fault)
        }
    };
    let machine = engine.machine_mut();
    machine.flush_console();
    profile::tell(machine);
    Finish {
        fault,
        boot,
        load: machine.marks.load,
        invoke,
        stack,
        invokes: std::mem::take(&mut machine.marks.invokes.ended),
        passed_steps: machine.sampling.as_ref().map_or(0, |sampling| sampling.passed),
        unknown_registers: machine.bus.unknown(),
        wall_ns: u64::try_from(machine.passed().as_nanos()).unwrap_or(u64::MAX),
    }
}

/// Does the job that an engine's machine was prepared for, from reset on.
///
/// # Errors
/// [`JobError::NoVectors`]. What goes wrong later is in the result.
pub fn run_on(engine: &mut impl Engine) -> Result<Finish, JobError> {
    let start = reset(engine)?;
    let end = engine.execute(start);
    Ok(finish(engine, end))
}
