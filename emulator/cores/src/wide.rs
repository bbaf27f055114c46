//! The 32-bit encodings: Armv7-M Architecture Reference Manual (DDI 0403E), A5.3.

use crate::float;
use crate::instruction::{Class, Instruction, Registers};
use crate::narrow::hint;

const NONE: Registers = Registers::NONE;
const FLAGS: Registers = Registers::FLAGS;
const PC: u32 = 15;

fn r(word: u32, shift: u32) -> Registers {
    Registers::core(word >> shift)
}

/// Decodes an instruction of 32 bits: first and second halfword.
pub fn decode(first: u32, second: u32) -> Instruction {
    let word = first << 16 | second;
    match first >> 11 & 3 {
        1 => match first >> 9 & 3 {
            0 if first & 0x40 == 0 => multiple(word),
            0 => dual(word),
            1 => shifted_register(word),
            _ => coprocessor(word),
        },
        2 if second & 0x8000 != 0 => control(word),
        2 if first & 0x200 == 0 => modified_immediate(word),
        2 => plain_immediate(word),
        _ => match first >> 4 & 0x7f {
            op if op & 0x40 != 0 => coprocessor(word),
            op if op & 0x71 == 0 => single(word, false),
            op if op & 0x61 == 0x01 && op & 0x07 != 7 => single(word, true),
            op if op & 0x70 == 0x20 => register_operands(word),
            op if op & 0x78 == 0x30 => multiply(word),
            op if op & 0x78 == 0x38 => long_multiply(word),
            _ => undefined(),
        },
    }
}

fn undefined() -> Instruction {
    Instruction::wide(Class::Undefined, NONE, NONE)
}

fn coprocessor(word: u32) -> Instruction {
    if word >> 9 & 7 == 5 { float::decode(word) } else { undefined() }
}

/// A5.3.5: LDM and STM.
fn multiple(word: u32) -> Instruction {
    let mask = word & 0xffff;
    let base = r(word, 16);
    let kept = if word & 1 << 21 != 0 { base } else { NONE };
    let words = mask.count_ones() as u8;
    if !matches!(word >> 23 & 3, 1 | 2) || words == 0 {
        return undefined();
    }
    if word & 1 << 20 != 0 {
        Instruction::wide(Class::LoadMany(words), NONE, Registers::core_mask(mask).with(kept))
            .at(base)
    } else {
        Instruction::wide(Class::StoreMany(words), Registers::core_mask(mask), kept).at(base)
    }
}

/// A5.3.6: LDRD and STRD, exclusives, table branches.
fn dual(word: u32) -> Instruction {
    let base = r(word, 16);
    let is_load = word & 1 << 20 != 0;
    let (index, kept) = (word & 1 << 24 != 0, word & 1 << 21 != 0);
    if index || kept {
        let both = r(word, 12).with(r(word, 8));
        let base_write = if kept { base } else { NONE };
        return if is_load {
            Instruction::wide(Class::LoadMany(2), NONE, both.with(base_write)).at(base)
        } else {
            Instruction::wide(Class::StoreMany(2), both, base_write).at(base)
        };
    }
    // With bits P and W clear: bit 23 tells word exclusives from the rest.
    if word & 1 << 23 == 0 {
        return if is_load {
            Instruction::wide(Class::Load, NONE, r(word, 12)).at(base)
        } else {
            Instruction::wide(Class::Store, r(word, 12), r(word, 8)).at(base)
        };
    }
    match (word >> 4 & 15, is_load) {
        (0 | 1, true) => Instruction::wide(Class::BranchTable, NONE, Registers::core(PC))
            .at(base.with(r(word, 0))),
        (4 | 5, true) => Instruction::wide(Class::Load, NONE, r(word, 12)).at(base),
        (4 | 5, false) => Instruction::wide(Class::Store, r(word, 12), r(word, 0)).at(base),
        _ => undefined(),
    }
}

/// Reads, writes and class shared by A5.3.1 and A5.3.11.
fn arithmetic(word: u32, operand: Registers) -> Instruction {
    let sets = if word & 1 << 20 != 0 { FLAGS } else { NONE };
    let (source, target) = (word >> 16 & 15, word >> 8 & 15);
    let reads = r(word, 16).with(operand);
    let writes = r(word, 8).with(sets);
    match word >> 21 & 15 {
        // Compares write only flags; with target 15 and S set: TST, TEQ, CMN, CMP.
        0 | 4 | 8 | 13 if target == 15 && sets == FLAGS => {
            Instruction::wide(Class::Alu, reads, FLAGS)
        }
        // ORR and ORN without source: MOV and MVN.
        2 | 3 if source == 15 => Instruction::wide(Class::Alu, operand, writes),
        10 | 11 => Instruction::wide(Class::Alu, reads.with(FLAGS), writes),
        0..=4 | 6 | 8 | 13 | 14 => Instruction::wide(Class::Alu, reads, writes),
        _ => undefined(),
    }
}

/// Whether a register or a constant is moved, which needs no second stage behind the shifter: ORR without a
/// source.
const fn moves(word: u32) -> bool {
    word >> 21 & 15 == 2 && word >> 16 & 15 == 15
}

/// A5.3.11. PKH stands among them, whose kind and amount of shift are in other bits of the same field.
fn shifted_register(word: u32) -> Instruction {
    let kind = if word >> 21 & 15 == 6 { 0x70c0 } else { 0x70f0 };
    arithmetic(word, r(word, 0)).shifting(word & kind != 0 && !moves(word))
}

/// A5.3.1. Constants are a byte, bytes in a pattern, or a byte that is rotated.
fn modified_immediate(word: u32) -> Instruction {
    if word >> 21 & 15 == 6 {
        return undefined();
    }
    let rotated = word >> 26 & 1 != 0 || word & 0x4000 != 0;
    arithmetic(word, NONE).shifting(rotated && !moves(word))
}

/// A5.3.3: ADDW, MOVW, SSAT, bit fields.
fn plain_immediate(word: u32) -> Instruction {
    let (source, target) = (r(word, 16), r(word, 8));
    match word >> 20 & 31 {
        0 | 10 => Instruction::wide(Class::Alu, source, target),
        4 => Instruction::wide(Class::Alu, NONE, target),
        // MOVT and BFI keep part of the target; BFC has no source.
        12 => Instruction::wide(Class::Alu, target, target),
        22 if word >> 16 & 15 == 15 => Instruction::wide(Class::Alu, target, target),
        22 => Instruction::wide(Class::Alu, source.with(target), target),
        16 | 18 | 24 | 26 => Instruction::wide(Class::Dsp, source, target),
        20 | 28 => Instruction::wide(Class::Alu, source, target),
        _ => undefined(),
    }
}

/// A5.3.4: branches and system instructions.
fn control(word: u32) -> Instruction {
    if word & 0x5000 == 0 && word >> 23 & 7 != 7 {
        return Instruction::wide(Class::Branch, FLAGS, NONE);
    }
    if word & 0x1000 != 0 {
        let link = if word & 0x4000 != 0 { Registers::core(14) } else { NONE };
        return Instruction::wide(Class::Branch, NONE, link);
    }
    match word >> 20 & 0x7f {
        0x38 | 0x39 => Instruction::wide(Class::System, r(word, 16), NONE),
        0x3a if word >> 8 & 7 == 0 => Instruction::wide(hint(word & 0xff), NONE, NONE),
        0x3b => match word >> 4 & 15 {
            2 => Instruction::wide(Class::System, NONE, NONE),
            4..=6 => Instruction::wide(Class::Barrier, NONE, NONE),
            _ => undefined(),
        },
        0x3e | 0x3f => Instruction::wide(Class::System, NONE, r(word, 8)),
        _ => undefined(),
    }
}

/// A5.3.7 to A5.3.10: loads and stores of one register, preload hints.
fn single(word: u32, is_load: bool) -> Instruction {
    let (base_number, register) = (word >> 16 & 15, word >> 12 & 15);
    let base = Registers::core(base_number);
    let long_offset = word & 1 << 23 != 0 || base_number == 15;
    let (mut addresses, mut kept) = (base, NONE);
    if !long_offset {
        if word & 0x800 == 0 {
            addresses = base.with(r(word, 0));
        } else if word & 0x100 != 0 {
            kept = base;
        }
    }
    if !is_load {
        return Instruction::wide(Class::Store, Registers::core(register), kept).at(addresses);
    }
    if register != PC {
        return Instruction::wide(Class::Load, NONE, Registers::core(register).with(kept))
            .at(addresses);
    }
    // Loads of bytes and halfwords to PC are PLD, PLI and unallocated hints.
    if word >> 21 & 3 == 2 {
        Instruction::wide(Class::BranchIndirect, NONE, Registers::core(PC).with(kept)).at(addresses)
    } else {
        Instruction::wide(Class::Nop, NONE, NONE).at(addresses)
    }
}

/// A5.3.12 to A5.3.15: shifts by a register, extensions, parallel arithmetic, SEL, CLZ.
fn register_operands(word: u32) -> Instruction {
    if word & 0xf000 != 0xf000 {
        return undefined();
    }
    let (source, operand, target) = (r(word, 16), r(word, 0), r(word, 8));
    let both = source.with(operand);
    let operation = word >> 20 & 15;
    let second = word >> 4 & 15;
    if second & 8 == 0 {
        if operation & 8 != 0 {
            return Instruction::wide(Class::Dsp, both, target);
        }
        let sets = if operation & 1 != 0 { FLAGS } else { NONE };
        return if second == 0 {
            Instruction::wide(Class::Alu, both, target.with(sets))
        } else {
            undefined()
        };
    }
    if operation & 8 == 0 {
        // Extensions; without source they do not add. Those of two halfwords are DSP.
        let adds = word >> 16 & 15 != 15;
        let reads = if adds { both } else { operand };
        let class = if matches!(operation, 2 | 3) { Class::Dsp } else { Class::Alu };
        return if operation < 6 {
            Instruction::wide(class, reads, target).shifting(adds)
        } else {
            undefined()
        };
    }
    match (operation & 7, second & 7) {
        (0, 0..=3) => Instruction::wide(Class::Dsp, both, target),
        (1, 0..=3) => Instruction::wide(Class::Alu, operand, target),
        (2, 0) => Instruction::wide(Class::Dsp, both.with(FLAGS), target),
        (3, 0) => Instruction::wide(Class::Alu, operand, target),
        _ => undefined(),
    }
}

/// A5.3.16.
fn multiply(word: u32) -> Instruction {
    let both = r(word, 16).with(r(word, 0));
    let plain = Instruction::wide(Class::Multiply, both, r(word, 8));
    let sum_number = word >> 12 & 15;
    // Without a sum, 15 stands in its place.
    if sum_number == 15 { plain } else { plain.accumulating(Registers::core(sum_number)) }
}

/// A5.3.17: long multiplications and divisions.
fn long_multiply(word: u32) -> Instruction {
    let both = r(word, 16).with(r(word, 0));
    let pair = r(word, 12).with(r(word, 8));
    match word >> 20 & 7 {
        0 | 2 => Instruction::wide(Class::Multiply, both, pair),
        1 | 3 if word >> 4 & 15 == 15 => Instruction::wide(Class::Divide, both, r(word, 8)),
        4..=6 => Instruction::wide(Class::Multiply, both, pair).accumulating(pair),
        _ => undefined(),
    }
}
