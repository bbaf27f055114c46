//! Exception entry and return: DDI 0403E, B1.5.6 to B1.5.8. Frames are stacked whole: lazy
//! stacking of floating-point registers is left out.

use tilewright_cores::{
    ExceptionReturn, Flags, Frame, FrameKind, above_frame, exception_cycles, frame_address,
};
use tilewright_report::FaultKind;

use crate::core::account::Bucket;
use crate::core::registers::{self, FRAME, Register};
use crate::core::sleep;
use crate::engine::Engine;
use crate::fault::status;
use crate::machine::Machine;

/// xPSR.T: Thumb state.
const THUMB: u32 = 1 << 24;
/// CONTROL.SPSEL.
const PROCESS_STACK: u32 = 2;
const HARD_FAULT: u32 = 3;
const SVCALL: u32 = 11;

/// What a core raises by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raised {
    /// SVC.
    SupervisorCall,
    /// BKPT.
    Breakpoint,
    /// A data access that failed, whose address the engine does not tell.
    DataAbort,
    /// Something else, by an engine's own number.
    Other(u32),
}

/// Takes the most urgent pending exception before the block at `address`, if the masks allow;
/// true if the core is in its handler now.
pub(crate) fn take(engine: &mut impl Engine, address: u32) -> bool {
    if !engine.machine().bus.nvic().any_pending() {
        return false;
    }
    let masks = registers::masks(engine);
    let Some(exception) = engine.machine().bus.nvic().next(masks) else {
        return false;
    };
    enter(engine, exception, address);
    true
}

/// Enters the HardFault handler, as the core does when an instruction at `address` fails; where
/// the handler begins. Nothing if there is none, or the core is in it or in one as urgent: it
/// would lock up.
pub(crate) fn take_hard_fault(engine: &mut impl Engine, address: u32) -> Option<u32> {
    let urgent = |(exception, _): &(u32, bool)| *exception <= HARD_FAULT;
    if engine.machine().handlers.iter().any(urgent) || registers::masks(engine).faultmask {
        return None;
    }
    let handler = vector(engine, HARD_FAULT)?;
    enter(engine, HARD_FAULT, address);
    Some(handler)
}

fn enter(engine: &mut impl Engine, exception: u32, return_address: u32) {
    let float = engine.machine().float_context;
    let kind = if float { FrameKind::Extended } else { FrameKind::Basic };
    let to_thread = engine.machine().handlers.is_empty();
    let process_stack = to_thread && engine.read(Register::Control) & PROCESS_STACK != 0;
    let pointer = engine.read(Register::Sp);
    let (address, aligned) = frame_address(pointer, kind);
    let machine = engine.machine_mut();
    if let (Some(stack), true) = (&mut machine.stack, to_thread && !process_stack) {
        stack.interrupted(&mut machine.memories, pointer, exception);
    }

    let mut frame = Frame::default();
    for (word, register) in frame.words.iter_mut().zip(FRAME) {
        *word = engine.read(register);
    }
    frame.words[6] = return_address;
    frame.words[7] = engine.read(Register::Xpsr) & !Frame::ALIGNED | aligned;
    let mut bytes = frame.to_bytes().to_vec();
    if kind == FrameKind::Extended {
        bytes.extend((0..16).flat_map(|n| engine.read(Register::Single(n)).to_le_bytes()));
        bytes.extend(engine.read(Register::Fpscr).to_le_bytes());
        bytes.extend([0; 4]);
    }
    let vector = vector(engine, exception);
    let stacked = engine.machine_mut().memories.write(address, &bytes);
    if !stacked && exception == HARD_FAULT {
        // The handler is entered all the same, without a frame (DDI 0403E, B1.5.15).
        engine.machine_mut().bus.record_fault(status::STACKING, None);
    } else if !stacked {
        let message = format!("no memory for an exception frame at 0x{address:08x}");
        stop(engine, FaultKind::StackOverflow, status::STACKING, message);
        return;
    }
    let Some(handler) = vector else {
        let message = format!("the vector of exception {exception} holds no Thumb address");
        stop(engine, FaultKind::HardFault, status::STATE, message);
        return;
    };
    let link = ExceptionReturn { to_thread, process_stack, frame: kind };
    engine.write(Register::Sp, address);
    engine.write(Register::Lr, link.value());
    // The exception's number puts the core on the main stack; IT state is cleared.
    engine.write(Register::Xpsr, THUMB | exception);

    let machine = engine.machine_mut();
    machine.handlers.push((exception, float));
    machine.count_blocks();
    set_float_context(machine, false);
    machine.event = true;
    machine.bus.nvic_mut().enter(exception);
    machine.account.switch(Bucket::Interrupt);
    machine.account.cycles += u64::from(exception_cycles(machine.core));
    machine.table.jump(handler & !1);
    machine.deadline = 0;
    engine.write(Register::Pc, handler);
}

/// The handler's address from the vector table.
fn vector(engine: &impl Engine, exception: u32) -> Option<u32> {
    let address = engine.machine().bus.vectors().wrapping_add(exception * 4);
    let mut bytes = [0; 4];
    let is_there = engine.machine().memories.read(address, &mut bytes);
    Some(u32::from_le_bytes(bytes)).filter(|handler| is_there && handler & 1 != 0)
}

fn set_float_context(machine: &mut Machine, on: bool) {
    machine.float_context = on;
    machine.attention = if on {
        Flags(machine.attention.0 & !Flags::FLOAT.0)
    } else {
        machine.attention.with(Flags::FLOAT)
    };
}

/// The core raised something by itself. PC is behind SVC, and at any other instruction.
pub fn raised(engine: &mut impl Engine, what: Raised) {
    let pc = engine.read(Register::Pc);
    match what {
        Raised::SupervisorCall => {
            let machine = engine.machine_mut();
            machine.bus.nvic_mut().pend(SVCALL);
            machine.deadline = 0;
        }
        Raised::Breakpoint => {
            // Without a debugger a breakpoint is a HardFault with HFSR.DEBUGEVT, and CFSR empty.
            stop(engine, FaultKind::HardFault, 0, format!("a breakpoint at 0x{pc:08x}"));
        }
        Raised::DataAbort => {
            let message = format!("a data access failed at 0x{pc:08x}");
            stop(engine, FaultKind::HardFault, status::PRECISE, message);
        }
        Raised::Other(number) => {
            stop(engine, FaultKind::HardFault, 0, format!("fault {number} at 0x{pc:08x}"));
        }
    }
}

/// Whether no core of this kind fetches from an address: devices, and above all others the addresses that
/// handlers return to (DDI 0403E, B3.1).
#[must_use]
pub const fn never_runs(address: u32) -> bool {
    matches!(address, 0x4000_0000..0x6000_0000 | 0xa000_0000..)
}

/// Whether a branch to an address is the return from an exception.
#[must_use]
pub const fn is_return(address: u32) -> bool {
    address >= ExceptionReturn::FIRST
}

/// The core went where it fetches nothing ([`never_runs`]): a handler returns, and the core goes on at PC, or it is
/// lost, which stops the engine.
pub fn fetched_nowhere(engine: &mut impl Engine) {
    let pc = engine.read(Register::Pc);
    if is_return(pc) {
        return leave(engine, pc);
    }
    let message = format!("no code can be fetched from 0x{pc:08x}");
    stop(engine, FaultKind::HardFault, status::FETCH, message);
}

fn leave(engine: &mut impl Engine, pc: u32) {
    let (Some(link), Some((exception, float))) =
        (ExceptionReturn::from_pc(pc), engine.machine_mut().handlers.pop())
    else {
        let message = format!("an exception return to 0x{pc:08x} that is none (INVPC)");
        stop(engine, FaultKind::HardFault, status::RETURN, message);
        return;
    };
    let stack = if link.process_stack { Register::Psp } else { Register::Msp };
    let address = engine.read(stack);
    let mut bytes = [0; 32];
    if !engine.machine().memories.read(address, &mut bytes) {
        let message = format!("no exception frame at 0x{address:08x}");
        stop(engine, FaultKind::HardFault, status::UNSTACKING, message);
        return;
    }
    let frame = Frame::from_bytes(&bytes);
    if link.frame == FrameKind::Extended {
        restore_floats(engine, address.wrapping_add(32));
    }
    for (word, register) in frame.words.iter().zip(FRAME) {
        engine.write(register, *word);
    }
    let xpsr = frame.words[7];
    engine.write(stack, above_frame(address, link.frame, xpsr));
    engine.write(Register::Xpsr, xpsr & !Frame::ALIGNED | THUMB);
    if link.to_thread {
        let control = engine.read(Register::Control);
        let select = if link.process_stack { PROCESS_STACK } else { 0 };
        if control & PROCESS_STACK != select {
            engine.write(Register::Control, control & !PROCESS_STACK | select);
        }
    }
    let machine = engine.machine_mut();
    set_float_context(machine, float && link.frame == FrameKind::Extended);
    machine.event = true;
    machine.bus.nvic_mut().leave(exception);
    machine.account.cycles += u64::from(exception_cycles(machine.core));
    if machine.handlers.is_empty() {
        if let Some(stack) = &mut machine.stack {
            stack.returned(&mut machine.memories);
        }
        let bucket = machine.thread_bucket();
        machine.account.switch(bucket);
        machine.count_blocks();
    }
    machine.table.jump(frame.words[6] & !1);
    machine.deadline = 0;
    if link.to_thread && machine.bus.sleep_on_exit() {
        sleep::for_interrupt(engine);
    }
    engine.write(Register::Pc, frame.words[6] | 1);
}

fn restore_floats(engine: &mut impl Engine, address: u32) {
    let mut bytes = [0; 68];
    if !engine.machine().memories.read(address, &mut bytes) {
        return;
    }
    let words = bytes
        .chunks_exact(4)
        .map(|chunk| chunk.iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte)));
    for (number, word) in (0..).zip(words) {
        match number {
            0..16 => engine.write(Register::Single(number), word),
            _ => engine.write(Register::Fpscr, word),
        }
    }
}

fn stop(engine: &mut impl Engine, kind: FaultKind, status: u32, message: String) {
    engine.machine_mut().core_fault(kind, status, message);
    engine.stop();
}
