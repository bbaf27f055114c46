//! Text for people.

use yaxpeax_arch::{Decoder as _, U8Reader};
use yaxpeax_arm::armv7::InstDecoder;

use crate::decode::decode;
use crate::instruction::Class;

/// The instruction at the start of `bytes` as text, with its encoding. Floating-point
/// instructions are named by kind only.
#[must_use]
pub fn disassemble(bytes: &[u8]) -> String {
    let Some(instruction) = decode(bytes) else {
        return "(cut short)".to_owned();
    };
    let encoding = bytes
        .chunks_exact(2)
        .take(usize::from(instruction.bytes) / 2)
        .map(|half| format!("{:04x}", u16::from_le_bytes([half[0], half[1]])))
        .collect::<Vec<_>>()
        .join(" ");
    format!("{encoding}  {}", text(bytes, instruction.class, instruction.float))
}

fn text(bytes: &[u8], class: Class, float: bool) -> String {
    match class {
        Class::Undefined => return "undefined".to_owned(),
        Class::System => return "system register access".to_owned(),
        _ if float => return format!("floating point: {class:?}"),
        _ => {}
    }
    let mut reader = U8Reader::new(bytes);
    match InstDecoder::default_thumb().decode(&mut reader) {
        Ok(instruction) => instruction.to_string(),
        Err(_) => format!("{class:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_narrow_encoding_has_a_text() {
        for halfword in 0..=u16::MAX {
            let mut bytes = [0u8; 4];
            bytes[..2].copy_from_slice(&halfword.to_le_bytes());
            assert!(disassemble(&bytes).len() > 4);
        }
    }

    #[test]
    fn wide_encodings_never_panic() {
        // Every first halfword with a spread of second ones.
        for first in 0xe800..=u16::MAX {
            for step in 0..64u16 {
                let second = step.wrapping_mul(0x9e37) ^ first.rotate_left(u32::from(step % 16));
                let mut bytes = [0u8; 4];
                bytes[..2].copy_from_slice(&first.to_le_bytes());
                bytes[2..].copy_from_slice(&second.to_le_bytes());
                assert!(!disassemble(&bytes).is_empty());
            }
        }
    }

    #[test]
    fn texts_are_those_of_the_assembler() {
        assert_eq!(disassemble(&[0x21, 0xfb, 0x02, 0x30]), "fb21 3002  smlad.w r0, r1, r2, r3");
        assert_eq!(disassemble(&[0x70, 0x47]), "4770  bx lr");
        assert_eq!(disassemble(&[0x70]), "(cut short)");
    }
}
