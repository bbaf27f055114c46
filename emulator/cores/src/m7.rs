//! Cortex-M7: in order, two instructions a cycle at best.
//!
//! Arm publishes no timings of this core. The figures are those that others measured: the
//! repository jnk0le/random ("pipeline cycle test"), quinapalus.com/cm7cycles.html and LLVM's
//! ARMScheduleM7.td. The model assumes memories without wait states (TCM, or cache hits), aligned
//! accesses and a full fetch queue; ±30 % is a fair expectation.

use crate::instruction::{Class, Instruction, Registers};

/// A branch that was not foreseen: 6 to 8 cycles (jnk0le/random); the middle.
pub const BRANCH_MISPREDICTED: u32 = 7;
/// Exception entry with stacking, and exit: 12 cycles each (Arm's "Beginner guide on interrupt
/// latency": 12 typically, 14 at worst).
pub const EXCEPTION: u32 = 12;

/// Cycles until a result can be used by the ALU: loads 2 (load-use costs one), more by one to
/// form an address.
const LOAD_LATENCY: u32 = 2;
const ADDRESS_DELAY: u32 = 1;
const MULTIPLY_LATENCY: u32 = 2;
const DSP_LATENCY: u32 = 2;
/// UDIV and SDIV: about 7 cycles (quinapalus), nothing beside them.
const DIVIDE: u32 = 7;
const FLOAT_LATENCY: u32 = 3;
/// VFMA keeps one a cycle with three chains (jnk0le/random).
const FLOAT_ACCUMULATE_LATENCY: u32 = 3;
const FLOAT_MOVE_LATENCY: u32 = 1;
/// VDIV.F32 and VSQRT.F32: 16 cycles; in double precision about 30 (quinapalus).
const FLOAT_DIVIDE: [u32; 2] = [16, 30];
const BARRIER: u32 = 4;
const SYSTEM: u32 = 2;
const BRANCH_TABLE: u32 = 6;

/// Where in the core an instruction goes: what stands in two instructions' way to issue together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Port {
    /// Either ALU.
    Alu,
    /// The only DSP and multiply pipe.
    Multiply,
    /// One of two load slots.
    Load,
    /// The only store slot.
    Store,
    /// The only branch slot.
    Branch,
    /// The only floating-point slot.
    Float,
    /// Nothing issues beside it.
    Alone,
}

struct Timing {
    port: Port,
    /// Cycles for which nothing else issues, 1 if the next cycle is free.
    occupies: u32,
    /// Cycles until the result can be used.
    latency: u32,
}

fn timing(class: Class) -> Timing {
    let t = |port, occupies, latency| Timing { port, occupies, latency };
    match class {
        Class::Alu | Class::IfThen | Class::Nop | Class::SendEvent => t(Port::Alu, 1, 1),
        Class::Dsp => t(Port::Multiply, 1, DSP_LATENCY),
        Class::Multiply => t(Port::Multiply, 1, MULTIPLY_LATENCY),
        Class::Divide => t(Port::Alone, DIVIDE, DIVIDE),
        Class::Load => t(Port::Load, 1, LOAD_LATENCY),
        Class::Store => t(Port::Store, 1, 1),
        Class::LoadMany(words) => many(words, LOAD_LATENCY),
        Class::StoreMany(words) => many(words, 1),
        Class::Branch | Class::BranchIndirect => t(Port::Branch, 1, 1),
        Class::BranchTable => t(Port::Alone, BRANCH_TABLE, 1),
        Class::SupervisorCall | Class::Breakpoint | Class::Undefined => t(Port::Alone, 1, 1),
        Class::WaitForInterrupt | Class::WaitForEvent | Class::System => t(Port::Alone, SYSTEM, 1),
        Class::Barrier => t(Port::Alone, BARRIER, 1),
        Class::FloatAdd | Class::FloatMultiply => t(Port::Float, 1, FLOAT_LATENCY),
        Class::FloatAccumulate => t(Port::Float, 1, FLOAT_ACCUMULATE_LATENCY),
        Class::FloatDivide(double) => {
            let cycles = FLOAT_DIVIDE[double as usize];
            t(Port::Float, 1, cycles)
        }
        Class::FloatMove => t(Port::Float, 1, FLOAT_MOVE_LATENCY),
        Class::FloatLoad(_) => t(Port::Load, 1, LOAD_LATENCY),
        Class::FloatStore(_) => t(Port::Store, 1, 1),
    }
}

/// Two words a cycle, nothing beside them.
fn many(words: u8, latency: u32) -> Timing {
    let cycles = if words > 2 { (words as u32).div_ceil(2) } else { 1 };
    Timing { port: Port::Alone, occupies: cycles, latency: cycles - 1 + latency }
}

/// The state of the pipeline while a block is issued.
pub struct Pipeline {
    /// Cycle in which the last instruction issued.
    cycle: u32,
    /// Cycles from there until another can issue at all.
    occupied: u32,
    /// What issued in that cycle.
    issued: Option<Port>,
    /// Whether a second instruction issued in that cycle.
    full: bool,
    /// First cycle in which each register's value can be used.
    ready: [u32; 64],
    started: bool,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self { cycle: 0, occupied: 1, issued: None, full: false, ready: [0; 64], started: false }
    }
}

impl Pipeline {
    fn ready(&self, registers: Registers) -> u32 {
        let mut bits = registers.0;
        let mut latest = 0;
        while bits != 0 {
            latest = latest.max(self.ready[bits.trailing_zeros() as usize]);
            bits &= bits - 1;
        }
        latest
    }

    /// Issues the next instruction; gives the cycles that it waited for operands.
    pub fn issue(&mut self, instruction: &Instruction) -> u32 {
        let timing = timing(instruction.class);
        // The flags are forwarded to the branch that ends a block in the same cycle.
        let mut needed = instruction.reads.0 & !instruction.accumulates.0;
        if timing.port == Port::Branch {
            needed &= !Registers::FLAGS.0;
        }
        let mut earliest = self.ready(Registers(needed));
        earliest = earliest.max(self.ready(instruction.accumulates).saturating_sub(1));
        let addresses = self.ready(instruction.addresses);
        if addresses > self.cycle {
            earliest = earliest.max(addresses + ADDRESS_DELAY);
        }
        let beside = self.started
            && !self.full
            && earliest <= self.cycle
            && self.issued.is_some_and(|port| can_pair(port, timing.port));
        let mut waited = 0;
        if beside {
            self.full = true;
            self.occupied = self.occupied.max(timing.occupies);
        } else {
            let next = if self.started { self.cycle + self.occupied } else { 0 };
            self.cycle = next.max(earliest);
            waited = self.cycle - next;
            self.full = false;
            self.occupied = timing.occupies;
        }
        self.issued = Some(timing.port);
        self.started = true;
        let mut bits = instruction.writes.0;
        while bits != 0 {
            self.ready[bits.trailing_zeros() as usize] = self.cycle + timing.latency;
            bits &= bits - 1;
        }
        waited
    }

    /// Cycles until an instruction after the block can issue.
    pub fn cycles(&self) -> u32 {
        if self.started { self.cycle + self.occupied } else { 0 }
    }
}

fn can_pair(first: Port, second: Port) -> bool {
    match (first, second) {
        (Port::Alone, _) | (_, Port::Alone) => false,
        (Port::Alu, Port::Alu) | (Port::Load, Port::Load) => true,
        (a, b) => a != b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Decoder;

    fn cycles(halfwords: &[u16]) -> u32 {
        let bytes: Vec<u8> = halfwords.iter().flat_map(|h| h.to_le_bytes()).collect();
        let mut pipeline = Pipeline::default();
        for instruction in Decoder::new(&bytes) {
            pipeline.issue(&instruction);
        }
        pipeline.cycles()
    }

    #[test]
    fn independent_alu_instructions_issue_in_pairs() {
        // movs r0,#1; movs r1,#1; movs r2,#1; movs r3,#1
        assert_eq!(cycles(&[0x2001, 0x2101, 0x2201, 0x2301]), 2);
    }

    #[test]
    fn a_chain_issues_one_by_one() {
        // adds r0,#1 four times
        assert_eq!(cycles(&[0x3001; 4]), 4);
    }

    #[test]
    fn a_loaded_value_is_late() {
        // ldr r0,[r1]; adds r0,#1
        assert_eq!(cycles(&[0x6808, 0x3001]), 3);
        // ldr r0,[r1]; ldr r0,[r0]: an address is needed a cycle earlier
        assert_eq!(cycles(&[0x6808, 0x6800]), 4);
    }

    #[test]
    fn accumulation_keeps_one_a_cycle() {
        // smlad r0,r1,r2,r0 four times
        assert_eq!(cycles(&[0xfb21, 0x0002, 0xfb21, 0x0002, 0xfb21, 0x0002, 0xfb21, 0x0002]), 4);
    }

    #[test]
    fn dsp_instructions_do_not_pair_with_each_other() {
        // smlad r0,r1,r2,r0; smlad r3,r1,r2,r3: independent, one multiplier
        assert_eq!(cycles(&[0xfb21, 0x0002, 0xfb21, 0x3302]), 2);
        // sxtb16 r0,r1; smlad r3,r1,r2,r3
        assert_eq!(cycles(&[0xfa2f, 0xf081, 0xfb21, 0x3302]), 2);
        // smlad r0,r1,r2,r0; ldr r4,[r5]; smlad r3,r1,r2,r3; adds r6,#1
        assert_eq!(cycles(&[0xfb21, 0x0002, 0x682c, 0xfb21, 0x3302, 0x3601]), 2);
    }

    #[test]
    fn two_loads_pair_and_two_stores_do_not() {
        // ldr r4,[r5]; ldr r6,[r7]
        assert_eq!(cycles(&[0x682c, 0x683e]), 1);
        // str r4,[r5]; str r6,[r7]
        assert_eq!(cycles(&[0x602c, 0x603e]), 2);
        // ldr r4,[r5]; str r6,[r7]
        assert_eq!(cycles(&[0x682c, 0x603e]), 1);
    }

    #[test]
    fn many_words_move_in_pairs() {
        // push {r4-r7,lr} moves five words; ldmia r0,{r1-r4} four
        assert_eq!(cycles(&[0xb5f0]), 3);
        assert_eq!(cycles(&[0xc81e]), 2);
    }

    #[test]
    fn a_division_stands_alone() {
        // sdiv r0,r1,r2; movs r3,#1
        assert_eq!(cycles(&[0xfb91, 0xf0f2, 0x2301]), 8);
    }
}
