//! From Thumb-2 code to operations (DDI 0403E, chapter A5).
//!
//! An instruction becomes one operation, seldom more: what has no operation of its own is put together through the
//! register [`R::T`]. Compares write to [`R::Sink`]. PC is a constant wherever it is read.

pub mod float;
mod multiply;
mod narrow;
mod wide;

use alloc::vec::Vec;

use crate::execute::Kind;
use crate::operation::{Ask, Condition, End, Operation, R};

/// Bytes of a page: no block holds code of two, but for an instruction that lies across their border, which is a block
/// of its own.
pub const PAGE: u32 = 1024;

/// Whose instructions there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Architecture {
    /// Armv7E-M: Cortex-M4 and Cortex-M7.
    #[default]
    Armv7,
    /// Armv8-M mainline: Cortex-M33.
    Armv8,
}

/// A decoded block.
pub struct Block {
    pub operations: Vec<Operation>,
    /// For each operation, how far from the block's start its instruction lies, in bytes.
    pub places: Vec<u16>,
    pub end: End,
    pub bytes: u32,
    /// How far the last instruction lies from the start.
    pub last: u32,
    /// State of the IT block that goes on behind it.
    pub it: u32,
}

/// What is known while a block is decoded.
struct Decoder {
    architecture: Architecture,
    operations: Vec<Operation>,
    places: Vec<u16>,
    /// Address of the instruction that is decoded, and of the next.
    pc: u32,
    next: u32,
    /// State of the IT block; 0 outside of one.
    it: u32,
    /// Whether the block ends behind the instruction.
    cut: bool,
    end: Option<End>,
}

/// Decodes the block at an address, of these bytes, in a state of an IT block. `watches` says which instructions the
/// host wants to see.
///
/// The rule where blocks end: behind whatever may go on elsewhere (branches, writes of PC, exceptions, WFI and WFE),
/// behind what changes how code is fetched or interrupted (MSR, CPS, ISB, VMSR), and at the border of a page.
pub fn block(
    architecture: Architecture,
    address: u32,
    it: u32,
    bytes: &[u8],
    watches: impl Fn(u32) -> bool,
) -> Block {
    let mut d = Decoder {
        architecture,
        operations: Vec::new(),
        places: Vec::new(),
        pc: address,
        next: address,
        it,
        cut: false,
        end: None,
    };
    let half = |at: u32| {
        let at = at.wrapping_sub(address) as usize;
        let half = bytes.get(at..)?.first_chunk()?;
        Some(u32::from(u16::from_le_bytes(*half)))
    };
    let page_end = (address & !(PAGE - 1)).wrapping_add(PAGE);
    let left = |at: u32| page_end.wrapping_sub(at);
    let mut before = it;
    while d.end.is_none() && !d.cut {
        before = d.it;
        let Some(first) = half(d.next) else { break };
        let is_wide = first >> 11 >= 0b11101;
        let begins = d.next == address;
        if !begins && (left(d.next) > PAGE || left(d.next) == 0 || is_wide && left(d.next) == 2) {
            break;
        }
        let second = if is_wide { half(d.next.wrapping_add(2)) } else { Some(0) };
        d.pc = d.next;
        d.next = d.next.wrapping_add(if is_wide { 4 } else { 2 });
        d.instruction(first, second.filter(|_| is_wide), is_wide, &watches);
        d.places.resize(d.operations.len(), (d.pc.wrapping_sub(address)) as u16);
    }
    if it != 0 || d.it != 0 || before != 0 {
        d.push(Kind::SetIt, R::T, R::T, R::T, d.it);
        if let Some(End::Asks(condition, Ask::Breakpoint | Ask::Undefined)) = d.end {
            // PC stays at the instruction, and so does the state of its IT block.
            d.push(Kind::Skip, R::T, R::T, R::T, condition as u32 | 1 << 4);
            d.push(Kind::SetIt, R::T, R::T, R::T, before);
        }
        d.places.resize(d.operations.len(), (d.pc.wrapping_sub(address)) as u16);
    }
    let end = d.end.unwrap_or(End::Jump(d.next));
    Block {
        operations: d.operations,
        places: d.places,
        end,
        bytes: d.next.wrapping_sub(address),
        last: d.pc.wrapping_sub(address),
        it: d.it,
    }
}

/// `count` bits of a word from bit `low` on.
const fn bits(word: u32, low: u32, count: u32) -> u32 {
    word >> low & ((1 << count) - 1)
}

/// A number of so many bits with its sign.
const fn signed(value: u32, bits: u32) -> u32 {
    ((value << (32 - bits)) as i32 >> (32 - bits)) as u32
}

/// The data processing operations by their number in 32-bit encodings, plain and with flags (DDI 0403E, A5.3.11).
fn data_processing(number: u32, flags: bool) -> Option<Kind> {
    let [plain, with_flags] = match number {
        0 => [Kind::And, Kind::Ands],
        1 => [Kind::Bic, Kind::Bics],
        2 => [Kind::Orr, Kind::Orrs],
        3 => [Kind::Orn, Kind::Orns],
        4 => [Kind::Eor, Kind::Eors],
        8 => [Kind::Add, Kind::Adds],
        10 => [Kind::Adc, Kind::Adcs],
        11 => [Kind::Sbc, Kind::Sbcs],
        13 => [Kind::Sub, Kind::Subs],
        14 => [Kind::Rsb, Kind::Rsbs],
        _ => return None,
    };
    Some(if flags { with_flags } else { plain })
}

/// The same with a constant, where there is an operation for that.
fn with_constant(kind: Kind) -> Option<Kind> {
    Some(match kind {
        Kind::And => Kind::AndI,
        Kind::Ands => Kind::AndIs,
        Kind::Orr => Kind::OrrI,
        Kind::Eor => Kind::EorI,
        Kind::Eors => Kind::EorIs,
        Kind::Add => Kind::AddI,
        Kind::Adds => Kind::AddIs,
        Kind::Subs => Kind::SubIs,
        Kind::Rsb => Kind::RsbI,
        Kind::Rsbs => Kind::RsbIs,
        _ => return None,
    })
}

impl Decoder {
    fn instruction(
        &mut self,
        first: u32,
        second: Option<u32>,
        is_wide: bool,
        watches: &impl Fn(u32) -> bool,
    ) {
        let under = (self.it & 15 != 0).then(|| Condition::code(self.it >> 4));
        let from = self.operations.len();
        if under.is_some() {
            self.push(Kind::Skip, R::T, R::T, R::T, 0);
        }
        if watches(self.pc) {
            self.push(Kind::See, R::T, R::T, R::T, self.pc);
        }
        match second {
            Some(second) => self.wide(first, second),
            None if is_wide => self.undefined(),
            None => self.narrow(first),
        }
        if let Some(condition) = under {
            self.put_under(condition, from);
            self.it = if self.it & 7 == 0 { 0 } else { self.it & 0xe0 | self.it << 1 & 0x1f };
        }
    }

    fn push(&mut self, kind: Kind, d: R, n: R, m: R, immediate: u32) {
        self.operations.push(Operation { kind, d, n, m, immediate });
    }

    fn ask(&mut self, ask: Ask) {
        self.end = Some(End::Asks(Condition::Always, ask));
    }

    fn undefined(&mut self) {
        self.ask(Ask::Undefined);
    }

    /// The operations from `from` on are under a condition; so is the end if there is one.
    fn put_under(&mut self, condition: Condition, from: usize) {
        let next = self.next;
        match self.end {
            Some(End::Jump(target)) if self.operations.len() == from + 1 => {
                self.operations.truncate(from);
                self.end = Some(match condition {
                    Condition::Always => End::Jump(target),
                    _ => End::If(condition, target),
                });
                return;
            }
            // A call sets the link register as well.
            Some(End::Jump(target)) => {
                self.push(Kind::MovI, R::Pc, R::T, R::T, target | 1);
                self.end = Some(End::Indirect);
            }
            // BKPT knows no condition.
            Some(End::Asks(_, ask)) if ask != Ask::Breakpoint => {
                self.end = Some(End::Asks(condition, ask));
            }
            _ => {}
        }
        let count = (self.operations.len() - from - 1) as u32;
        self.operations[from].immediate = condition as u32 | count << 4;
        if self.end == Some(End::Indirect) {
            // Where the core goes on if the condition does not hold.
            let kind = Kind::MovI;
            let (d, n, m) = (R::Pc, R::T, R::T);
            self.operations.insert(from, Operation { kind, d, n, m, immediate: next | 1 });
        }
    }

    /// What PC reads as.
    const fn pc_value(&self) -> u32 {
        self.pc.wrapping_add(4)
    }

    /// The same as the base of an address.
    const fn pc_base(&self) -> u32 {
        self.pc_value() & !3
    }

    /// Puts a constant into a register.
    fn set(&mut self, d: R, value: u32) {
        self.push(Kind::MovI, d, R::T, R::T, value);
    }

    /// An operation with a constant as its second operand.
    fn constant(&mut self, kind: Kind, d: R, n: R, value: u32) {
        if let Some(kind) = with_constant(kind) {
            self.push(kind, d, n, R::T, value);
        } else if kind == Kind::Sub {
            self.push(Kind::AddI, d, n, R::T, value.wrapping_neg());
        } else {
            self.set(R::T, value);
            self.push(kind, d, n, R::T, 0);
        }
    }

    /// A result was written to a register: SP keeps to words.
    fn wrote(&mut self, d: R) {
        if d == R::Sp {
            self.push(Kind::AlignStack, R::T, R::T, R::T, 0);
        }
    }

    /// The core goes on where a register says; `exchanges`: its lowest bit is the state, as for BX.
    fn go(&mut self, m: R, exchanges: bool) {
        self.push(Kind::Mov, R::Pc, R::T, m, 0);
        if !exchanges {
            self.push(Kind::OrrI, R::Pc, R::Pc, R::T, 1);
        }
        self.end = Some(End::Indirect);
    }

    /// A shift by a constant as it is encoded. Kinds: LSL, LSR, ASR, ROR.
    fn shift(&mut self, kind: u32, d: R, m: R, by: u32, flags: bool) {
        match (kind, by, flags) {
            (0, 0, false) => self.push(Kind::Mov, d, R::T, m, 0),
            (0, 0, true) => self.push(Kind::Movs, d, R::T, m, 0),
            (3, 0, false) => self.push(Kind::Rrx, d, R::T, m, 0),
            (3, 0, true) => self.push(Kind::Rrxs, d, R::T, m, 0),
            _ => {
                let by = if by == 0 { 32 } else { by };
                let plain = [Kind::LslI, Kind::LsrI, Kind::AsrI, Kind::RorI][(kind & 3) as usize];
                let (kind, value) =
                    if flags { (Kind::ShiftIs, kind << 8 | by) } else { (plain, by) };
                self.push(kind, d, R::T, m, value);
            }
        }
    }

    /// LDM and STM. `down`: DB, below the base.
    fn many(&mut self, load: bool, down: bool, n: R, mask: u32, back: bool) {
        let bytes = mask.count_ones() * 4;
        let moved = if down { bytes.wrapping_neg() } else { bytes };
        let kind = if load { Kind::Ldm } else { Kind::Stm };
        if down {
            self.push(Kind::AddI, R::T, n, R::T, moved);
            self.push(kind, R::T, R::T, R::T, mask);
            if back {
                self.push(Kind::Mov, n, R::T, R::T, 0);
            }
        } else {
            self.push(kind, R::T, n, R::T, mask);
            if back {
                self.push(Kind::AddI, n, n, R::T, moved);
            }
        }
        if load && mask & 1 << 15 != 0 {
            self.end = Some(End::Indirect);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(address: u32, halves: &[u16]) -> (u32, End) {
        let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
        let block = block(Architecture::Armv7, address, 0, &bytes, |_| false);
        (block.bytes, block.end)
    }

    #[test]
    fn blocks_end_at_pages() {
        // adds r0,#1 to the end of the page.
        assert_eq!(ends(0x0800_03fc, &[0x3001; 4]), (4, End::Jump(0x0800_0400)));
        // An instruction of two halves across it begins a block, and ends it.
        let across = [0x3001, 0xf100, 0x0001, 0x3001];
        assert_eq!(ends(0x0800_03fc, &across), (2, End::Jump(0x0800_03fe)));
        assert_eq!(ends(0x0800_03fe, &across[1..]), (4, End::Jump(0x0800_0402)));
    }

    #[test]
    fn blocks_end_where_the_core_may_go_on_elsewhere() {
        // bx lr; isb; cpsid i; msr.
        assert_eq!(ends(0, &[0x3001, 0x4770, 0x3001]), (4, End::Indirect));
        assert_eq!(ends(0, &[0x3001, 0xf3bf, 0x8f6f, 0x3001]), (6, End::Jump(6)));
        assert_eq!(ends(0, &[0xb672, 0x3001]), (2, End::Jump(2)));
        assert_eq!(ends(0, &[0xf380, 0x8810, 0x3001]), (4, End::Jump(4)));
        // vmsr, but not vmrs.
        assert_eq!(ends(0, &[0xeee1, 0x0a10, 0x3001]), (4, End::Jump(4)));
        assert_eq!(ends(0, &[0xeef1, 0x0a10, 0xe7fe]), (6, End::Jump(4)));
        // Not at dsb, nor at a hint.
        assert_eq!(ends(0, &[0xf3bf, 0x8f4f, 0xbf00, 0xe7fe]), (8, End::Jump(6)));
        // it eq; bxeq lr; it eq; beq: the first goes on behind it or not.
        assert_eq!(ends(0, &[0xbf08, 0x4770, 0x3001]), (4, End::Indirect));
        let back = End::If(Condition::Eq, 2);
        assert_eq!(ends(0, &[0xbf08, 0xe7fe, 0x3001]), (4, back));
    }
}
