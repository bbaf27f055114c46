//! The rule at the border of blocks: each is charged, and what is due is done before it runs.

use tilewright_cores::{Alignment, BlockCost, Flags, block_cost};
use tilewright_report::FaultKind;

use crate::core::exception;
use crate::core::lines::{self, Loop};
use crate::core::registers::Register;
use crate::engine::Engine;
use crate::fault::status;
use crate::machine::Machine;
use crate::rules::alignment;
use crate::watch::{marks, sampling};

/// Largest block: engines end blocks at pages, and after far fewer instructions than this.
const MAX_BLOCK: u32 = 4096;

/// A block of `size` bytes at `address` is about to run: counts and charges it, unless the core goes on elsewhere
/// (PC was written) or does not go on ([`Engine::stop`] was called).
#[inline]
pub fn entered(engine: &mut impl Engine, address: u32, size: u32) {
    let machine = engine.machine_mut();
    if let Some(index) = machine.table.index(address)
        && machine.table.is(index, size)
        && (machine.table.asks(index).is_none() || is_aligned(engine, index, address))
        && runs(engine.machine_mut(), index, address, size)
    {
        return;
    }
    carefully(engine, address, size);
}

/// A block of this index is about to run: counts and charges it, unless it is to be looked at first ([`entered`]).
#[inline]
pub fn runs(machine: &mut Machine, index: usize, address: u32, size: u32) -> bool {
    let flags = machine.table.flags(index);
    let runs = machine.account.cycles < machine.deadline && !flags.any(machine.attention);
    if runs {
        machine.enter(index, address, size, flags);
    }
    runs
}

#[cold]
fn carefully(engine: &mut impl Engine, address: u32, size: u32) {
    if engine.machine().account.cycles >= engine.machine().deadline {
        due(engine);
        if engine.machine().end.is_some() {
            // Stopped before the block runs: it is not counted.
            engine.stop();
            return;
        }
        if exception::take(engine, address) {
            // The hook comes again for the handler's first block.
            return;
        }
        engine.machine_mut().set_deadline();
    }
    let (index, cost) = cost(engine, address, size);
    let machine = engine.machine_mut();
    if machine.marks.awaits_return() {
        marks::returned(machine, address);
    }
    if cost.flags.any(Flags::MARKED)
        && let Some(index) = index
        && lines::turns(engine, index, address, size, cost.flags)
    {
        // As if the block had been entered anew.
        return carefully(engine, address, size);
    }
    let machine = engine.machine();
    if cost.flags.any(machine.attention) {
        let goes_elsewhere = attend(engine, address, cost.flags);
        if engine.machine().end.is_some() {
            engine.stop();
            return;
        }
        if goes_elsewhere {
            return;
        }
    }
    if let Some(index) = index
        && !is_aligned(engine, index, address)
    {
        return;
    }
    let machine = engine.machine_mut();
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
fn is_aligned(engine: &mut impl Engine, index: usize, address: u32) -> bool {
    if !alignment::are_foreseen(engine) {
        return true;
    }
    let asks = engine.machine().table.asks(index);
    let fault = asks.and_then(|alignment| alignment::fault(engine, alignment));
    if let Some(offset) = fault {
        alignment::end(engine, address.wrapping_add(offset));
    }
    fault.is_none()
}

fn due(engine: &mut impl Engine) {
    let machine = engine.machine_mut();
    machine.catch_up();
    machine.look();
}

/// The cost of a block, worked out when it is seen for the first time. Code outside of flash can
/// change, so it is decoded each time.
fn cost(engine: &mut impl Engine, address: u32, size: u32) -> (Option<usize>, BlockCost) {
    let Machine { table, core, memories, .. } = engine.machine();
    let (index, core) = (table.index(address), *core);
    if let Some(kept) = index.and_then(|index| table.kept(index, size)) {
        return (index, kept);
    }
    let bytes = memories.code(address).get(..size.min(MAX_BLOCK) as usize);
    let bytes = bytes.unwrap_or_default().to_vec();
    let mut cost = block_cost(core, &bytes);
    let pointer = engine.read(Register::Sp);
    let machine = engine.machine_mut();
    if let Some(stack) = &mut machine.stack {
        stack.seen(pointer);
    }
    let sampling = machine.sampling.as_ref();
    let is_sampled = machine.firmware.compute == Some(address)
        || sampling.is_some_and(|sampling| sampling.is_return(address));
    if machine.firmware.mark == Some(address) || (sampling.is_some() && is_sampled) {
        cost.flags = cost.flags.with(Flags::MARKED);
    }
    if machine.table.reaches(address) {
        // Caches that are not modelled are not maintained.
        let found = machine.data_cache.as_ref().and_then(|_| Loop::of(address, &bytes));
        if let Some(found) = found {
            cost.flags = cost.flags.with(Flags::MARKED);
            machine.loops.push(found);
        }
    }
    let index = machine.table.insert(address, size, cost);
    if let Some((index, alignment)) = index.zip(Alignment::of(&bytes)) {
        machine.table.ask(index, alignment);
    }
    (index, cost)
}

/// Does what a block's flags ask for before it runs; whether the core goes on elsewhere.
fn attend(engine: &mut impl Engine, address: u32, flags: Flags) -> bool {
    if flags.any(Flags::MARKED) {
        if engine.machine().firmware.mark == Some(address) {
            marks::marked(engine);
            engine.machine_mut().deadline = 0;
        } else if engine.machine().firmware.compute == Some(address) {
            if sampling::enters(engine, address) {
                return true;
            }
        } else if engine.machine().sampling.as_ref().is_some_and(|this| this.is_return(address)) {
            sampling::returns(engine.machine_mut());
        }
    }
    let machine = engine.machine_mut();
    if flags.any(Flags::SENDS_EVENT) {
        machine.event = true;
    }
    if flags.any(Flags::FLOAT) && machine.attention.any(Flags::FLOAT) {
        float(machine, address);
    }
    false
}

/// An engine's floating-point unit is always on; the hardware's is not.
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
fn instruction_at(machine: &Machine, address: u32) -> Option<String> {
    let bytes = machine.memories.code(address & !1).get(..4)?;
    Some(tilewright_cores::disassemble(bytes))
}

/// An address for a message, with function and instruction.
pub(crate) fn place(engine: &impl Engine, pc: u32) -> String {
    let machine = engine.machine();
    let function = machine.firmware.function(pc);
    let function = if function.is_empty() { function } else { format!(" in {function}") };
    let instruction = instruction_at(machine, pc).map(|text| format!(": {text}"));
    format!("at 0x{pc:08x}{function}{}", instruction.unwrap_or_default())
}

/// Where the core is.
pub(crate) fn pc(engine: &impl Engine) -> u32 {
    engine.read(Register::Pc)
}
