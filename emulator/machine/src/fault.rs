//! What is reported of a fault.

pub(crate) mod last_words;

use tilewright_devices::Time;
use tilewright_report::{Fault, FaultKind, StackUse};

use crate::board::access::{BadAccess, FETCH};
use crate::core::block;
use crate::core::registers::{self, Register};
use crate::engine::{Engine, Trap};
use crate::machine::End;

/// How far below its end a stack that grew too far is looked for.
const BELOW_STACK: u32 = 64 << 10;

/// Bits of CFSR (DDI 0403E, B3.2.15).
pub mod status {
    /// IBUSERR: no code could be fetched.
    pub const FETCH: u32 = 1 << 8;
    /// PRECISERR: a data access failed.
    pub const PRECISE: u32 = 1 << 9;
    /// IMPRECISERR: a buffered write failed later.
    pub const IMPRECISE: u32 = 1 << 10;
    /// UNSTKERR: the exception frame could not be read.
    pub const UNSTACKING: u32 = 1 << 11;
    /// STKERR: the exception frame could not be written.
    pub const STACKING: u32 = 1 << 12;
    /// UNDEFINSTR.
    pub const UNDEFINED: u32 = 1 << 16;
    /// INVSTATE.
    pub const STATE: u32 = 1 << 17;
    /// INVPC.
    pub const RETURN: u32 = 1 << 18;
    pub const NO_COPROCESSOR: u32 = 1 << 19;
    pub const UNALIGNED: u32 = 1 << 24;
}

/// The end of a run that an engine cannot go on with. PC is that of the instruction.
pub fn trapped(engine: &mut impl Engine, trap: &Trap) -> End {
    let (kind, message) = classify(engine, trap);
    let machine = engine.machine_mut();
    machine.fault_status = status_of(machine.bad_access, trap);
    End::Fault(kind, message)
}

/// What CFSR shows of a trap.
fn status_of(bad_access: Option<BadAccess>, trap: &Trap) -> u32 {
    match (bad_access, trap) {
        (Some(access), _) if access.what == FETCH => status::FETCH,
        (Some(_), _) => status::PRECISE,
        (None, Trap::State) => status::STATE,
        (None, _) => status::UNDEFINED,
    }
}

/// What a trap means.
fn classify(engine: &impl Engine, trap: &Trap) -> (FaultKind, String) {
    let pc = block::pc(engine);
    let place = block::place(engine, pc);
    match (engine.machine().bad_access, trap) {
        (Some(access), _) => bad_access(engine, &access, &place),
        (None, Trap::Undefined) => {
            (FaultKind::HardFault, format!("undefined instruction {place} (UNDEFINSTR)"))
        }
        (None, Trap::State) => {
            (FaultKind::HardFault, format!("invalid processor state {place} (INVSTATE)"))
        }
        (None, Trap::Access) => {
            (FaultKind::Worker, format!("the emulator failed: an access that is not known {place}"))
        }
        (None, Trap::Other(error)) => {
            (FaultKind::Worker, format!("the emulator failed: {error} {place}"))
        }
    }
}

fn bad_access(engine: &impl Engine, access: &BadAccess, place: &str) -> (FaultKind, String) {
    let machine = engine.machine();
    let BadAccess { what, address, forbidden } = *access;
    let stack = engine.read(Register::Sp);
    if let Some(firmware) = &machine.board.firmware {
        let end = firmware.sram_address;
        let below = |at: u32| at < end && at >= end.saturating_sub(BELOW_STACK);
        if below(address) || below(stack) && what != FETCH {
            let message = format!(
                "the stack grew past its end at 0x{end:08x}: {what} 0x{address:08x} {place}, \
                 stack pointer 0x{stack:08x}"
            );
            return (FaultKind::StackOverflow, message);
        }
    }
    let holds = machine.board.memory.iter().find(|memory| {
        memory
            .address
            .is_some_and(|start| address >= start && u64::from(address - start) < memory.bytes.0)
    });
    let why = match holds {
        Some(memory) if forbidden => format!("{} does not allow it", memory.name),
        Some(memory) => format!("{} is not set up, or not emulated yet", memory.name),
        None => "no memory or peripheral is there".to_owned(),
    };
    (FaultKind::UnmappedAccess, format!("{what} 0x{address:08x} {place}; {why}"))
}

/// What is said of a stack that no run has overflowed yet.
pub fn too_deep(stack: &StackUse) -> String {
    let StackUse { thread_bytes, handler_bytes, limit_bytes, .. } = stack;
    format!(
        "the stack of {} bytes is too short for the longest interrupt at the worst moment: {} bytes \
         outside of interrupts, {} in them",
        limit_bytes.0, thread_bytes.0, handler_bytes.0
    )
}

/// The report of a fault.
pub fn report(engine: &impl Engine, kind: FaultKind, message: &str) -> Fault {
    let machine = engine.machine();
    let running = machine.marks.step();
    let failed = machine.marks.failed;
    let Time(cycles) = machine.now();
    Fault {
        kind,
        message: format!("{message} (after {cycles} cycles)"),
        step: failed.step.or(running),
        layer: failed.layer.or_else(|| machine.marks.layer(0, running?)),
        layer_name: None,
        copy: failed.copy(),
        registers: registers::named(engine),
        last_blocks: machine.last_blocks(),
    }
}
