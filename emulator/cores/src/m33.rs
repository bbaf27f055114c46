//! Cortex-M33: in order, one instruction a cycle but for some pairs of 16 bits.
//!
//! Arm publishes no timings of this core. The figures are those of the repository jnk0le/random
//! ("pipeline cycle test") and of Arm's description of the pipeline (100230, "about the
//! processor": three stages, limited dual issue of common 16-bit pairs). Whether two instructions
//! lie in one word, which pairs need, is not known here: pairs are counted wherever they stand.
//! Memories without wait states; ±30 % is a fair expectation.

use crate::instruction::{Class, Instruction, Registers};

/// A taken branch takes a cycle more than one that is not; folded ones do not, which is not
/// modelled.
pub const BRANCH_TAKEN: u32 = 1;
/// Exception entry with stacking, and exit: 12 cycles each (100230, "exceptions").
pub const EXCEPTION: u32 = 12;

/// Cycles until a result can be used.
const LOAD_LATENCY: u32 = 2;
const MULTIPLY_LATENCY: u32 = 2;
const FLOAT_LATENCY: u32 = 2;
/// UDIV and SDIV: 2 to 11 cycles by the operands; the middle.
const DIVIDE: u32 = 6;
const FLOAT_ACCUMULATE: u32 = 3;
const FLOAT_DIVIDE: u32 = 14;
const BARRIER: u32 = 3;

/// The state of the pipeline while a block is issued.
#[derive(Debug)]
pub struct Pipeline {
    /// First cycle in which the next instruction can issue.
    next: u32,
    /// Whether an instruction of 16 bits issued alone in the cycle before that, to which another
    /// may be added.
    half: bool,
    /// First cycle in which each register's value can be used.
    ready: [u32; 64],
}

impl Default for Pipeline {
    fn default() -> Self {
        Self { next: 0, half: false, ready: [0; 64] }
    }
}

/// Cycles for which nothing else issues, and cycles until the result can be used.
fn timing(instruction: &Instruction) -> (u32, u32) {
    match instruction.class {
        Class::Load => (1, LOAD_LATENCY),
        Class::Multiply => (1, MULTIPLY_LATENCY),
        Class::Divide => (DIVIDE, DIVIDE),
        Class::LoadMany(words) => (many(words), many(words) - 1 + LOAD_LATENCY),
        Class::StoreMany(words) => (many(words), 1),
        Class::FloatLoad(words) => (many(words), many(words) - 1 + LOAD_LATENCY),
        Class::FloatStore(words) => (many(words), 1),
        Class::BranchTable => (2, 1),
        Class::BranchIndirect if instruction.addresses != Registers::NONE => (2, 1),
        Class::Barrier => (BARRIER, 1),
        Class::FloatAdd | Class::FloatMultiply => (1, FLOAT_LATENCY),
        Class::FloatAccumulate => (1, FLOAT_ACCUMULATE),
        Class::FloatDivide(_) => (FLOAT_DIVIDE, FLOAT_DIVIDE),
        Class::Alu
        | Class::Dsp
        | Class::Store
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
        | Class::Undefined => (1, 1),
    }
}

fn many(words: u8) -> u32 {
    u32::from(words.max(1))
}

impl Pipeline {
    /// Issues the next instruction; gives the cycles that it waited for operands.
    pub fn issue(&mut self, instruction: &Instruction) -> u32 {
        let (occupies, latency) = timing(instruction);
        let needed = instruction.reads.numbers().map(|register| self.ready[register]).max();
        let needed = needed.unwrap_or(0);
        let pairs = instruction.bytes == 2
            && matches!(instruction.class, Class::Alu | Class::IfThen | Class::Nop);
        let beside = self.half && pairs && needed < self.next;
        let cycle = if beside { self.next - 1 } else { self.next.max(needed) };
        let waited = cycle.saturating_sub(self.next);
        self.half = pairs && !beside;
        self.next = cycle + occupies;
        for register in instruction.writes.numbers() {
            self.ready[register] = cycle + latency;
        }
        waited
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
    fn two_independent_instructions_of_16_bits_pair() {
        // movs r0,#1; movs r1,#1; movs r2,#1; movs r3,#1
        assert_eq!(cycles(&[0x2001, 0x2101, 0x2201, 0x2301]), 2);
        // adds r0,#1 four times
        assert_eq!(cycles(&[0x3001; 4]), 4);
        // add.w r8,r8,#1; add.w r9,r9,#1
        assert_eq!(cycles(&[0xf108, 0x0801, 0xf109, 0x0901]), 2);
    }

    #[test]
    fn a_loaded_value_is_a_cycle_late() {
        // ldr r0,[r1]; adds r0,#1
        assert_eq!(cycles(&[0x6808, 0x3001]), 3);
        // ldr r0,[r1]; adds r2,#1
        assert_eq!(cycles(&[0x6808, 0x3201]), 2);
    }

    #[test]
    fn products_issue_each_cycle_unless_they_wait_for_each_other() {
        // smlad r0,r1,r2,r0 twice
        assert_eq!(cycles(&[0xfb21, 0x0002, 0xfb21, 0x0002]), 3);
        // smlad r0,r1,r2,r0; smlad r3,r1,r2,r3
        assert_eq!(cycles(&[0xfb21, 0x0002, 0xfb21, 0x3302]), 2);
    }

    #[test]
    fn many_words_move_one_a_cycle() {
        // push {r4-r7,lr}
        assert_eq!(cycles(&[0xb5f0]), 5);
    }
}
