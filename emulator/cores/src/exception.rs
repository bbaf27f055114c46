//! Exception frames and return values: DDI 0403E, B1.5.6 to B1.5.8.

/// What is stacked at exception entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Eight words: r0 to r3, r12, lr, return address, xPSR.
    Basic,
    /// Those, s0 to s15, FPSCR and a reserved word: 26 words.
    Extended,
}

impl FrameKind {
    /// Bytes on the stack without the word that aligns it.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Basic => 32,
            Self::Extended => 104,
        }
    }
}

/// The value in the link register of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExceptionReturn {
    /// Whether the exception came out of thread mode.
    pub to_thread: bool,
    /// Whether the frame is on the process stack.
    pub process_stack: bool,
    /// What was stacked.
    pub frame: FrameKind,
}

impl ExceptionReturn {
    /// A program counter from here on is an exception return.
    pub const FIRST: u32 = 0xffff_ff80;

    /// The value for the link register.
    #[must_use]
    pub const fn value(self) -> u32 {
        let mut value = 0xffff_ffe1;
        if self.to_thread {
            value |= 1 << 3;
        }
        if self.process_stack {
            value |= 1 << 2;
        }
        if matches!(self.frame, FrameKind::Basic) {
            value |= 1 << 4;
        }
        value
    }

    /// Reads a program counter, with or without its lowest bit; nothing if the value is reserved
    /// (DDI 0403E, tables B1-8 and B1-9).
    #[must_use]
    pub const fn from_pc(pc: u32) -> Option<Self> {
        let frame = match pc | 1 {
            0xffff_fff1 | 0xffff_fff9 | 0xffff_fffd => FrameKind::Basic,
            0xffff_ffe1 | 0xffff_ffe9 | 0xffff_ffed => FrameKind::Extended,
            _ => return None,
        };
        Some(Self { to_thread: pc & 8 != 0, process_stack: pc & 4 != 0, frame })
    }
}

/// The eight words that every frame starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// r0 to r3, r12, lr, return address, xPSR.
    pub words: [u32; 8],
}

impl Frame {
    /// Bit of the stacked xPSR that says that the stack was moved by a word to align it.
    pub const ALIGNED: u32 = 1 << 9;

    /// The frame as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_exact_mut(4).zip(self.words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Reads a frame.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        let mut words = [0; 8];
        for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = chunk.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
        }
        Self { words }
    }
}

/// The stack pointer under a new frame, and the bit to set in the stacked xPSR: the stack is
/// aligned to eight bytes (CCR.STKALIGN is fixed to 1 on the Cortex-M7).
#[must_use]
pub const fn frame_address(stack: u32, kind: FrameKind) -> (u32, u32) {
    let aligned = if stack & 4 != 0 { Frame::ALIGNED } else { 0 };
    ((stack & !7).wrapping_sub(kind.bytes()), aligned)
}

/// The stack pointer above a frame at `frame`, given the stacked xPSR.
#[must_use]
pub const fn above_frame(frame: u32, kind: FrameKind, xpsr: u32) -> u32 {
    let gap = if xpsr & Frame::ALIGNED != 0 { 4 } else { 0 };
    frame.wrapping_add(kind.bytes()) | gap
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn return_values_are_those_of_the_manual() {
        for value in [0xffff_fff1, 0xffff_fff9, 0xffff_fffd, 0xffff_ffe1, 0xffff_ffe9, 0xffff_ffed]
        {
            assert_eq!(ExceptionReturn::from_pc(value).unwrap().value(), value);
            assert_eq!(ExceptionReturn::from_pc(value & !1).unwrap().value(), value);
        }
        assert_eq!(ExceptionReturn::from_pc(0xffff_fff5), None);
    }

    #[test]
    fn a_frame_leaves_the_stack_as_it_was() {
        for stack in [0x2000_4000, 0x2000_3ffc, 0x2000_3ff8] {
            for kind in [FrameKind::Basic, FrameKind::Extended] {
                let (frame, bit) = frame_address(stack, kind);
                assert_eq!(frame % 8, 0);
                assert_eq!(above_frame(frame, kind, bit), stack);
            }
        }
    }
}
