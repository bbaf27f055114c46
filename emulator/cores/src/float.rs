//! Floating-point encodings: Armv7-M Architecture Reference Manual (DDI 0403E), A6.4 to A6.8.

use crate::instruction::{Class, Instruction, Registers};

const NONE: Registers = Registers::NONE;

/// A register operand: its four high bits and its single low bit.
fn operand(word: u32, shift: u32, low_bit: u32, double: bool) -> Registers {
    let (four, one) = (word >> shift & 15, word >> low_bit & 1);
    if double {
        Registers::single((one << 4 | four) * 2, 2)
    } else {
        Registers::single(four << 1 | one, 1)
    }
}

/// Decodes an instruction of coprocessors 10 and 11.
pub fn decode(word: u32) -> Instruction {
    let double = word & 0x100 != 0;
    if word >> 25 & 7 == 6 {
        // Two core registers to or from two singles or a double.
        return if word >> 21 & 15 == 2 && word & 1 << 24 == 0 {
            transfer_two(word, double)
        } else {
            load_store(word, double)
        };
    }
    if word & 0x10 != 0 {
        return transfer_one(word, double);
    }
    if word >> 28 == 15 { second_space(word, double) } else { data_processing(word, double) }
}

fn data_processing(word: u32, double: bool) -> Instruction {
    let target = operand(word, 12, 22, double);
    let both = operand(word, 16, 7, double).with(operand(word, 0, 5, double));
    let class = match word >> 20 & 11 {
        0 | 1 => Class::FloatAccumulate,
        2 => Class::FloatMultiply,
        3 => Class::FloatAdd,
        8 => Class::FloatDivide(double),
        9 | 10 => Class::FloatAccumulate,
        _ => return other(word, double),
    };
    let instruction = Instruction::wide(class, both, target);
    if class == Class::FloatAccumulate { instruction.accumulating(target) } else { instruction }
}

/// VMOV, VNEG, VSQRT, VCMP, conversions.
fn other(word: u32, double: bool) -> Instruction {
    let target = operand(word, 12, 22, double);
    let source = operand(word, 0, 5, double);
    match (word >> 16 & 15, word >> 6 & 3) {
        (_, 0 | 2) => Instruction::wide(Class::FloatMove, NONE, target),
        (1, 3) => Instruction::wide(Class::FloatDivide(double), source, target),
        (4 | 5, _) => Instruction::wide(Class::FloatAdd, source.with(target), Registers::FP_FLAGS),
        (7, 3) => {
            // Single to double and back: source and target differ in size.
            Instruction::wide(Class::FloatAdd, source, operand(word, 12, 22, !double))
        }
        // Double from integer, integer from double: the integer is a single register.
        (8, _) => Instruction::wide(Class::FloatAdd, operand(word, 0, 5, false), target),
        (12 | 13, _) => Instruction::wide(Class::FloatAdd, source, operand(word, 12, 22, false)),
        _ => Instruction::wide(Class::FloatAdd, source, target),
    }
}

/// FPv5: VSEL, VMAXNM, VMINNM, VRINT, VCVT with a rounding mode.
fn second_space(word: u32, double: bool) -> Instruction {
    let target = operand(word, 12, 22, double);
    let source = operand(word, 0, 5, double);
    if word & 1 << 23 == 0 {
        let both = source.with(operand(word, 16, 7, double)).with(Registers::FLAGS);
        return Instruction::wide(Class::FloatMove, both, target);
    }
    if word & 0x0030_0000 == 0 {
        let both = source.with(operand(word, 16, 7, double));
        return Instruction::wide(Class::FloatAdd, both, target);
    }
    let to_integer = word & 0x0004_0000 != 0;
    let target = if to_integer { operand(word, 12, 22, false) } else { target };
    Instruction::wide(Class::FloatAdd, source, target)
}

fn transfer_one(word: u32, double: bool) -> Instruction {
    let core = Registers::core(word >> 12);
    let to_core = word & 1 << 20 != 0;
    if word >> 21 & 7 == 7 {
        // VMRS, with target 15 to the condition flags; VMSR.
        let to = if word >> 12 & 15 == 15 { Registers::FLAGS } else { core };
        return if to_core {
            Instruction::wide(Class::FloatMove, Registers::FP_FLAGS, to)
        } else {
            Instruction::wide(Class::FloatMove, core, Registers::FP_FLAGS)
        };
    }
    let float = operand(word, 16, 7, double);
    if to_core {
        Instruction::wide(Class::FloatMove, float, core)
    } else {
        Instruction::wide(Class::FloatMove, core, float)
    }
}

fn transfer_two(word: u32, double: bool) -> Instruction {
    let pair = Registers::core(word >> 12).with(Registers::core(word >> 16));
    let (four, one) = (word & 15, word >> 5 & 1);
    let first = if double { (one << 4 | four) * 2 } else { four << 1 | one };
    let floats = Registers::single(first, 2);
    if word & 1 << 20 != 0 {
        Instruction::wide(Class::FloatMove, floats, pair)
    } else {
        Instruction::wide(Class::FloatMove, pair, floats)
    }
}

fn load_store(word: u32, double: bool) -> Instruction {
    let base = Registers::core(word >> 16);
    let is_load = word & 1 << 20 != 0;
    let (four, one) = (word >> 12 & 15, word >> 22 & 1);
    let first = if double { (one << 4 | four) * 2 } else { four << 1 | one };
    let (index, kept) = (word & 1 << 24 != 0, word & 1 << 21 != 0);
    if index && !kept {
        let words = if double { 2 } else { 1 };
        let floats = Registers::single(first, u32::from(words));
        return if is_load {
            Instruction::wide(Class::FloatLoad(words), NONE, floats).at(base)
        } else {
            Instruction::wide(Class::FloatStore(words), floats, NONE).at(base)
        };
    }
    let words = (word & 0xff).min(32);
    let floats = Registers::single(first, words);
    let written = if kept { base } else { NONE };
    let instruction = if is_load {
        Instruction::wide(Class::LoadMany(words as u8), NONE, floats.with(written))
    } else {
        Instruction::wide(Class::StoreMany(words as u8), floats, written)
    };
    instruction.at(base).on_float()
}
