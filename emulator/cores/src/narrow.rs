//! The 16-bit encodings: Armv7-M Architecture Reference Manual (DDI 0403E), A5.2.

use crate::instruction::{Class, Instruction, Registers};

const NONE: Registers = Registers::NONE;
const FLAGS: Registers = Registers::FLAGS;
const SP: u32 = 13;
const LR: u32 = 14;
const PC: u32 = 15;

fn r(halfword: u32, shift: u32) -> Registers {
    Registers::core(halfword >> shift & 7)
}

/// Decodes an instruction of 16 bits. Flags that an instruction does not set within an IT block
/// count as set: the order of issue hardly depends on it.
pub fn decode(h: u32) -> Instruction {
    match h >> 12 {
        0x0..=0x3 => immediate(h),
        0x4 => match h >> 10 & 3 {
            0 => data_processing(h),
            1 => special(h),
            _ => load(Registers::core(PC), r(h, 8)),
        },
        0x5 => {
            let addresses = r(h, 3).with(r(h, 6));
            if h >> 9 & 7 < 3 { store(addresses, r(h, 0)) } else { load(addresses, r(h, 0)) }
        }
        0x6..=0x8 => single(h, r(h, 3), r(h, 0)),
        0x9 => single(h, Registers::core(SP), r(h, 8)),
        0xa => {
            let base = if h & 0x800 == 0 { PC } else { SP };
            Instruction::narrow(Class::Alu, Registers::core(base), r(h, 8))
        }
        0xb => miscellaneous(h),
        0xc => {
            let base = r(h, 8);
            many(h & 0x800 != 0, h & 0xff, base)
        }
        0xd => match h >> 8 & 15 {
            14 => Instruction::narrow(Class::Undefined, NONE, NONE),
            15 => Instruction::narrow(Class::SupervisorCall, NONE, NONE),
            _ => Instruction::narrow(Class::Branch, FLAGS, NONE),
        },
        _ => Instruction::narrow(Class::Branch, NONE, NONE),
    }
}

fn load(addresses: Registers, to: Registers) -> Instruction {
    Instruction::narrow(Class::Load, NONE, to).at(addresses)
}

fn store(addresses: Registers, from: Registers) -> Instruction {
    Instruction::narrow(Class::Store, from, NONE).at(addresses)
}

fn single(h: u32, addresses: Registers, register: Registers) -> Instruction {
    if h & 0x800 == 0 { store(addresses, register) } else { load(addresses, register) }
}

fn many(is_load: bool, mask: u32, base: Registers) -> Instruction {
    let registers = Registers::core_mask(mask);
    let words = mask.count_ones() as u8;
    if is_load {
        Instruction::narrow(Class::LoadMany(words), NONE, registers.with(base)).at(base)
    } else {
        Instruction::narrow(Class::StoreMany(words), registers, base).at(base)
    }
}

/// A5.2.1: shifts by, additions of and compares with constants.
fn immediate(h: u32) -> Instruction {
    match h >> 11 {
        // Three-operand additions and subtractions, with a register or a constant of 3 bits.
        3 => {
            let second = if h & 0x400 == 0 { r(h, 6) } else { NONE };
            Instruction::narrow(Class::Alu, r(h, 3).with(second), r(h, 0).with(FLAGS))
        }
        0..=2 => Instruction::narrow(Class::Alu, r(h, 3), r(h, 0).with(FLAGS)),
        4 => Instruction::narrow(Class::Alu, NONE, r(h, 8).with(FLAGS)),
        5 => Instruction::narrow(Class::Alu, r(h, 8), FLAGS),
        _ => Instruction::narrow(Class::Alu, r(h, 8), r(h, 8).with(FLAGS)),
    }
}

/// A5.2.2.
fn data_processing(h: u32) -> Instruction {
    let (low, high) = (r(h, 0), r(h, 3));
    let both = low.with(high);
    match h >> 6 & 15 {
        // ADC, SBC
        5 | 6 => Instruction::narrow(Class::Alu, both.with(FLAGS), low.with(FLAGS)),
        // TST, CMP, CMN
        8 | 10 | 11 => Instruction::narrow(Class::Alu, both, FLAGS),
        // RSB, MVN
        9 | 15 => Instruction::narrow(Class::Alu, high, low.with(FLAGS)),
        13 => Instruction::narrow(Class::Multiply, both, low.with(FLAGS)),
        _ => Instruction::narrow(Class::Alu, both, low.with(FLAGS)),
    }
}

/// A5.2.3: high registers, BX, BLX.
fn special(h: u32) -> Instruction {
    let to = (h & 7) | (h >> 4 & 8);
    let from = h >> 3 & 15;
    let (to_set, from_set) = (Registers::core(to), Registers::core(from));
    let written = |reads| {
        let class = if to == PC { Class::BranchIndirect } else { Class::Alu };
        Instruction::narrow(class, reads, to_set)
    };
    match h >> 8 & 3 {
        0 => written(to_set.with(from_set)),
        1 => Instruction::narrow(Class::Alu, to_set.with(from_set), FLAGS),
        2 => written(from_set),
        _ => {
            let link = if h & 0x80 != 0 { Registers::core(LR) } else { NONE };
            Instruction::narrow(Class::BranchIndirect, from_set, link)
        }
    }
}

/// A5.2.5.
fn miscellaneous(h: u32) -> Instruction {
    let stack = Registers::core(SP);
    if h & 0xf500 == 0xb100 {
        return Instruction::narrow(Class::Branch, r(h, 0), NONE);
    }
    match h >> 8 & 15 {
        0 => Instruction::narrow(Class::Alu, stack, stack),
        2 => Instruction::narrow(Class::Alu, r(h, 3), r(h, 0)),
        4 => many(false, h & 0xff, stack),
        5 => many(false, (h & 0xff) | 1 << LR, stack),
        6 if h & 0xffe8 == 0xb660 => Instruction::narrow(Class::System, NONE, NONE),
        10 if h >> 6 & 3 != 2 => Instruction::narrow(Class::Alu, r(h, 3), r(h, 0)),
        12 => many(true, h & 0xff, stack),
        13 => many(true, (h & 0xff) | 1 << PC, stack),
        14 => Instruction::narrow(Class::Breakpoint, NONE, NONE),
        15 if h & 15 != 0 => Instruction::narrow(Class::IfThen, NONE, NONE),
        15 => Instruction::narrow(hint(h >> 4 & 15), NONE, NONE),
        _ => Instruction::narrow(Class::Undefined, NONE, NONE),
    }
}

/// Hints have the same numbers in 16 and 32 bits.
pub const fn hint(number: u32) -> Class {
    match number {
        2 => Class::WaitForEvent,
        3 => Class::WaitForInterrupt,
        4 => Class::SendEvent,
        _ => Class::Nop,
    }
}
