//! Unicorn as an engine of the machine.

use tilewright_board::CoreKind;
use tilewright_machine::{End, Engine, JobError, Machine, Register, Trap, block, exception};
use tilewright_report::FaultKind;
use unicorn_engine::{
    Arch, ArmCpuModel, ControlType, Mode, RegisterARM, Unicorn, uc_ctl, uc_error,
};

use crate::hooks;
use crate::maps;
use crate::pages;

/// An address that no block starts at, for Unicorn's "run until", which it looks up as if code could be there.
const NEVER: u32 = 0x9fff_fff0;
/// Bytes for translated code; when they are full, translation starts anew.
const CODE_BUFFER: u32 = 64 << 20;

/// Unicorn with the machine beside it.
pub type Uc<'a> = Unicorn<'a, Machine>;

/// Unicorn as the machine sees it.
pub struct Core<'u, 'a>(pub &'u mut Uc<'a>);

impl Engine for Core<'_, '_> {
    #[inline]
    fn machine(&self) -> &Machine {
        self.0.get_data()
    }

    #[inline]
    fn machine_mut(&mut self) -> &mut Machine {
        self.0.get_data_mut()
    }

    fn read(&self, register: Register) -> u32 {
        // Unicorn refuses only registers that it does not know.
        self.0.reg_read(number(register)).unwrap_or(0) as u32
    }

    fn write(&mut self, register: Register, value: u32) {
        let number = match register {
            // By the name XPSR the flags GE would be left out.
            Register::Xpsr => RegisterARM::XPSR_NZCVQG as i32,
            _ => number(register),
        };
        let _ = self.0.reg_write(number, u64::from(value));
    }

    fn stop(&mut self) {
        let _ = self.0.emu_stop();
    }

    fn execute(&mut self, start: u32) -> End {
        execute_until(self.0, start, NEVER).unwrap_or_else(|| {
            let message = format!("the emulator stopped at 0x{NEVER:08x}");
            End::Fault(FaultKind::Worker, message)
        })
    }
}

/// Unicorn's number of a register.
const fn number(register: Register) -> i32 {
    let register = match register {
        Register::R0 => RegisterARM::R0,
        Register::R1 => RegisterARM::R1,
        Register::R2 => RegisterARM::R2,
        Register::R3 => RegisterARM::R3,
        Register::R4 => RegisterARM::R4,
        Register::R5 => RegisterARM::R5,
        Register::R6 => RegisterARM::R6,
        Register::R7 => RegisterARM::R7,
        Register::R8 => RegisterARM::R8,
        Register::R9 => RegisterARM::R9,
        Register::R10 => RegisterARM::R10,
        Register::R11 => RegisterARM::R11,
        Register::R12 => RegisterARM::R12,
        Register::Sp => RegisterARM::SP,
        Register::Lr => RegisterARM::LR,
        Register::Pc => RegisterARM::PC,
        Register::Xpsr => RegisterARM::XPSR,
        Register::Msp => RegisterARM::MSP,
        Register::Psp => RegisterARM::PSP,
        Register::Control => RegisterARM::CONTROL,
        Register::Primask => RegisterARM::PRIMASK,
        Register::Basepri => RegisterARM::BASEPRI,
        Register::Faultmask => RegisterARM::FAULTMASK,
        Register::Fpscr => RegisterARM::FPSCR,
        Register::Single(number) => return RegisterARM::S0 as i32 + number as i32,
    };
    register as i32
}

/// What a job is told of an error of Unicorn.
pub fn failed(error: uc_error) -> JobError {
    JobError::Engine(format!("{error:?}"))
}

/// Where Unicorn's core is.
pub fn pc(uc: &Uc<'_>) -> u32 {
    uc.reg_read(RegisterARM::PC).unwrap_or(0) as u32
}

/// Unicorn with memories, devices and hooks.
pub fn set_up<'a>(machine: Machine) -> Result<Uc<'a>, uc_error> {
    // Mode::MCLASS would force another core (and hooks must be there before code is translated).
    let mut uc = Uc::new_with_data(Arch::ARM, Mode::THUMB, machine)?;
    uc.ctl_set_cpu_model(cpu_model(uc.get_data().core) as i32)?;
    limit_code_buffer(&uc)?;
    maps::set_up(&mut uc)?;
    uc.add_block_hook(1, 0, |uc, address, size| {
        let before = uc.get_data().blocks();
        block::entered(&mut Core(uc), address as u32, size);
        if uc.get_data().is_observed() && uc.get_data().blocks() != before {
            tilewright_machine::show(&mut Core(uc), address as u32);
        }
    })?;
    hooks::set_up(&mut uc)?;
    pages::set_up(&mut uc)?;
    hooks::watch(&mut uc)?;
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

/// Runs from an address until something ends it, or a block at another begins; nothing then.
pub fn execute_until(uc: &mut Uc<'_>, start: u32, until: u32) -> Option<End> {
    let mut at = start;
    loop {
        let result = uc.emu_start(u64::from(at | 1), u64::from(until), 0, 0);
        if let Some(end) = uc.get_data_mut().end.take() {
            return Some(end);
        }
        match result {
            Ok(()) if pc(uc) == until => return None,
            Ok(()) if hooks::stopped(uc) => {}
            Ok(()) => {
                let message = format!("the emulator stopped at 0x{:08x}", pc(uc));
                return Some(End::Fault(FaultKind::Worker, message));
            }
            Err(uc_error::EXCEPTION) if exception::never_runs(pc(uc)) => {
                exception::fetched_nowhere(&mut Core(uc));
            }
            Err(error) => {
                let trap = trap(uc, error);
                return Some(tilewright_machine::trapped(&mut Core(uc), &trap));
            }
        }
        if let Some(end) = uc.get_data_mut().end.take() {
            return Some(end);
        }
        at = pc(uc);
    }
}

/// What an error of Unicorn means.
fn trap(uc: &Uc<'_>, error: uc_error) -> Trap {
    match error {
        uc_error::INSN_INVALID => Trap::Undefined,
        uc_error::EXCEPTION => Trap::State,
        _ if uc.get_data().bad_access.is_some() => Trap::Access,
        other => Trap::Other(format!("{other:?}")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use tilewright_machine::Firmware;
    use tilewright_protocol::{Job, Limits};

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
        let job =
            Job::new("stm32f746g-disco", Vec::new(), Limits { instructions, console_bytes: 0 });
        let board = tilewright_board::find(&job.board).unwrap();
        let machine = crate::prepare(board, firmware, &job, |_| {}).unwrap();
        let mut uc = set_up(machine).unwrap();
        let count = Rc::new(Cell::new(0));
        let counter = Rc::clone(&count);
        uc.add_edge_gen_hook(1, 0, move |_, _, _| counter.set(counter.get() + 1)).unwrap();
        let mut core = Core(&mut uc);
        let start = tilewright_machine::reset(&mut core).unwrap();
        assert!(matches!(core.execute(start), End::Fault(FaultKind::InstructionLimit, _)));
        count.get()
    }

    #[test]
    fn stores_to_sram_undo_nothing_that_is_translated_of_flash() {
        // As far into SRAM as the loop lies in flash.
        assert!(translated(0x2000_0010, 10_000) < 10);
    }
}
