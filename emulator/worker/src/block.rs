//! The block hook: charges each block, and does what is due at its border.

use tilewright_cores::{Alignment, BlockCost, Flags, block_cost};
use tilewright_report::FaultKind;

use crate::alignment;
use crate::exception;
use crate::fault::status;
use crate::lines::{self, Loop};
use crate::machine::Machine;
use crate::marks;
use crate::registers::{self, Engine};
use crate::sampling;

/// Largest block: Unicorn ends blocks at pages, and after far fewer instructions than this.
const MAX_BLOCK: u32 = 4096;

/// A block is about to run.
#[inline]
pub fn entered(uc: &mut Engine<'_>, address: u64, size: u32) {
    let address = address as u32;
    let machine = uc.get_data_mut();
    if machine.account.cycles < machine.deadline
        && let Some(index) = machine.table.index(address)
        && let Some(flags) = machine.table.seen(index, size)
        && !flags.any(machine.attention)
    {
        if machine.table.asks(index).is_some() && !is_aligned(uc, index, address) {
            return;
        }
        uc.get_data_mut().enter(index, address, size, flags);
        return;
    }
    carefully(uc, address, size);
}

#[cold]
fn carefully(uc: &mut Engine<'_>, address: u32, size: u32) {
    if uc.get_data().account.cycles >= uc.get_data().deadline {
        due(uc);
        if uc.get_data().end.is_some() {
            // Stopped before the block runs: it is not counted.
            let _ = uc.emu_stop();
            return;
        }
        if exception::take(uc, address) {
            // The hook comes again for the handler's first block.
            return;
        }
        uc.get_data_mut().set_deadline();
    }
    let (index, cost) = cost(uc, address, size);
    let machine = uc.get_data_mut();
    if machine.marks.awaits_return() {
        marks::returned(machine, address);
    }
    if cost.flags.any(Flags::MARKED)
        && let Some(index) = index
        && lines::turns(uc, index, address, size, cost.flags)
    {
        // As if the block had been entered anew.
        return carefully(uc, address, size);
    }
    let machine = uc.get_data();
    if cost.flags.any(machine.attention) {
        let goes_elsewhere = attend(uc, address, cost.flags);
        if uc.get_data().end.is_some() {
            let _ = uc.emu_stop();
            return;
        }
        if goes_elsewhere {
            return;
        }
    }
    if let Some(index) = index
        && !is_aligned(uc, index, address)
    {
        return;
    }
    let machine = uc.get_data_mut();
    match index {
        Some(index) => machine.enter(index, address, size, cost.flags),
        None => {
            let (instructions, cycles) = (u64::from(cost.instructions), u64::from(cost.cycles));
            machine.note(address, size, cost.flags, instructions, cycles);
            machine.table.jump(address.wrapping_add(size));
        }
    }
}

/// Whether what a block asks of registers holds; else that is a fault, which ends emulation.
#[inline]
fn is_aligned(uc: &mut Engine<'_>, index: usize, address: u32) -> bool {
    let asks = uc.get_data().table.asks(index);
    let fault = asks.and_then(|alignment| alignment::fault(uc, alignment));
    if let Some(offset) = fault {
        alignment::end(uc, address.wrapping_add(offset));
    }
    fault.is_none()
}

fn due(uc: &mut Engine<'_>) {
    let machine = uc.get_data_mut();
    machine.catch_up();
    machine.look();
}

/// The cost of a block, worked out when it is seen for the first time. Code outside of flash can
/// change, so it is decoded each time.
fn cost(uc: &mut Engine<'_>, address: u32, size: u32) -> (Option<usize>, BlockCost) {
    let Machine { table, core, .. } = uc.get_data();
    let (index, core) = (table.index(address), *core);
    if let Some(kept) = index.and_then(|index| table.kept(index, size)) {
        return (index, kept);
    }
    let bytes = uc.mem_read_as_vec(u64::from(address), size.min(MAX_BLOCK) as usize);
    let bytes = bytes.unwrap_or_default();
    let mut cost = block_cost(core, &bytes);
    let pointer = registers::read(uc, unicorn_engine::RegisterARM::SP);
    let machine = uc.get_data_mut();
    if let Some(stack) = &mut machine.stack {
        stack.seen(pointer);
    }
    let sampling = machine.sampling.as_ref();
    let is_sampled = machine.firmware.compute == Some(address)
        || sampling.is_some_and(|sampling| sampling.is_return(address));
    if machine.firmware.mark == Some(address) || (sampling.is_some() && is_sampled) {
        cost.flags = cost.flags.with(Flags::MARKED);
    }
    if let Some(index) = index {
        // Caches that are not modelled are not maintained.
        let found = machine.data_cache.as_ref().and_then(|_| Loop::of(address, &bytes));
        if let Some(found) = found {
            cost.flags = cost.flags.with(Flags::MARKED);
            machine.loops.push(found);
        }
        machine.table.insert(index, address, size, cost);
        if let Some(alignment) = Alignment::of(&bytes) {
            machine.table.ask(index, alignment);
        }
    }
    (index, cost)
}

/// Does what a block's flags ask for before it runs; whether the core goes on elsewhere.
fn attend(uc: &mut Engine<'_>, address: u32, flags: Flags) -> bool {
    if flags.any(Flags::MARKED) {
        if uc.get_data().firmware.mark == Some(address) {
            marks::marked(uc);
            uc.get_data_mut().deadline = 0;
        } else if uc.get_data().firmware.compute == Some(address) {
            if sampling::enters(uc, address) {
                return true;
            }
        } else if uc.get_data().sampling.as_ref().is_some_and(|this| this.is_return(address)) {
            sampling::returns(uc.get_data_mut());
        }
    }
    let machine = uc.get_data_mut();
    if flags.any(Flags::SENDS_EVENT) {
        machine.event = true;
    }
    if flags.any(Flags::FLOAT) && machine.attention.any(Flags::FLOAT) {
        float(machine, address);
    }
    false
}

/// Unicorn's floating-point unit is always on; the hardware's is not.
fn float(machine: &mut Machine, address: u32) {
    if machine.bus.float_enabled() {
        machine.float_context = true;
        machine.attention = Flags(machine.attention.0 & !Flags::FLOAT.0);
    } else {
        machine.core_fault(
            FaultKind::HardFault,
            status::NO_COPROCESSOR,
            format!(
                "a floating-point instruction in the block at 0x{address:08x}, but CPACR does not \
                 enable the floating-point unit (UsageFault NOCP)"
            ),
        );
    }
}

/// The text of the instruction at an address.
pub fn instruction_at(uc: &Engine<'_>, address: u32) -> Option<String> {
    let bytes = uc.mem_read_as_vec(u64::from(address & !1), 4).ok()?;
    Some(tilewright_cores::disassemble(&bytes))
}

/// An address for a message, with function and instruction.
pub fn place(uc: &Engine<'_>, pc: u32) -> String {
    let function = uc.get_data().firmware.function(pc);
    let function = if function.is_empty() { function } else { format!(" in {function}") };
    let instruction = instruction_at(uc, pc).map(|text| format!(": {text}"));
    format!("at 0x{pc:08x}{function}{}", instruction.unwrap_or_default())
}

/// Where the core is.
pub fn pc(uc: &Engine<'_>) -> u32 {
    registers::read(uc, unicorn_engine::RegisterARM::PC)
}
