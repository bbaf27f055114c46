//! What Unicorn tells of besides blocks and memories, and what that is to the machine.

use tilewright_cores::Flags;
use tilewright_machine::exception::{self, Raised};
use tilewright_machine::{border, long_loads, sleep};
use unicorn_engine::{HookType, MemType, uc_error};

use crate::engine::{self, Core, Uc};

/// Numbers that Unicorn gives to what the core raises by itself.
mod raised {
    pub const SUPERVISOR_CALL: u32 = 2;
    pub const DATA_ABORT: u32 = 4;
    pub const BREAKPOINT: u32 = 7;
    pub const EXCEPTION_EXIT: u32 = 8;
}

/// Listens to what the core raises.
pub fn set_up(uc: &mut Uc<'_>) -> Result<(), uc_error> {
    uc.add_intr_hook(raised)?;
    uc.add_insn_invalid_hook(invalid_instruction)?;
    Ok(())
}

/// Watches instructions and accesses that a board has wrong.
pub fn watch(uc: &mut Uc<'_>) -> Result<(), uc_error> {
    for (at, load) in long_loads::watched(uc.get_data()) {
        let seen = move |uc: &mut Uc<'_>, at: u64, _: u32| {
            long_loads::check(&mut Core(uc), at as u32, load);
        };
        uc.add_code_hook(at.into(), at.into(), seen)?;
    }
    if let Some((first, last)) = border::watched(uc.get_data()) {
        // All loads and stores take Unicorn's slow way then.
        let seen = |uc: &mut Uc<'_>, kind: MemType, address: u64, size: usize, _: i64| {
            let write = kind == MemType::WRITE;
            border::check(&mut Core(uc), write, address as u32, size as u32);
            true
        };
        let hooks = HookType::MEM_READ | HookType::MEM_WRITE;
        uc.add_mem_hook(hooks, first.into(), last.into(), seen)?;
    }
    Ok(())
}

fn raised(uc: &mut Uc<'_>, number: u32) {
    let what = match number {
        raised::EXCEPTION_EXIT if exception::is_return(engine::pc(uc)) => {
            return exception::fetched_nowhere(&mut Core(uc));
        }
        raised::SUPERVISOR_CALL => Raised::SupervisorCall,
        raised::BREAKPOINT => Raised::Breakpoint,
        raised::DATA_ABORT => Raised::DataAbort,
        other => Raised::Other(other),
    };
    exception::raised(&mut Core(uc), what);
}

/// Unicorn takes an instruction for invalid. It does so for WFE, which is fine; true if it was
/// that. PC is behind WFE then, and on any other invalid instruction.
fn invalid_instruction(uc: &mut Uc<'_>) -> bool {
    let is_wfe = ended_in(uc, Flags::ENDS_IN_WFE);
    if is_wfe {
        sleep::for_event(&mut Core(uc));
    }
    is_wfe
}

/// Unicorn returned without an error: true if that was WFI, and the core has slept.
pub fn stopped(uc: &mut Uc<'_>) -> bool {
    let is_wfi = ended_in(uc, Flags::ENDS_IN_WFI);
    if is_wfi {
        sleep::for_interrupt(&mut Core(uc));
    }
    is_wfi
}

/// Whether the core is behind the block that was entered last, which ends so.
fn ended_in(uc: &Uc<'_>, how: Flags) -> bool {
    let (flags, end) = uc.get_data().last;
    flags.any(how) && engine::pc(uc) == end
}
