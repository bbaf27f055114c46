//! The core of our own as an engine: it runs wherever this library does.

use tilewright_board::CoreKind;
use tilewright_cores::Flags;
use tilewright_cpu::{
    Architecture, Charge, Code, Core, Entry, Host, Leaves, Memory, Meter, Modules, R, Translator,
    Turns,
};
use tilewright_protocol::{Finish, Job};
use tilewright_report::FaultKind;

use crate::board::access::{self, FETCH};
use crate::board::card::CardImage;
use crate::core::block;
use crate::core::exception::{self, Raised};
use crate::core::registers::Register;
use crate::core::sleep;
use crate::core::table::Table;
use crate::engine::{Engine, Trap};
use crate::fault::trapped;
use crate::job::{JobError, open, prepare, run_on};
use crate::machine::{Clock, End, Machine, Sink};
use crate::rules::long_loads::LongLoad;
use crate::rules::{alignment, border, long_loads};
use crate::watch::observer::show;

/// Blocks with one of these are looked at before they run, at one time or another.
const LOOKED_AT: Flags = Flags::FLOAT.with(Flags::MARKED).with(Flags::SENDS_EVENT);
/// CONTROL.FPCA.
const FPCA: u32 = 1 << 2;

/// What a host lends a run on the core of our own.
#[derive(Default)]
pub struct Lent {
    /// What runs modules: blocks that run often are translated.
    pub modules: Option<Box<dyn Modules>>,
    /// What the card holds, instead of the job's image.
    pub card: Option<Box<dyn CardImage>>,
}

/// Does a job on the core of our own; messages but the last go to `sink`.
///
/// # Errors
/// [`JobError`] if it cannot be started. What goes wrong later is in the result.
pub fn run(job: &Job, clock: Clock, sink: Sink, lent: Lent) -> Result<Finish, JobError> {
    let (board, firmware) = open(job)?;
    let mut machine = prepare(board, firmware, job, clock, sink)?;
    if let Some(image) = lent.card {
        machine.card.hold(image);
    }
    let mut own = Own::new(machine);
    if let Some(modules) = lent.modules {
        own.code.translate(Translator::new(modules));
    }
    run_on(&mut own)
}

/// The core of our own, with the machine beside it.
pub struct Own {
    core: Core,
    machine: Machine,
    code: Code,
    /// The block hook has put PC elsewhere.
    moved: bool,
    stopped: bool,
    /// Instructions to look at before they execute, by address.
    long_loads: Vec<(u32, LongLoad)>,
    /// Accesses to look at: their first and last address.
    border: Option<(u32, u32)>,
    /// One of them, once it was refused.
    torn: Option<Torn>,
}

/// An access that may go across the end of a memory.
#[derive(Clone, Copy)]
struct Torn {
    write: bool,
    address: u32,
    bytes: u32,
}

impl Own {
    /// A core in reset, on a machine that was prepared for a job.
    #[must_use]
    pub fn new(mut machine: Machine) -> Self {
        let mut long_loads = long_loads::watched(&machine);
        long_loads.sort_unstable_by_key(|(address, _)| *address);
        let border = border::watched(&machine);
        if border.is_some() {
            machine.memories.show_all();
        }
        let core = Core::default();
        let architecture = match machine.core {
            CoreKind::CortexM4 | CoreKind::CortexM7 => Architecture::Armv7,
            CoreKind::CortexM33 => Architecture::Armv8,
        };
        let (code, moved, stopped) = (Code::new(architecture), false, false);
        Self { core, machine, code, moved, stopped, long_loads, border, torn: None }
    }

    /// Whether an access goes across the border that is looked at. Then the core leaves its code at it.
    fn tears(&mut self, access: Torn) -> bool {
        let Torn { address, bytes, .. } = access;
        let tears = self.border.is_some_and(|(first, last)| {
            (first..=last).contains(&address) && address + bytes > last + 1
        });
        if tears {
            self.torn = Some(access);
        }
        tears
    }

    /// A block is about to run that was not seen yet, or behind which something is due. Its tag is its index in the
    /// machine's table.
    #[inline(never)]
    fn looks_at(&mut self, tag: &mut u32, address: u32, bytes: u32) -> Entry {
        self.moved = false;
        block::entered(self, address, bytes);
        if !self.machine.is_observed() {
            *tag = self.machine.table.index(address).unwrap_or(0) as u32;
        } else if !self.stopped && !self.moved {
            show(self, address);
        }
        if self.stopped {
            Entry::Ends
        } else if self.moved {
            Entry::Elsewhere
        } else {
            Entry::Runs
        }
    }

    /// Does what the core left its code for; the end if it was one.
    fn serve(&mut self, leaves: Leaves) -> Option<End> {
        match leaves {
            Leaves::Ended => {}
            Leaves::WaitsForInterrupt => sleep::for_interrupt(self),
            Leaves::WaitsForEvent => sleep::for_event(self),
            Leaves::Calls => exception::raised(self, Raised::SupervisorCall),
            Leaves::Breakpoint => exception::raised(self, Raised::Breakpoint),
            Leaves::Undefined => return Some(trapped(self, &Trap::Undefined)),
            Leaves::State => return Some(trapped(self, &Trap::State)),
            Leaves::Access if self.stopped => {}
            Leaves::Access if self.torn.is_some() => {
                if let Some(Torn { write, address, bytes }) = self.torn.take() {
                    border::check(self, write, address, bytes);
                }
            }
            Leaves::Access if self.machine.bad_access.is_some() => {
                return Some(trapped(self, &Trap::Access));
            }
            // Nobody refused it, so it was not where its words are.
            Leaves::Access => {
                let pc = self.core.register(R::Pc);
                alignment::end(self, pc);
            }
            Leaves::Nowhere => {
                let pc = self.core.register(R::Pc);
                if !exception::never_runs(pc) {
                    let is_there = self.machine.memories.holds(pc, 1);
                    access::refuse(&mut self.machine, FETCH, pc, is_there);
                    return Some(trapped(self, &Trap::Access));
                }
                exception::fetched_nowhere(self);
            }
        }
        self.machine.end.take()
    }
}

impl Engine for Own {
    const FAULTS_UNALIGNED: bool = true;

    #[inline]
    fn machine(&self) -> &Machine {
        &self.machine
    }

    #[inline]
    fn machine_mut(&mut self) -> &mut Machine {
        &mut self.machine
    }

    fn read(&self, register: Register) -> u32 {
        let core = &self.core;
        match register {
            Register::Xpsr => core.xpsr(),
            Register::Msp => core.stack(false),
            Register::Psp => core.stack(true),
            // The machine knows whether floating-point registers are in use.
            Register::Control => {
                core.control() & !FPCA | u32::from(self.machine.float_context) << 2
            }
            Register::Primask => core.primask().into(),
            Register::Basepri => core.basepri(),
            Register::Faultmask => core.faultmask().into(),
            Register::Fpscr => core.fpscr(),
            Register::Single(number) => core.single(number),
            numbered => core.register(place(numbered)),
        }
    }

    fn write(&mut self, register: Register, value: u32) {
        let core = &mut self.core;
        match register {
            Register::Xpsr => core.set_xpsr(value),
            Register::Msp => core.set_stack(false, value),
            Register::Psp => core.set_stack(true, value),
            Register::Control => core.set_control(value),
            Register::Primask => core.set_primask(value & 1 != 0),
            Register::Basepri => core.set_basepri(value),
            Register::Faultmask => core.set_faultmask(value & 1 != 0),
            Register::Fpscr => core.set_fpscr(value),
            Register::Single(number) => core.set_single(number, value),
            numbered => {
                self.moved |= numbered == Register::Pc;
                core.set_register(place(numbered), value);
            }
        }
    }

    fn stop(&mut self) {
        self.stopped = true;
    }

    fn execute(&mut self, start: u32) -> End {
        self.core.set_register(R::Pc, start);
        let mut code = std::mem::take(&mut self.code);
        let end = loop {
            self.stopped = false;
            let leaves = tilewright_cpu::run(&mut code, self);
            if let Some(end) = self.serve(leaves) {
                break end;
            }
            if leaves == Leaves::Ended {
                let message = format!("the core stopped at 0x{:08x}", self.core.register(R::Pc));
                break End::Fault(FaultKind::Worker, message);
            }
        };
        self.code = code;
        end
    }
}

/// Where a register of the first 16 is.
const fn place(register: Register) -> R {
    match register {
        Register::R0 => R::R0,
        Register::R1 => R::R1,
        Register::R2 => R::R2,
        Register::R3 => R::R3,
        Register::R4 => R::R4,
        Register::R5 => R::R5,
        Register::R6 => R::R6,
        Register::R7 => R::R7,
        Register::R8 => R::R8,
        Register::R9 => R::R9,
        Register::R10 => R::R10,
        Register::R11 => R::R11,
        Register::R12 => R::R12,
        Register::Sp => R::Sp,
        Register::Lr => R::Lr,
        _ => R::Pc,
    }
}

impl Host for Own {
    #[inline(always)]
    fn core(&mut self) -> &mut Core {
        &mut self.core
    }

    #[inline(always)]
    fn parts(&mut self) -> (&mut Core, &mut Memory) {
        (&mut self.core, &mut self.machine.memories)
    }

    #[inline(always)]
    fn enters(&mut self, tag: &mut u32, address: u32, bytes: u32) -> Entry {
        if *tag != 0 && block::runs(&mut self.machine, *tag as usize, address, bytes) {
            return Entry::Runs;
        }
        self.looks_at(tag, address, bytes)
    }

    fn watches(&self, address: u32) -> bool {
        self.long_loads.binary_search_by_key(&address, |(at, _)| *at).is_ok()
    }

    fn sees(&mut self, address: u32) -> Option<()> {
        let found = self.long_loads.binary_search_by_key(&address, |(at, _)| *at).ok()?;
        let (_, load) = self.long_loads[found];
        long_loads::check(self, address, load);
        (!self.stopped).then_some(())
    }

    #[inline(never)]
    fn load(&mut self, address: u32, bytes: u32) -> Option<u32> {
        if self.border.is_some() && self.tears(Torn { write: false, address, bytes }) {
            return None;
        }
        if let Some(value) = self.machine.memories.load_unseen(address, bytes) {
            return Some(value);
        }
        access::load(&mut self.machine, address, bytes)
    }

    #[inline(never)]
    fn store(&mut self, address: u32, bytes: u32, value: u32) -> Option<()> {
        if self.border.is_some() && self.tears(Torn { write: true, address, bytes }) {
            return None;
        }
        access::store(&mut self.machine, address, bytes, value)
    }

    fn charge(&self, tag: u32) -> Option<Charge> {
        self.machine.table.taken(tag as usize, LOOKED_AT)
    }

    fn turns(&self) -> Turns {
        self.machine.table.turns()
    }

    fn stride(&self) -> u32 {
        Table::STRIDE
    }

    fn meter(&mut self) -> Meter {
        let Machine { table, account, deadline, entered, history, .. } = &mut self.machine;
        let (counting, generation) = table.state();
        Meter {
            cycles: account.cycles,
            instructions: account.instructions,
            deadline: *deadline,
            entered: *entered as u32,
            counting,
            generation,
            visits: table.visits() as u32,
            history: history.as_mut_ptr().expose_provenance() as u32,
        }
    }

    fn ran(&mut self, meter: &Meter, tag: u32, behind: u32) {
        let Machine { table, account, entered, last, .. } = &mut self.machine;
        account.cycles = meter.cycles;
        account.instructions = meter.instructions;
        let count = meter.entered.wrapping_sub(*entered as u32);
        *entered = entered.wrapping_add(count as usize);
        table.ran(tag as usize);
        *last = (table.flags(tag as usize), behind);
    }
}
