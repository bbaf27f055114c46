//! Sets up Unicorn for a job and runs it.

use std::cmp::Reverse;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use thiserror::Error;
use tilewright_board::{Board, BoardError, CardError, CoreKind, MemoryKind};
use tilewright_devices::{AccessError, NoDevices, Size};
use tilewright_plan::Space;
use tilewright_protocol::{Finish, Job, Response};
use tilewright_report::FaultKind;
use unicorn_engine::{
    Arch, ArmCpuModel, ControlType, Mode, Prot, RegisterARM, Unicorn, uc_ctl, uc_error,
};

use crate::block;
use crate::border;
use crate::card::{self, Card};
use crate::dma;
use crate::elf::{ElfError, Firmware};
use crate::exception;
use crate::external;
use crate::fault::{self, status};
use crate::flash::{self, Constants};
use crate::host::Host;
use crate::last_words;
use crate::long_loads;
use crate::machine::{End, Machine};
use crate::pages;
use crate::profile;
use crate::registers::{self, Engine};
use crate::sleep;
use crate::stack::Stack;

/// An address that no block starts at, for Unicorn's "run until", which it looks up as if code could be there.
const NEVER: u32 = 0x9fff_fff0;
/// Bytes for translated code; when they are full, translation starts anew.
const CODE_BUFFER: u32 = 64 << 20;
/// Peripherals (DDI 0403E, B3.1), the factory bytes of STM32F7 and STM32F4, the registers of
/// external memories, and the core's own.
const DEVICE_REGIONS: [(u32, u32); 5] = [
    (0x1ff0_f000, 0x1000),
    (0x1fff_7000, 0x1000),
    (0x4000_0000, 0x2000_0000),
    (0xa000_0000, 0x2000),
    (0xe000_0000, 0x0010_0000),
];

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
    /// Unicorn failed.
    #[error("the emulator cannot be set up: {0:?}")]
    Engine(uc_error),
}

impl From<uc_error> for JobError {
    fn from(error: uc_error) -> Self {
        Self::Engine(error)
    }
}

/// Does a job; messages but the last go to `sink`.
///
/// # Errors
/// [`JobError`] if it cannot be started. What goes wrong later is in the result.
pub fn run(job: &Job, sink: impl FnMut(Response) + 'static) -> Result<Finish, JobError> {
    let board = tilewright_board::find(&job.board)?;
    let firmware = Firmware::from_elf(&job.elf)?;
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
    let board = tilewright_board::find(&job.board)?;
    let firmware = Firmware::from_elf(&job.elf)?;
    let host = Host::new(host, board.core.clock.hertz.0);
    run_either(board, firmware, job, Some(host), sink)
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
    run_either(board, firmware, job, None, sink)
}

fn run_either(
    board: Board,
    firmware: Firmware,
    job: &Job,
    host: Option<Host>,
    sink: impl FnMut(Response) + 'static,
) -> Result<Finish, JobError> {
    let start = Instant::now();
    let mut machine = Machine::new(board, firmware, job, Box::new(sink))?;
    machine.host = host;
    if let Some(card) = &job.card {
        machine.card = Card::insert(card, &mut machine.bus)?;
    }
    let mut uc = set_up(machine, &job.external_flash)?;
    let reset = reset(&mut uc)?;
    let end = execute(&mut uc, reset);
    let machine = uc.get_data_mut();
    let now = machine.account.counts();
    let (boot, invoke) = machine.marks.totals(now);
    let Machine { stack, memories, .. } = machine;
    let stack = stack.as_mut().map(|stack| stack.used(memories));
    let deeper = stack.filter(|stack| !stack.fits());
    let fault = match end {
        End::Done => deeper
            .map(|stack| fault::report(&uc, FaultKind::StackOverflow, &fault::too_deep(&stack))),
        End::Fault(kind, message) => {
            let mut fault = fault::report(&uc, kind, &message);
            fault.message.extend(last_words::hear(&mut uc, kind));
            Some(fault)
        }
    };
    let machine = uc.get_data_mut();
    machine.flush_console();
    profile::tell(machine);
    Ok(Finish {
        fault,
        boot,
        load: machine.marks.load,
        invoke,
        stack,
        invokes: std::mem::take(&mut machine.marks.invokes.ended),
        passed_steps: machine.sampling.as_ref().map_or(0, |sampling| sampling.passed),
        unknown_registers: machine.bus.unknown(),
        wall_ns: u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX),
    })
}

/// Unicorn with memories, devices and hooks.
pub fn set_up<'a>(machine: Machine, external_flash: &[u8]) -> Result<Engine<'a>, JobError> {
    // Mode::MCLASS would force another core (and hooks must be there before code is translated).
    let mut uc = Engine::new_with_data(Arch::ARM, Mode::THUMB, machine)?;
    uc.ctl_set_cpu_model(cpu_model(uc.get_data().core) as i32)?;
    limit_code_buffer(&uc)?;
    map_memories(&mut uc)?;
    load(&mut uc, external_flash)?;
    for (start, bytes) in DEVICE_REGIONS {
        map_devices(&mut uc, start, bytes)?;
    }
    uc.add_block_hook(1, 0, block::entered)?;
    uc.add_intr_hook(exception::raised)?;
    uc.add_insn_invalid_hook(sleep::invalid_instruction)?;
    pages::set_up(&mut uc)?;
    long_loads::set_up(&mut uc)?;
    border::set_up(&mut uc)?;
    Ok(uc)
}

/// Unicorn's model of a core.
pub const fn cpu_model(core: CoreKind) -> ArmCpuModel {
    match core {
        CoreKind::CortexM4 => ArmCpuModel::CORTEX_M4,
        CoreKind::CortexM7 => ArmCpuModel::CORTEX_M7,
        CoreKind::CortexM33 => ArmCpuModel::CORTEX_M33,
    }
}

/// Bounds the memory for translated code: Unicorn would reserve a gigabyte of address space.
#[allow(unsafe_code)]
pub fn limit_code_buffer<D>(uc: &Unicorn<'_, D>) -> Result<(), uc_error> {
    const WRITE_ONE_ARGUMENT: u32 = 1 << 30 | 1 << 26;
    let control = ControlType(ControlType::TCG_BUFFER_SIZE.0 | WRITE_ONE_ARGUMENT);
    // SAFETY: the handle is that of a live engine; this control takes one 32-bit argument, which
    // is read before the first translation sets the buffer up (uc_ctl, UC_CTL_TCG_BUFFER_SIZE).
    unsafe { uc_ctl(uc.get_handle(), control, CODE_BUFFER) }.into()
}

/// Maps internal memories, those that touch as one, and external ones, whose accesses are seen.
fn map_memories(uc: &mut Engine<'_>) -> Result<(), JobError> {
    let mut ranges: Vec<(u32, u64, Prot)> = uc
        .get_data()
        .board
        .memory
        .iter()
        .filter_map(|memory| {
            let allowed = match memory.kind {
                MemoryKind::Flash => Prot::READ | Prot::EXEC,
                MemoryKind::Dtcm | MemoryKind::Itcm | MemoryKind::Sram => Prot::ALL,
                _ => return None,
            };
            Some((memory.address?, memory.bytes.0, allowed))
        })
        .collect();
    let constants = Constants::new(&uc.get_data().board);
    if let Some((constants, _)) = &constants {
        // What lies behind the firmware is no code: reads of it are seen.
        let start = constants.address;
        let before = |range: &&mut (u32, u64, Prot)| {
            range.0 <= start && u64::from(start - range.0) < range.1
        };
        if let Some(range) = ranges.iter_mut().find(before) {
            range.1 = u64::from(start - range.0);
        }
    }
    ranges.sort_by_key(|(address, _, _)| *address);
    ranges.dedup_by(|next, range| {
        let touches = u64::from(range.0) + range.1 == u64::from(next.0) && range.2 == next.2;
        if touches {
            range.1 += next.1;
        }
        touches
    });
    // Unicorn counts bytes on from the memory that it holds for the last, which is a smaller one than those
    // mapped behind it: they would share its notes of pages that hold code, and stores to the one would
    // undo what is translated of the other.
    ranges.sort_by_key(|(_, bytes, _)| Reverse(*bytes));
    for (address, bytes, allowed) in ranges {
        map_internal(uc, address, bytes, allowed)?;
    }
    if let Some((constants, bytes)) = constants {
        let address = constants.address;
        let machine = uc.get_data_mut();
        machine.memories.add(address, bytes as usize);
        machine.constants = Some(constants);
        let read = |uc: &mut Engine<'_>, offset: u64, size: usize| {
            flash::read(uc.get_data_mut(), offset, size)
        };
        let write = |uc: &mut Engine<'_>, offset: u64, _: usize, _: u64| {
            flash::write(uc.get_data_mut(), offset);
        };
        uc.mmio_map(u64::from(address), bytes, Some(read), Some(write))?;
    }
    for index in 0..uc.get_data().external.len() {
        let memory = &uc.get_data().external[index].memory;
        let (Some(address), bytes) = (memory.address, memory.bytes.0) else { continue };
        uc.get_data_mut().memories.add(address, bytes as usize);
        let read = move |uc: &mut Engine<'_>, offset: u64, size: usize| {
            external::read(uc.get_data_mut(), index, offset, size)
        };
        let write = move |uc: &mut Engine<'_>, offset: u64, size: usize, value: u64| {
            external::write(uc.get_data_mut(), index, offset, size, value);
        };
        uc.mmio_map(u64::from(address), bytes, Some(read), Some(write))?;
    }
    Ok(())
}

#[allow(unsafe_code)]
fn map_internal(
    uc: &mut Engine<'_>,
    address: u32,
    bytes: u64,
    allowed: Prot,
) -> Result<(), JobError> {
    let start = uc.get_data_mut().memories.add(address, bytes as usize);
    // SAFETY: as many bytes lie there until the machine is dropped, which is after the engine that
    // holds it is closed; nothing but this mapping and `Memories` reaches them.
    unsafe { uc.mem_map_ptr(u64::from(address), bytes, allowed, start.cast())? };
    Ok(())
}

fn load(uc: &mut Engine<'_>, external_flash: &[u8]) -> Result<(), JobError> {
    let machine = uc.get_data_mut();
    for (address, bytes) in machine.firmware.segments.clone() {
        if !machine.memories.write(address, &bytes) {
            return Err(JobError::Outside { address, bytes: bytes.len() });
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

fn map_devices(uc: &mut Engine<'_>, start: u32, bytes: u32) -> Result<(), JobError> {
    let read = move |uc: &mut Engine<'_>, offset: u64, size: usize| {
        let address = start.wrapping_add(offset as u32);
        let machine = uc.get_data_mut();
        machine.deadline = 0;
        let Some(size) = Size::from_bytes(size) else { return 0 };
        if let Some(until) = machine.bus.polls_until(address)
            && until > machine.now()
        {
            machine.sleep_until(until);
        }
        let exception = machine.handlers.last().map_or(0, |(exception, _)| *exception);
        match machine.bus.read(address, size, machine.now(), exception) {
            Ok(value) => u64::from(value),
            Err(error) => {
                refused(machine, "read", status::PRECISE, &error);
                0
            }
        }
    };
    let write = move |uc: &mut Engine<'_>, offset: u64, size: usize, value: u64| {
        let address = start.wrapping_add(offset as u32);
        let machine = uc.get_data_mut();
        // There are millions of these, which no device but the cache sees.
        if let Some(maintenance) = machine.bus.maintenance(address, value as u32) {
            return external::maintain(machine, maintenance);
        }
        let Some(size) = Size::from_bytes(size) else { return };
        // So are these.
        if let Some(waits) = machine.bus.sum(address, size, value as u32, machine.now()) {
            machine.account.cycles += waits;
            return;
        }
        machine.deadline = 0;
        machine.registers_changed = true;
        if let Err(error) = machine.bus.write(address, size, value as u32, machine.now()) {
            refused(machine, "write", status::IMPRECISE, &error);
        }
        if machine.bus.enables_clocks(address) && machine.block_waits_for_stores() {
            machine.bus.settle();
        }
        dma::serve(machine);
        card::serve(machine);
    };
    uc.mmio_map(u64::from(start), u64::from(bytes), Some(read), Some(write))?;
    Ok(())
}

/// A device does not answer an access: the core faults, but where a board's would go on with a write that was
/// lost.
fn refused(machine: &mut Machine, what: &str, status: u32, error: &AccessError) {
    let message = format!("{what}: {error}");
    match error {
        AccessError::Reserved(_) | AccessError::Unaligned(_) => {
            machine.core_fault(FaultKind::UnmappedAccess, status, message);
        }
        _ => machine.silent_fault(FaultKind::UnmappedAccess, message),
    }
}

/// Sets stack pointer and mode as reset does; gives the first instruction's address.
pub fn reset(uc: &mut Engine<'_>) -> Result<u32, JobError> {
    let vectors = uc.get_data().bus.vectors();
    let mut bytes = [0; 8];
    uc.mem_read(u64::from(vectors), &mut bytes)?;
    let word = |at: usize| bytes[at..at + 4].iter().rev().fold(0, |w, b| w << 8 | u32::from(*b));
    let (stack, entry) = (word(0), word(4));
    if entry & 1 == 0 || stack == 0 {
        return Err(JobError::NoVectors(vectors));
    }
    let machine = uc.get_data_mut();
    if let Some(firmware) = &machine.board.firmware {
        let (lowest, bytes) = (firmware.sram_address, firmware.sram_bytes.0);
        let holds = u64::from(stack.saturating_sub(lowest)) <= bytes;
        let painted = holds.then(|| Stack::paint(&mut machine.memories, lowest, stack));
        machine.stack = painted.flatten();
    }
    registers::write(uc, RegisterARM::MSP, stack);
    registers::write(uc, RegisterARM::LR, u32::MAX);
    Ok(entry)
}

/// Runs from an address until something ends it.
pub fn execute(uc: &mut Engine<'_>, start: u32) -> End {
    execute_until(uc, start, NEVER).unwrap_or_else(|| {
        let message = format!("the emulator stopped at 0x{NEVER:08x}");
        End::Fault(FaultKind::Worker, message)
    })
}

/// Runs from an address until something ends it, or a block at another begins; nothing then.
pub fn execute_until(uc: &mut Engine<'_>, start: u32, until: u32) -> Option<End> {
    let mut pc = start;
    loop {
        let result = uc.emu_start(u64::from(pc | 1), u64::from(until), 0, 0);
        if let Some(end) = uc.get_data_mut().end.take() {
            return Some(end);
        }
        match result {
            Ok(()) if block::pc(uc) == until => return None,
            Ok(()) if sleep::stopped(uc) => {}
            Ok(()) => {
                let message = format!("the emulator stopped at 0x{:08x}", block::pc(uc));
                return Some(End::Fault(FaultKind::Worker, message));
            }
            Err(uc_error::EXCEPTION) if pages::never_runs(block::pc(uc)) => {
                exception::fetched_nowhere(uc);
            }
            Err(error) => {
                let (kind, message) = fault::classify(uc, error);
                let machine = uc.get_data_mut();
                machine.fault_status = fault::status_of(machine.bad_access, error);
                return Some(End::Fault(kind, message));
            }
        }
        if let Some(end) = uc.get_data_mut().end.take() {
            return Some(end);
        }
        pc = block::pc(uc);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use tilewright_protocol::{Hardware, Limits, Mode};

    use super::*;

    /// Blocks that were translated in a run of so many instructions of a loop that stores to an address.
    fn translated(address: u32, instructions: u64) -> u32 {
        const FLASH: u32 = 0x0800_0000;
        // Vectors; movw r0, movt r0: the address; str r1,[r0]; b to the store.
        let [low, high] = [address & 0xffff, address >> 16].map(|half| {
            let [imm4, i, imm3, imm8] = [half >> 12, half >> 11 & 1, half >> 8 & 7, half & 0xff];
            (imm4 | i << 10, imm3 << 12 | imm8)
        });
        let wide = |opcode: u32, (first, second): (u32, u32)| opcode | first | second << 16;
        let code = [0x2000_8000, FLASH + 9, wide(0xf240, low), wide(0xf2c0, high), 0xe7fd_6001];
        let bytes = code.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        let firmware = Firmware { segments: vec![(FLASH, bytes)], ..Firmware::default() };
        let job = Job {
            board: "stm32f746g-disco".into(),
            elf: Vec::new(),
            external_flash: Vec::new(),
            card: None,
            frames: Vec::new(),
            hardware: Hardware::default(),
            strict: true,
            mode: Mode::Full,
            limits: Limits { instructions, console_bytes: 0 },
            watches: Vec::new(),
        };
        let board = tilewright_board::find(&job.board).unwrap();
        let machine = Machine::new(board, firmware, &job, Box::new(|_| {})).unwrap();
        let mut uc = set_up(machine, &[]).unwrap();
        let count = Rc::new(Cell::new(0));
        let counter = Rc::clone(&count);
        uc.add_edge_gen_hook(1, 0, move |_, _, _| counter.set(counter.get() + 1)).unwrap();
        let start = reset(&mut uc).unwrap();
        assert!(matches!(execute(&mut uc, start), End::Fault(FaultKind::InstructionLimit, _)));
        count.get()
    }

    #[test]
    fn stores_to_sram_undo_nothing_that_is_translated_of_flash() {
        // As far into SRAM as the loop lies in flash.
        assert!(translated(0x2000_0010, 10_000) < 10);
    }
}
