//! Sampled runs: of compute steps that run alike only the first is executed.
//!
//! Firmware enters each compute step by one function of a known name. Where a step of the same kind
//! has run before, the core stays at that function's entry for as many cycles as that one took, and
//! returns. What happens meanwhile happens as in a full run: devices go on, and interrupts are taken
//! and their handlers executed.

use tilewright_protocol::Mode;
use tilewright_report::Counts;

use crate::core::account::between;
use crate::core::registers::Register;
use crate::engine::Engine;
use crate::machine::Machine;

/// What a step takes: instructions and cycles inside of the kernel.
#[derive(Clone, Copy, Debug)]
struct Taken {
    instructions: u64,
    cycles: u64,
}

/// What the core does with the step that it entered.
#[derive(Clone, Copy, Debug)]
enum Doing {
    /// It executes it: its kind and the counts at its entry.
    Counts { kind: usize, entry: Counts },
    /// It stays at its entry for so many cycles.
    Passes { cycles: u64 },
}

/// What was sampled so far.
#[derive(Debug)]
pub struct Sampling {
    /// Kind of each step of the core's lane.
    kinds: Vec<Option<u32>>,
    /// What steps of each kind take, if one has run.
    taken: Vec<Option<Taken>>,
    doing: Option<Doing>,
    /// Where compute steps return to.
    returns: Vec<u32>,
    /// Steps that were passed over.
    pub passed: u64,
}

impl Sampling {
    /// For a program whose steps are of these kinds; nothing if every step is to be executed.
    pub fn new(mode: Mode, kinds: Vec<Option<u32>>) -> Option<Self> {
        (mode == Mode::Sampled).then(|| {
            let (taken, returns) = (Vec::new(), Vec::new());
            let mut sampling = Self { kinds: Vec::new(), taken, doing: None, returns, passed: 0 };
            sampling.begin(kinds);
            sampling
        })
    }

    /// Another program runs from now on, whose steps are of these kinds.
    pub fn begin(&mut self, kinds: Vec<Option<u32>>) {
        let count = kinds.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        (self.kinds, self.taken) = (kinds, vec![None; count]);
    }

    /// Whether compute steps return to an address.
    pub fn is_return(&self, address: u32) -> bool {
        self.returns.contains(&address)
    }
}

/// The block at the entry of a compute step, at `address`, is about to run; true if the core goes on
/// elsewhere.
pub fn enters(engine: &mut impl Engine, address: u32) -> bool {
    let link = engine.read(Register::Lr);
    let machine = engine.machine_mut();
    let step = machine.marks.running_step();
    let entry = machine.account.counts();
    let Some(sampling) = &mut machine.sampling else { return false };
    if !sampling.is_return(link & !1) {
        sampling.returns.push(link & !1);
    }
    if !matches!(sampling.doing, Some(Doing::Passes { .. })) {
        let kind = step.and_then(|step| *sampling.kinds.get(step as usize)?);
        let Some(kind) = kind.map(|kind| kind as usize) else { return false };
        let Some(taken) = sampling.taken.get(kind).copied().flatten() else {
            sampling.doing = Some(Doing::Counts { kind, entry });
            return false;
        };
        sampling.doing = Some(Doing::Passes { cycles: taken.cycles });
        sampling.passed += 1;
        machine.account.instructions += taken.instructions;
        machine.allow(taken.instructions);
    }
    if passes(machine) {
        machine.table.jump(link & !1);
        engine.write(Register::Pc, link);
    } else {
        // An interrupt is taken at this very block, which is entered again behind its handler.
        engine.write(Register::Pc, address | 1);
    }
    true
}

/// Lets time pass until something interrupts it; whether all of it has.
fn passes(machine: &mut Machine) -> bool {
    loop {
        let now = machine.now();
        let event = machine.bus.next_event().map(|event| event.since(now).max(1));
        let Some(sampling) = &mut machine.sampling else { return true };
        let Some(Doing::Passes { cycles: left }) = sampling.doing else { return true };
        let passed = event.map_or(left, |event| left.min(event));
        sampling.doing = (passed < left).then_some(Doing::Passes { cycles: left - passed });
        machine.account.cycles += passed;
        machine.deadline = 0;
        if passed == left {
            return true;
        }
        machine.catch_up();
        if machine.end.is_some() || machine.bus.nvic().any_pending() {
            return false;
        }
    }
}

/// A block that compute steps return to is about to run.
pub fn returns(machine: &mut Machine) {
    let now = machine.account.counts();
    let Some(sampling) = &mut machine.sampling else { return };
    if let Some(Doing::Counts { kind, entry }) = sampling.doing.take() {
        let counts = between(&entry, &now);
        let taken =
            Taken { instructions: counts.compute_instructions, cycles: counts.compute_cycles.0 };
        if let Some(place) = sampling.taken.get_mut(kind) {
            *place = Some(taken);
        }
    }
}
