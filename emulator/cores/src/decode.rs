//! From bytes to instructions.

use crate::instruction::{Class, Instruction, Registers};
use crate::{narrow, wide};

/// Decodes the instruction at the start of `bytes`; nothing if they end within it. Undefined
/// encodings give [`Class::Undefined`] with the right length (DDI 0403E, A5.1).
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Instruction> {
    let first = u32::from(u16::from_le_bytes(bytes.get(..2)?.try_into().ok()?));
    if first >> 11 < 0b11101 {
        return Some(narrow::decode(first));
    }
    let second = u32::from(u16::from_le_bytes(bytes.get(2..4)?.try_into().ok()?));
    Some(wide::decode(first, second))
}

/// Whether DSB is among the instructions of a run of bytes, behind a store: then all of its stores before have
/// taken effect when it ends (DDI 0403E, A3.7.3).
#[must_use]
pub fn waits_for_stores(bytes: &[u8]) -> bool {
    let (mut at, mut stored) = (0, false);
    for instruction in Decoder::new(bytes) {
        let word = bytes.get(at..at + 4).and_then(|word| word.first_chunk::<4>());
        match instruction.class {
            Class::Store | Class::StoreMany(_) => stored = true,
            Class::Barrier if stored && word.is_some_and(|word| word[2] >> 4 == 4) => return true,
            _ => {}
        }
        at += usize::from(instruction.bytes);
    }
    false
}

/// The instructions of a run of bytes. A last instruction that is cut short counts as undefined.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Decodes from the start of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }
}

impl Iterator for Decoder<'_> {
    type Item = Instruction;

    fn next(&mut self) -> Option<Instruction> {
        if self.bytes.is_empty() {
            return None;
        }
        let instruction = decode(self.bytes).unwrap_or(Instruction::narrow(
            Class::Undefined,
            Registers::NONE,
            Registers::NONE,
        ));
        self.bytes = self.bytes.get(usize::from(instruction.bytes)..).unwrap_or(&[]);
        Some(instruction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_dsb_behind_a_store_waits_for_it() {
        let waits = |halves: &[u16]| {
            waits_for_stores(&halves.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<_>>())
        };
        // str r0,[r1]; dsb sy, dmb sy and isb sy in its place.
        assert!(waits(&[0x6008, 0xf3bf, 0x8f4f]));
        assert!(!waits(&[0x6008, 0xf3bf, 0x8f5f]));
        assert!(!waits(&[0x6008, 0xf3bf, 0x8f6f]));
        assert!(!waits(&[0xf3bf, 0x8f4f, 0x6008]));
        assert!(waits(&[0x6008, 0x6808, 0xf3bf, 0x8f4f, 0x6008]));
    }
}
