//! Cortex-M33: in order, one instruction a cycle but for some pairs of 16 bits.
//!
//! Arm publishes no timings of this core. The figures are those that the repository jnk0le/random
//! measured ("pipeline cycle test", doc/cortex_m33, on an RP2350 with a core r1p0); 100230 describes
//! three stages with limited dual issue. Pairs need no aligned word. Of results, those of multiplications, of
//! operands that pass the shifter and of loads are late by a cycle, except where they are added to by a
//! multiplication, or stored. Memories without wait states; ±30 % is a fair expectation.

use crate::instruction::{Class, Instruction, Registers};

/// A taken branch takes a cycle more than one that is not, whether it issues beside the instruction before it
/// or alone.
pub const BRANCH_TAKEN: u32 = 1;
/// Exception entry with stacking, and exit: 12 cycles each (100230, "exceptions").
pub const EXCEPTION: u32 = 12;

/// Cycles until an ordinary result can be used, and one that is late.
const SOON: u32 = 1;
const LATE: u32 = 2;
/// UDIV and SDIV: 2 to 11 cycles by the operands; the middle.
const DIVIDE: u32 = 6;
const FLOAT_LATENCY: u32 = 2;
/// VFMA: its result after three cycles, in which no other float instruction issues.
const FLOAT_ACCUMULATE: u32 = 3;
const FLOAT_DIVIDE: u32 = 14;
const BARRIER: u32 = 3;

/// What issued alone in the last cycle, to which another instruction of 16 bits may be added.
#[derive(Clone, Copy, Debug)]
struct First {
    class: Class,
    writes: Registers,
}

/// The state of the pipeline while a block is issued.
#[derive(Debug)]
pub struct Pipeline {
    /// First cycle in which the next instruction can issue.
    next: u32,
    first: Option<First>,
    /// First cycle in which each register's value can be used.
    ready: [u32; 64],
    /// First cycle in which a float instruction can issue.
    floats: u32,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self { next: 0, first: None, ready: [0; 64], floats: 0 }
    }
}

/// Cycles for which nothing else issues, and cycles until the result can be used.
fn timing(instruction: &Instruction) -> (u32, u32) {
    let result = if instruction.shifted { LATE } else { SOON };
    match instruction.class {
        Class::Load => (1, LATE),
        // MULS, which sets the flags.
        Class::Multiply if instruction.bytes == 2 => (2, LATE),
        Class::Multiply => (1, LATE),
        Class::Divide => (DIVIDE, DIVIDE),
        Class::LoadMany(words) | Class::FloatLoad(words) => (many(words), LATE),
        Class::StoreMany(words) | Class::FloatStore(words) => (many(words), SOON),
        Class::BranchTable => (2, SOON),
        Class::BranchIndirect if instruction.addresses != Registers::NONE => (2, SOON),
        Class::Barrier => (BARRIER, SOON),
        Class::FloatAdd | Class::FloatMultiply => (1, FLOAT_LATENCY),
        Class::FloatAccumulate => (1, FLOAT_ACCUMULATE),
        Class::FloatDivide(_) => (FLOAT_DIVIDE, FLOAT_DIVIDE),
        Class::Alu | Class::Dsp => (1, result),
        Class::Store
        | Class::Branch
        | Class::BranchIndirect
        | Class::IfThen
        | Class::Nop
        | Class::FloatMove
        | Class::System
        | Class::SendEvent
        | Class::WaitForInterrupt
        | Class::WaitForEvent
        | Class::SupervisorCall
        | Class::Breakpoint
        | Class::Undefined => (1, SOON),
    }
}

fn many(words: u8) -> u32 {
    u32::from(words.max(1))
}

/// Operands that are used a cycle behind the others: what a multiplication adds to, what is stored.
fn used_late(instruction: &Instruction) -> Registers {
    match instruction.class {
        Class::Multiply => instruction.accumulates,
        Class::Store | Class::StoreMany(_) => instruction.reads.without(instruction.addresses),
        _ => Registers::NONE,
    }
}

/// Whether an instruction of 16 bits issues beside another before it. A branch that hangs on what that one
/// writes does if it is not taken, and takes two cycles if it is: it counts as alone, so that the
/// cycle is too many where it is not taken.
fn pairs(first: First, second: &Instruction) -> bool {
    match second.class {
        _ if second.bytes != 2 => false,
        Class::IfThen => true,
        Class::Branch => !first.writes.meets(second.reads),
        Class::Alu | Class::Load | Class::Store | Class::Nop => first.class == Class::Nop,
        _ => false,
    }
}

impl Pipeline {
    fn ready(&self, registers: Registers) -> u32 {
        registers.numbers().map(|register| self.ready[register]).max().unwrap_or(0)
    }

    /// Issues the next instruction; gives the cycles that it waited for operands.
    pub fn issue(&mut self, instruction: &Instruction) -> u32 {
        let (occupies, latency) = timing(instruction);
        let late = used_late(instruction);
        let mut needed = self.ready(instruction.reads.without(late));
        needed = needed.max(self.ready(late).saturating_sub(LATE - SOON));
        if instruction.float {
            needed = needed.max(self.floats);
        }
        let beside =
            needed < self.next && self.first.is_some_and(|first| pairs(first, instruction));
        let cycle = if beside { self.next - 1 } else { self.next.max(needed) };
        let waited = cycle.saturating_sub(self.next);
        if !beside {
            self.next = cycle + occupies;
        }
        let is_first = !beside && instruction.bytes == 2;
        self.first =
            is_first.then_some(First { class: instruction.class, writes: instruction.writes });
        if instruction.class == Class::FloatAccumulate {
            self.floats = cycle + FLOAT_ACCUMULATE;
        }
        self.write(instruction, cycle, latency);
        waited
    }

    /// Words that are loaded together come one a cycle, in the order of their registers; an address that is
    /// moved on is an ordinary result.
    fn write(&mut self, instruction: &Instruction, cycle: u32, latency: u32) {
        let words = match instruction.class {
            Class::Load => 1,
            Class::LoadMany(words) | Class::FloatLoad(words) => u32::from(words),
            _ => u32::MAX,
        };
        let moved = instruction.writes.count() > words;
        let mut loaded = 0;
        for register in instruction.writes.numbers() {
            let is_address = instruction.addresses.0 >> register & 1 != 0;
            self.ready[register] = match words {
                u32::MAX => cycle + latency,
                _ if moved && is_address => cycle + SOON,
                _ => {
                    loaded += 1;
                    cycle + loaded - 1 + latency
                }
            };
        }
    }

    /// Cycles until an instruction after the block can issue.
    pub const fn cycles(&self) -> u32 {
        self.next
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
    fn arithmetic_does_not_pair_but_with_a_nop_before_it() {
        // movs r0,#1; movs r1,#1; movs r2,#1; movs r3,#1
        assert_eq!(cycles(&[0x2001, 0x2101, 0x2201, 0x2301]), 4);
        // nop; movs r0,#1. movs r0,#1; nop. nop; add.w r8,r8,#1
        assert_eq!(cycles(&[0xbf00, 0x2001]), 1);
        assert_eq!(cycles(&[0x2001, 0xbf00]), 2);
        assert_eq!(cycles(&[0xbf00, 0xf108, 0x0801]), 2);
        // nop; ldr r0,[r1]; nop; str r0,[r1]; three nops
        assert_eq!(cycles(&[0xbf00, 0x6808, 0xbf00, 0x6008]), 2);
        assert_eq!(cycles(&[0xbf00; 3]), 2);
    }

    #[test]
    fn branches_and_if_then_issue_beside_what_does_not_decide_them() {
        // subs r7,#1; add r0,r1; bne. subs r7,#1; bne. ldmia r6!,{r0-r3}; bne
        assert_eq!(cycles(&[0x3f01, 0x4408, 0xd1fc]), 2);
        assert_eq!(cycles(&[0x3f01, 0xd1fc]), 2);
        assert_eq!(cycles(&[0xce0f, 0xd1fc]), 4);
        // subs.w r7,r7,#1; bne. add r0,r1; bne.w
        assert_eq!(cycles(&[0xf1b7, 0x0701, 0xd1fc]), 2);
        assert_eq!(cycles(&[0x4408, 0xf47f, 0xaffe]), 2);
        // cmp r0,#0; it eq
        assert_eq!(cycles(&[0x2800, 0xbf08]), 1);
    }

    #[test]
    fn a_loaded_value_is_a_cycle_late_but_to_be_stored_or_added_to() {
        // ldr r0,[r1]; adds r0,#1. ldr r0,[r1]; adds r2,#1. ldr r0,[r1]; ldr r2,[r0]
        assert_eq!(cycles(&[0x6808, 0x3001]), 3);
        assert_eq!(cycles(&[0x6808, 0x3201]), 2);
        assert_eq!(cycles(&[0x6808, 0x6802]), 3);
        // ldr r0,[r1]; str r0,[r2]. ldr r0,[r1]; str r2,[r0]
        assert_eq!(cycles(&[0x6808, 0x6010]), 2);
        assert_eq!(cycles(&[0x6808, 0x6002]), 3);
        // ldr r0,[r1]; smlad r0,r1,r2,r0. ldr r1,[r0]; smlad r0,r1,r2,r0
        assert_eq!(cycles(&[0x6808, 0xfb21, 0x0002]), 2);
        assert_eq!(cycles(&[0x6801, 0xfb21, 0x0002]), 3);
        // ldr r2,[r0],#4; ldr r3,[r0],#4: the address is there at once.
        assert_eq!(cycles(&[0xf850, 0x2b04, 0xf850, 0x3b04]), 2);
    }

    #[test]
    fn products_issue_each_cycle_and_are_forwarded_to_what_adds_to_them() {
        // smlad r0,r1,r2,r0 twice. smlad r0,r1,r2,r0; smlad r3,r1,r2,r3
        assert_eq!(cycles(&[0xfb21, 0x0002, 0xfb21, 0x0002]), 2);
        assert_eq!(cycles(&[0xfb21, 0x0002, 0xfb21, 0x3302]), 2);
        // smlad r0,r1,r2,r0; adds r0,#1. smlad r1,r1,r2,r0; smlad r0,r1,r2,r0
        assert_eq!(cycles(&[0xfb21, 0x0002, 0x3001]), 3);
        assert_eq!(cycles(&[0xfb21, 0x0102, 0xfb21, 0x0002]), 3);
        // smlad r0,r1,r2,r0; str r0,[r1]. muls r0,r1,r0
        assert_eq!(cycles(&[0xfb21, 0x0002, 0x6008]), 2);
        assert_eq!(cycles(&[0x4348]), 2);
    }

    #[test]
    fn what_passed_the_shifter_is_a_cycle_late() {
        // add.w r0,r1,r2,lsl #2; adds r0,#1. add.w r0,r1,r2; adds r0,#1
        assert_eq!(cycles(&[0xeb01, 0x0082, 0x3001]), 3);
        assert_eq!(cycles(&[0xeb01, 0x0002, 0x3001]), 2);
        // eor r0,r0,#0x1fc0; adds r0,#1. add.w r0,r0,#1; adds r0,#1
        assert_eq!(cycles(&[0xf480, 0x50fe, 0x3001]), 3);
        assert_eq!(cycles(&[0xf100, 0x0001, 0x3001]), 2);
        // lsl.w r0,r1,#2; adds r0,#1
        assert_eq!(cycles(&[0xea4f, 0x0081, 0x3001]), 2);
        // sxtab16 r0,r2,r1; adds r0,#1. sxtb16 r0,r1; adds r0,#1
        assert_eq!(cycles(&[0xfa22, 0xf081, 0x3001]), 3);
        assert_eq!(cycles(&[0xfa2f, 0xf081, 0x3001]), 2);
        // pkhbt r0,r1,r2,lsl #16; smlad r3,r1,r2,r0: added to, it is in time.
        assert_eq!(cycles(&[0xeac1, 0x4002, 0xfb21, 0x0302]), 2);
    }

    #[test]
    fn many_words_move_one_a_cycle() {
        // push {r4-r7,lr}; ldrd r0,r1,[r2,#8]
        assert_eq!(cycles(&[0xb5f0]), 5);
        assert_eq!(cycles(&[0xe9d2, 0x0102]), 2);
        // ldrd r0,r1,[r2,#8]; adds r0,#1. ldrd r0,r1,[r2,#8]; adds r1,#1
        assert_eq!(cycles(&[0xe9d2, 0x0102, 0x3001]), 3);
        assert_eq!(cycles(&[0xe9d2, 0x0102, 0x3101]), 4);
    }

    #[test]
    fn floats_wait_for_a_fused_product() {
        // vfma.f32 s0,s1,s2; vadd.f32 s4,s5,s6. vfma.f32 s0,s1,s2; nop; nop; vadd.f32 s4,s5,s6
        let [fused, other] = [[0xeea0, 0x0a81], [0xee32, 0x2a83]];
        assert_eq!(cycles(&[fused, other].concat()), 4);
        assert_eq!(cycles(&[&fused[..], &[0x2001, 0x2101], &other].concat()), 4);
        // vadd.f32 s0,s1,s2; vmul.f32 s3,s0,s0
        assert_eq!(cycles(&[0xee30, 0x0a81, 0xee60, 0x1a00]), 3);
    }
}
