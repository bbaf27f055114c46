//! Exception entry and return: DDI 0403E, B1.5.6 to B1.5.8. Frames are stacked whole: lazy
//! stacking of floating-point registers is left out.

use tilewright_cores::{
    ExceptionReturn, Flags, Frame, FrameKind, above_frame, exception_cycles, frame_address,
};
use tilewright_report::FaultKind;
use unicorn_engine::RegisterARM;

use crate::account::Bucket;
use crate::fault::status;
use crate::machine::Machine;
use crate::registers::{self, Engine, FRAME};
use crate::sleep;

/// xPSR.T: Thumb state.
const THUMB: u32 = 1 << 24;
/// CONTROL.SPSEL.
const PROCESS_STACK: u32 = 2;
const HARD_FAULT: u32 = 3;
const SVCALL: u32 = 11;

/// Numbers that Unicorn gives to what the core raises by itself.
mod raised {
    pub const SUPERVISOR_CALL: u32 = 2;
    pub const DATA_ABORT: u32 = 4;
    pub const BREAKPOINT: u32 = 7;
    pub const EXCEPTION_EXIT: u32 = 8;
}

/// Takes the most urgent pending exception before the block at `address`, if the masks allow;
/// true if the core is in its handler now.
pub fn take(uc: &mut Engine<'_>, address: u32) -> bool {
    if !uc.get_data().bus.nvic().any_pending() {
        return false;
    }
    let masks = registers::masks(uc);
    let Some(exception) = uc.get_data().bus.nvic().next(masks) else {
        return false;
    };
    enter(uc, exception, address);
    true
}

/// Enters the HardFault handler, as the core does when an instruction at `address` fails; where
/// the handler begins. Nothing if there is none, or the core is in it or in one as urgent: it
/// would lock up.
pub fn take_hard_fault(uc: &mut Engine<'_>, address: u32) -> Option<u32> {
    let urgent = |(exception, _): &(u32, bool)| *exception <= HARD_FAULT;
    if uc.get_data().handlers.iter().any(urgent) || registers::masks(uc).faultmask {
        return None;
    }
    let handler = vector(uc, HARD_FAULT)?;
    enter(uc, HARD_FAULT, address);
    Some(handler)
}

fn enter(uc: &mut Engine<'_>, exception: u32, return_address: u32) {
    let float = uc.get_data().float_context;
    let kind = if float { FrameKind::Extended } else { FrameKind::Basic };
    let to_thread = uc.get_data().handlers.is_empty();
    let process_stack = to_thread && registers::read(uc, RegisterARM::CONTROL) & PROCESS_STACK != 0;
    let pointer = registers::read(uc, RegisterARM::SP);
    let (address, aligned) = frame_address(pointer, kind);
    let machine = uc.get_data_mut();
    if let (Some(stack), true) = (&mut machine.stack, to_thread && !process_stack) {
        stack.interrupted(&mut machine.memories, pointer, exception);
    }

    let mut frame = Frame::default();
    for (word, register) in frame.words.iter_mut().zip(FRAME) {
        *word = registers::read(uc, register);
    }
    frame.words[6] = return_address;
    frame.words[7] = registers::read(uc, RegisterARM::XPSR) & !Frame::ALIGNED | aligned;
    let mut bytes = frame.to_bytes().to_vec();
    if kind == FrameKind::Extended {
        bytes.extend((0..16).flat_map(|n| single(uc, n).to_le_bytes()));
        bytes.extend(registers::read(uc, RegisterARM::FPSCR).to_le_bytes());
        bytes.extend([0; 4]);
    }
    let vector = vector(uc, exception);
    let stacked = uc.get_data_mut().memories.write(address, &bytes);
    if !stacked && exception == HARD_FAULT {
        // The handler is entered all the same, without a frame (DDI 0403E, B1.5.15).
        uc.get_data_mut().bus.record_fault(status::STACKING, None);
    } else if !stacked {
        let message = format!("no memory for an exception frame at 0x{address:08x}");
        stop(uc, FaultKind::StackOverflow, status::STACKING, message);
        return;
    }
    let Some(handler) = vector else {
        let message = format!("the vector of exception {exception} holds no Thumb address");
        stop(uc, FaultKind::HardFault, status::STATE, message);
        return;
    };
    let link = ExceptionReturn { to_thread, process_stack, frame: kind };
    registers::write(uc, RegisterARM::SP, address);
    registers::write(uc, RegisterARM::LR, link.value());
    // The exception's number puts the core on the main stack; IT state is cleared.
    registers::write(uc, RegisterARM::XPSR_NZCVQG, THUMB | exception);

    let machine = uc.get_data_mut();
    machine.handlers.push((exception, float));
    machine.count_blocks();
    set_float_context(machine, false);
    machine.event = true;
    machine.bus.nvic_mut().enter(exception);
    machine.account.switch(Bucket::Interrupt);
    machine.account.cycles += u64::from(exception_cycles(machine.core));
    machine.table.jump(handler & !1);
    machine.deadline = 0;
    registers::write(uc, RegisterARM::PC, handler);
}

/// The handler's address from the vector table.
fn vector(uc: &Engine<'_>, exception: u32) -> Option<u32> {
    let address = uc.get_data().bus.vectors().wrapping_add(exception * 4);
    let mut bytes = [0; 4];
    let is_there = uc.get_data().memories.read(address, &mut bytes);
    Some(u32::from_le_bytes(bytes)).filter(|handler| is_there && handler & 1 != 0)
}

fn single(uc: &Engine<'_>, number: i32) -> u32 {
    uc.reg_read(RegisterARM::S0 as i32 + number).unwrap_or(0) as u32
}

fn set_float_context(machine: &mut Machine, on: bool) {
    machine.float_context = on;
    machine.attention = if on {
        Flags(machine.attention.0 & !Flags::FLOAT.0)
    } else {
        machine.attention.with(Flags::FLOAT)
    };
}

/// The core raised something by itself: `number` is Unicorn's.
pub fn raised(uc: &mut Engine<'_>, number: u32) {
    let pc = registers::read(uc, RegisterARM::PC);
    match number {
        raised::SUPERVISOR_CALL => {
            let machine = uc.get_data_mut();
            machine.bus.nvic_mut().pend(SVCALL);
            machine.deadline = 0;
        }
        raised::EXCEPTION_EXIT if pc >= ExceptionReturn::FIRST => leave(uc, pc),
        raised::BREAKPOINT => {
            // Without a debugger a breakpoint is a HardFault with HFSR.DEBUGEVT, and CFSR empty.
            stop(uc, FaultKind::HardFault, 0, format!("a breakpoint at 0x{pc:08x}"));
        }
        raised::DATA_ABORT => {
            let message = format!("a data access failed at 0x{pc:08x}");
            stop(uc, FaultKind::HardFault, status::PRECISE, message);
        }
        _ => stop(uc, FaultKind::HardFault, 0, format!("fault {number} at 0x{pc:08x}")),
    }
}

/// The core went where it fetches nothing: a handler returns, or it is lost.
pub fn fetched_nowhere(uc: &mut Engine<'_>) {
    let pc = registers::read(uc, RegisterARM::PC);
    if pc >= ExceptionReturn::FIRST {
        return leave(uc, pc);
    }
    let message = format!("no code can be fetched from 0x{pc:08x}");
    stop(uc, FaultKind::HardFault, status::FETCH, message);
}

fn leave(uc: &mut Engine<'_>, pc: u32) {
    let (Some(link), Some((exception, float))) =
        (ExceptionReturn::from_pc(pc), uc.get_data_mut().handlers.pop())
    else {
        let message = format!("an exception return to 0x{pc:08x} that is none (INVPC)");
        stop(uc, FaultKind::HardFault, status::RETURN, message);
        return;
    };
    let stack = if link.process_stack { RegisterARM::PSP } else { RegisterARM::MSP };
    let address = registers::read(uc, stack);
    let mut bytes = [0; 32];
    if !uc.get_data().memories.read(address, &mut bytes) {
        let message = format!("no exception frame at 0x{address:08x}");
        stop(uc, FaultKind::HardFault, status::UNSTACKING, message);
        return;
    }
    let frame = Frame::from_bytes(&bytes);
    if link.frame == FrameKind::Extended {
        restore_floats(uc, address.wrapping_add(32));
    }
    for (word, register) in frame.words.iter().zip(FRAME) {
        registers::write(uc, register, *word);
    }
    let xpsr = frame.words[7];
    registers::write(uc, stack, above_frame(address, link.frame, xpsr));
    registers::write(uc, RegisterARM::XPSR_NZCVQG, xpsr & !Frame::ALIGNED | THUMB);
    if link.to_thread {
        let control = registers::read(uc, RegisterARM::CONTROL);
        let select = if link.process_stack { PROCESS_STACK } else { 0 };
        if control & PROCESS_STACK != select {
            registers::write(uc, RegisterARM::CONTROL, control & !PROCESS_STACK | select);
        }
    }
    let machine = uc.get_data_mut();
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
        sleep::for_interrupt(uc);
    }
    registers::write(uc, RegisterARM::PC, frame.words[6] | 1);
}

fn restore_floats(uc: &mut Engine<'_>, address: u32) {
    let mut bytes = [0; 68];
    if !uc.get_data().memories.read(address, &mut bytes) {
        return;
    }
    let words = bytes
        .chunks_exact(4)
        .map(|chunk| chunk.iter().rev().fold(0u32, |word, byte| word << 8 | u32::from(*byte)));
    for (number, word) in (0..).zip(words) {
        match number {
            0..16 => {
                let _ = uc.reg_write(RegisterARM::S0 as i32 + number, u64::from(word));
            }
            _ => registers::write(uc, RegisterARM::FPSCR, word),
        }
    }
}

fn stop(uc: &mut Engine<'_>, kind: FaultKind, status: u32, message: String) {
    uc.get_data_mut().core_fault(kind, status, message);
    let _ = uc.emu_stop();
}
