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
