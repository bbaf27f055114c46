//! Cortex-M4: in order, one instruction at a time, no branch prediction.
//!
//! Arm publishes the timings: Cortex-M4 Technical Reference Manual (100166; DDI 0439), table 3-1,
//! "load/store timings" behind it, and table 7-1 for the floating-point unit. The model assumes
//! memories without wait states and aligned accesses. Divisions and the refill behind a taken
//! branch depend on values and addresses; a middle stands for them.

use crate::instruction::{Class, Instruction, Registers};

/// Refill behind a taken branch: 1 to 3 cycles by alignment and width of the target (P in
/// table 3-1); the middle.
pub const BRANCH_TAKEN: u32 = 2;
/// Exception entry with stacking, and exit: 12 cycles each without wait states (Arm's "Beginner
/// guide on interrupt latency").
pub const EXCEPTION: u32 = 12;

/// UDIV and SDIV: 2 to 12 cycles by the operands; the middle.
const DIVIDE: u32 = 7;
/// VFMA, VMLA and their kin.
const FLOAT_ACCUMULATE: u32 = 3;
/// VDIV and VSQRT.
const FLOAT_DIVIDE: u32 = 14;
/// At least one for the barrier, and what stands in the pipeline behind it.
const BARRIER: u32 = 3;

/// What the instruction before leaves to the next.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    /// Registers that a single load fetches: its last cycle can be shared by a load or store
    /// that does not form an address of them.
    loads: Option<Registers>,
    /// Results of data processing: too late to form an address of without a stall.
    computes: Registers,
    /// Results of the floating-point unit: too late for the next instruction.
    floats: Registers,
    /// Whether IT can be folded onto it.
    narrow: bool,
}

/// The state of the pipeline while a block is issued.
#[derive(Debug, Default)]
pub struct Pipeline {
    cycles: u32,
    before: Before,
}

impl Pipeline {
    /// Issues the next instruction; gives the cycles that it waited for operands.
    pub fn issue(&mut self, instruction: &Instruction) -> u32 {
        let before = std::mem::take(&mut self.before);
        self.before.narrow = instruction.bytes == 2;
        let addresses = instruction.addresses;
        let late = u32::from(before.computes.meets(addresses))
            + u32::from(before.floats.meets(instruction.reads));
        let follows = before.loads.is_some_and(|loaded| !loaded.meets(addresses));
        self.cycles += late
            + match instruction.class {
                Class::Alu | Class::Dsp | Class::Multiply => {
                    self.before.computes = instruction.writes;
                    1
                }
                Class::IfThen => u32::from(!before.narrow),
                Class::Divide => {
                    self.before.computes = instruction.writes;
                    DIVIDE
                }
                Class::Load | Class::FloatLoad(1) => {
                    self.before.loads = Some(fetched(instruction));
                    2 - u32::from(follows)
                }
                // With a constant offset it leaves the pipeline at once; the sum of two registers
                // takes a cycle, which a load before it hides.
                Class::Store => 1 + u32::from(addresses.count() > 1 && !follows),
                Class::FloatStore(1) => 2 - u32::from(follows),
                Class::LoadMany(words) | Class::StoreMany(words) => 1 + u32::from(words),
                Class::FloatLoad(words) | Class::FloatStore(words) => 1 + u32::from(words),
                // LDR to PC fetches its target first.
                Class::BranchIndirect => 1 + u32::from(addresses != Registers::NONE),
                Class::BranchTable => 2,
                Class::Barrier => BARRIER,
                Class::FloatAdd | Class::FloatMultiply => {
                    self.before.floats = instruction.writes;
                    1
                }
                Class::FloatAccumulate => {
                    self.before.floats = instruction.writes;
                    FLOAT_ACCUMULATE
                }
                Class::FloatDivide(_) => FLOAT_DIVIDE,
                Class::Branch
                | Class::Nop
                | Class::FloatMove
                | Class::System
                | Class::SendEvent
                | Class::WaitForInterrupt
                | Class::WaitForEvent
                | Class::SupervisorCall
                | Class::Breakpoint
                | Class::Undefined => 1,
            };
        late
    }

    /// Cycles until an instruction after the block can issue.
    pub const fn cycles(&self) -> u32 {
        self.cycles
    }
}

/// What a load fetches: what it writes but for a base that it moves on.
fn fetched(load: &Instruction) -> Registers {
    if load.writes.count() > 1 { load.writes.without(load.addresses) } else { load.writes }
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
    fn a_run_of_loads_takes_one_more_than_there_are() {
        // ldr r0,[r4]; ldr r1,[r5]; ldr r2,[r6,r7]
        assert_eq!(cycles(&[0x6820]), 2);
        assert_eq!(cycles(&[0x6820, 0x6829]), 3);
        assert_eq!(cycles(&[0x6820, 0x6829, 0x59f2]), 4);
    }

    #[test]
    fn an_address_that_was_just_loaded_breaks_the_run() {
        // ldr r0,[r0]; ldr r0,[r0]
        assert_eq!(cycles(&[0x6800, 0x6800]), 4);
    }

    #[test]
    fn a_base_that_moves_on_does_not_break_the_run() {
        // ldr r0,[r1],#4; ldr r2,[r1],#4
        assert_eq!(cycles(&[0xf851, 0x0b04, 0xf851, 0x2b04]), 3);
    }

    #[test]
    fn an_address_that_was_just_computed_is_late() {
        // adds r4,#4; ldr r0,[r4]
        assert_eq!(cycles(&[0x3404, 0x6820]), 4);
        // adds r5,#4; ldr r0,[r4]
        assert_eq!(cycles(&[0x3504, 0x6820]), 3);
    }

    #[test]
    fn stores_take_one_and_with_two_registers_two() {
        // str r0,[r1,#4]; str r0,[r1,r2]; ldr r0,[r1]; str r0,[r3,r2]
        assert_eq!(cycles(&[0x6048]), 1);
        assert_eq!(cycles(&[0x5088]), 2);
        assert_eq!(cycles(&[0x6808, 0x5098]), 3);
        // Nothing shares a store's cycle: str r0,[r1]; ldr r0,[r1]
        assert_eq!(cycles(&[0x6008, 0x6808]), 3);
    }

    #[test]
    fn many_words_take_one_more_than_there_are() {
        // push {r4-r7,lr}; ldrd r0,r1,[r2,#8]
        assert_eq!(cycles(&[0xb5f0]), 6);
        assert_eq!(cycles(&[0xe9d2, 0x0102]), 3);
    }

    #[test]
    fn multiplications_take_one_each_and_chain() {
        // smlad r0,r1,r2,r0 twice; smlal r0,r1,r2,r3
        assert_eq!(cycles(&[0xfb21, 0x0002, 0xfb21, 0x0002]), 2);
        assert_eq!(cycles(&[0xfbc2, 0x0103]), 1);
    }

    #[test]
    fn if_then_folds_onto_a_narrow_instruction() {
        // cmp r0,#0; it eq
        assert_eq!(cycles(&[0x2800, 0xbf08]), 1);
        // add.w r8,r8,#1; it eq
        assert_eq!(cycles(&[0xf108, 0x0801, 0xbf08]), 2);
    }

    #[test]
    fn a_float_result_is_late_for_the_next_instruction_only() {
        // vadd.f32 s0,s1,s2; vmul.f32 s3,s0,s0
        assert_eq!(cycles(&[0xee30, 0x0a81, 0xee60, 0x1a00]), 3);
        // vadd.f32 s0,s1,s2; nop; vmul.f32 s3,s0,s0
        assert_eq!(cycles(&[0xee30, 0x0a81, 0xbf00, 0xee60, 0x1a00]), 3);
    }
}
