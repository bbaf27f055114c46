//! Accesses that have to lie at words: LDM, STM, LDRD, STRD, VLDR, VSTR, VLDM, VSTM, LDREX, STREX. Others are
//! made in parts where they are unaligned; these raise a UsageFault with UNALIGNED, in all memories and
//! whatever CCR says (DDI 0403E, A3.2.1).
//!
//! Addresses are followed through a block modulo 4, as sums of what registers hold when it begins, so that one
//! look at its start tells of all its accesses. An address that was loaded in the same block is not known
//! there, nor what happens under a condition: those are not looked at.

use crate::decode::Decoder;
use crate::instruction::{Class, Instruction};

const SP: usize = 13;
const PC: usize = 15;

/// A value modulo 4: so many times each register, as they are when the block begins, and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Residue {
    /// Two bits for each register.
    times: u32,
    plus: u32,
}

impl Residue {
    const fn number(plus: u32) -> Self {
        Self { times: 0, plus: plus & 3 }
    }

    /// What a register holds. SP is at words always (DDI 0403E, B1.4.1), and so is the base of literals, which
    /// PC as an operand is not.
    const fn register(number: usize) -> Option<Self> {
        match number {
            SP => Some(Self::number(0)),
            PC => None,
            _ => Some(Self { times: 1 << (2 * number), plus: 0 }),
        }
    }

    const fn add(self, other: Self) -> Self {
        const LOW: u32 = 0x5555_5555;
        let (a, b) = (self.times, other.times);
        let low = (a & LOW) + (b & LOW);
        Self { times: low & LOW | (a ^ b ^ low) & !LOW, plus: (self.plus + other.plus) & 3 }
    }

    const fn shift_left(self, by: u32) -> Self {
        match by {
            0 => self,
            1 => self.add(self),
            _ => Self::number(0),
        }
    }

    const fn subtract(self, other: Self) -> Self {
        self.add(other).add(other.shift_left(1))
    }

    fn of(self, values: &[u32; 16]) -> u32 {
        let sum =
            (0..16).map(|number| (self.times >> (2 * number) & 3).wrapping_mul(values[number]));
        sum.fold(self.plus, u32::wrapping_add) & 3
    }
}

/// An access of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    /// Bytes from the block's start to its instruction.
    offset: u32,
    address: Residue,
    /// Bits of the address that have to be clear.
    clear: u32,
}

/// What the registers have to be when a block begins, so that none of its accesses faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    accesses: Vec<Access>,
    /// Registers that count, a bit each.
    registers: u16,
    stays: bool,
}

impl Alignment {
    /// Of the block that consists of `bytes`; nothing if it has no such access, or only such as are aligned
    /// always.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let mut values: Values = std::array::from_fn(Residue::register);
        let (mut accesses, mut offset, mut conditional) = (Vec::<Access>::new(), 0, 0u32);
        for instruction in Decoder::new(bytes) {
            let word = word(bytes, offset);
            if let Some((base, clear)) = at_words(&instruction, word)
                && let Some(address) = values[base]
                && conditional == 0
                && address.times | address.plus != 0
                && !accesses.iter().any(|known| (known.address, known.clear) == (address, clear))
            {
                accesses.push(Access { offset: offset as u32, address, clear });
            }
            follow(&mut values, &instruction, word, conditional > 0);
            conditional = match instruction.class {
                // IT: so many instructions follow as its mask has places.
                Class::IfThen => 4 - (word >> 16 & 15).trailing_zeros().min(3),
                _ => conditional.saturating_sub(1),
            };
            offset += usize::from(instruction.bytes);
        }
        let times = accesses.iter().fold(0, |times, access| times | access.address.times);
        let counts = |number: &usize| times >> (2 * number) & 3 != 0;
        let registers = (0..16).filter(counts).fold(0, |registers, number| registers | 1 << number);
        let same = |number: usize| values[number] == Residue::register(number);
        let stays = (0..16).filter(counts).all(same);
        (!accesses.is_empty()).then_some(Self { accesses, registers, stays })
    }

    /// Numbers of the registers that count.
    pub fn registers(&self) -> impl Iterator<Item = usize> {
        let registers = self.registers;
        (0..16).filter(move |number| registers >> number & 1 != 0)
    }

    /// Whether it holds again at the block's end if it did at its start.
    #[must_use]
    pub const fn stays(&self) -> bool {
        self.stays
    }

    /// Bytes from the block's start to the first instruction that faults, if one does with these values of
    /// registers; only those of [`Self::registers`] are looked at.
    #[must_use]
    pub fn fault(&self, values: &[u32; 16]) -> Option<u32> {
        let fault = |access: &&Access| access.address.of(values) & access.clear != 0;
        self.accesses.iter().find(fault).map(|access| access.offset)
    }
}

/// What is known of each register.
type Values = [Option<Residue>; 16];

/// Two halfwords, the first in the upper half; the second is 0 behind the end.
fn word(bytes: &[u8], offset: usize) -> u32 {
    let half = |at: usize| {
        let half = bytes.get(at..at + 2).and_then(|half| half.first_chunk());
        half.map_or(0, |half| u32::from(u16::from_le_bytes(*half)))
    };
    half(offset) << 16 | half(offset + 2)
}

/// The register that an access starts from and the bits of its address that have to be clear, if there are
/// any. Offsets of all of these are multiples of 4.
fn at_words(instruction: &Instruction, word: u32) -> Option<(usize, u32)> {
    let first = word >> 16;
    let base = (first & 15) as usize;
    match instruction.class {
        Class::LoadMany(_) | Class::StoreMany(_) if instruction.bytes == 2 => {
            // PUSH and POP; LDM and STM.
            Some(if first >> 12 == 0xb { (SP, 3) } else { ((first >> 8 & 7) as usize, 3) })
        }
        Class::LoadMany(_) | Class::StoreMany(_) => Some((base, 3)),
        Class::FloatLoad(_) | Class::FloatStore(_) => Some((base, 3)),
        // LDREX and STREX of words, of halfwords.
        Class::Load | Class::Store if first & 0xffe0 == 0xe840 => Some((base, 3)),
        Class::Load | Class::Store if first & 0xffe0 == 0xe8c0 && word >> 4 & 15 == 5 => {
            Some((base, 1))
        }
        _ => None,
    }
}

/// What registers hold behind an instruction.
fn follow(values: &mut Values, instruction: &Instruction, word: u32, conditional: bool) {
    let written = if conditional {
        None
    } else if instruction.bytes == 2 {
        narrow(values, word >> 16)
    } else {
        wide(values, instruction, word)
    };
    for number in instruction.writes.numbers().filter(|number| *number < SP) {
        values[number] = None;
    }
    values[14] = values[14].filter(|_| instruction.writes.0 >> 14 & 1 == 0);
    if let Some((number, value)) = written
        && !matches!(number, SP | PC)
    {
        values[number] = value;
    }
}

/// The register that an instruction of 16 bits writes, with its value, if that follows from others (DDI 0403E,
/// A5.2).
fn narrow(values: &Values, h: u32) -> Option<(usize, Option<Residue>)> {
    let low = |shift: u32| (h >> shift & 7) as usize;
    let number = |bits: u32| Some(Residue::number(bits));
    let (to, value) = match h >> 11 {
        // LSL, which is a move if it shifts by nothing.
        0 => (low(0), shifted(values[low(3)], h >> 6 & 31)),
        3 => {
            let other = if h & 0x400 == 0 { values[low(6)] } else { number(h >> 6 & 7) };
            (low(0), sum(values[low(3)], other, h & 0x200 != 0))
        }
        4 => (low(8), number(h)),
        6 | 7 => (low(8), sum(values[low(8)], number(h), h & 0x800 != 0)),
        8 if h & 0x500 == 0x400 => {
            let (to, from) = ((h & 7 | h >> 4 & 8) as usize, (h >> 3 & 15) as usize);
            let moved = h & 0x200 != 0;
            (to, if moved { values[from] } else { sum(values[to], values[from], false) })
        }
        // Behind SP and PC by a number of words.
        20 | 21 => (low(8), number(0)),
        // LDM and STM of 16 bits: behind their words, unless it is loaded.
        24 | 25 if h & 0x800 == 0 || h >> low(8) & 1 == 0 => (low(8), values[low(8)]),
        _ => return None,
    };
    Some((to, value))
}

/// The same of 32 bits (DDI 0403E, A5.3).
fn wide(values: &Values, instruction: &Instruction, word: u32) -> Option<(usize, Option<Residue>)> {
    let (first, second) = (word >> 16, word & 0xffff);
    let source = values[(first & 15) as usize];
    let base = (first & 15) as usize;
    let to = (second >> 8 & 15) as usize;
    let constant = || Some(Residue::number(constant(word)));
    let amount = (second >> 12 & 7) << 2 | second >> 6 & 3;
    // Shifted to the right, nothing is known of it.
    let to_the_left = second >> 4 & 3 == 0;
    let operand = values[(second & 15) as usize];
    let operand = if to_the_left { shifted(operand, amount) } else { None };
    let value = match first & 0xfbf0 {
        _ if matches!(instruction.class, Class::LoadMany(_) | Class::StoreMany(_)) => {
            let transferred = transfers(instruction, word) >> base & 1 != 0;
            return (first & 0x20 != 0 && !transferred).then_some((base, source));
        }
        _ if matches!(instruction.class, Class::Load | Class::Store) && first >> 9 == 0x7c => {
            // An index of a byte that is written back; bit 9 says whether it is added.
            let indexed = first & 0x80 == 0 && second & 0x900 == 0x900 && base != PC;
            let loads = matches!(instruction.class, Class::Load) && second >> 12 == first & 15;
            let value = sum(source, Some(Residue::number(second)), second & 0x200 == 0);
            return (indexed && !loads).then_some((base, value));
        }
        // MOVW, ADDW, SUBW.
        0xf240 if second & 0x8000 == 0 => Some(Residue::number(second)),
        0xf200 if second & 0x8000 == 0 => sum(source, Some(Residue::number(second)), false),
        0xf2a0 if second & 0x8000 == 0 => sum(source, Some(Residue::number(second)), true),
        // ADD, SUB, MOV and BIC of a constant.
        0xf100 | 0xf110 if second & 0x8000 == 0 => sum(source, constant(), false),
        0xf1a0 | 0xf1b0 if second & 0x8000 == 0 => sum(source, constant(), true),
        0xf040 | 0xf050 if second & 0x8000 == 0 && base == PC => constant(),
        0xf020 | 0xf030 if second & 0x8000 == 0 && self::constant(word) & 3 == 3 => {
            Some(Residue::number(0))
        }
        // ADD, SUB and MOV of a register that may be shifted.
        0xeb00 | 0xeb10 => sum(source, operand, false),
        0xeba0 | 0xebb0 => sum(source, operand, true),
        0xea40 | 0xea50 if base == PC => operand,
        _ => return None,
    };
    (to != PC).then_some((to, value))
}

/// Core registers that LDM and LDRD load.
fn transfers(instruction: &Instruction, word: u32) -> u32 {
    let (first, second) = (word >> 16, word & 0xffff);
    if first & 0x10 == 0 || instruction.float {
        0
    } else if first & 0x40 == 0 {
        second
    } else {
        1 << (second >> 12) | 1 << (second >> 8 & 15)
    }
}

const fn shifted(value: Option<Residue>, by: u32) -> Option<Residue> {
    match value {
        // Shifted by two and more nothing is left of it modulo 4, whatever it was.
        _ if by > 1 => Some(Residue::number(0)),
        Some(value) => Some(value.shift_left(by)),
        None => None,
    }
}

const fn sum(a: Option<Residue>, b: Option<Residue>, subtracts: bool) -> Option<Residue> {
    match (a, b) {
        (Some(a), Some(b)) if subtracts => Some(a.subtract(b)),
        (Some(a), Some(b)) => Some(a.add(b)),
        _ => None,
    }
}

/// The constant of an instruction of 32 bits (DDI 0403E, A5.3.2).
const fn constant(word: u32) -> u32 {
    let byte = word & 0xff;
    let code = (word >> 26 & 1) << 4 | (word >> 12 & 7) << 1 | byte >> 7;
    match code >> 1 {
        0 => byte,
        1 => byte | byte << 16,
        2 => byte << 8 | byte << 24,
        3 => byte | byte << 8 | byte << 16 | byte << 24,
        _ => (byte | 0x80).rotate_right(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alignment(halfwords: &[u16]) -> Option<Alignment> {
        Alignment::of(&halfwords.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<_>>())
    }

    /// Where the block faults if a register holds one more than a multiple of 4, and all others hold one.
    fn fault(register: usize, halfwords: &[u16]) -> Option<u32> {
        let mut values = [0x2000_0000; 16];
        values[register] += 1;
        alignment(halfwords)?.fault(&values)
    }

    #[test]
    fn accesses_of_several_words_have_to_lie_at_words() {
        let blocks: [(&str, &[u16]); 12] = [
            ("ldm r1,{r2,r3}", &[0xc90c]),
            ("stm r1!,{r2,r3}", &[0xc10c]),
            ("ldm.w r1,{r2,r8}", &[0xe891, 0x0104]),
            ("stmdb r1!,{r2,r8}", &[0xe921, 0x0104]),
            ("ldrd r2,r3,[r1,#8]", &[0xe9d1, 0x2302]),
            ("strd r2,r3,[r1],#8", &[0xe8e1, 0x2302]),
            ("ldrex r2,[r1]", &[0xe851, 0x2f00]),
            ("strex r0,r2,[r1]", &[0xe841, 0x2000]),
            ("ldrexh r2,[r1]", &[0xe8d1, 0x2f5f]),
            ("vldr s0,[r1]", &[0xed91, 0x0a00]),
            ("vstr d0,[r1]", &[0xed81, 0x0b00]),
            ("vldmia r1!,{s0,s1}", &[0xecb1, 0x0a02]),
        ];
        for (text, block) in blocks {
            assert_eq!(fault(1, block), Some(0), "{text}");
            assert_eq!(fault(5, block), None, "{text}");
        }
    }

    #[test]
    fn others_may_lie_anywhere() {
        let blocks: [(&str, &[u16]); 8] = [
            ("ldr r2,[r1]", &[0x680a]),
            ("ldr.w r2,[r1],#3", &[0xf851, 0x2b03]),
            ("strh r2,[r1]", &[0x800a]),
            ("ldrexb r2,[r1]", &[0xe8d1, 0x2f4f]),
            ("tbh [r1,r2]", &[0xe8d1, 0xf012]),
            ("push {r1,lr}", &[0xb502]),
            ("ldrd r2,r3,[sp,#8]", &[0xe9dd, 0x2302]),
            ("vmov r1,r2,d0", &[0xec52, 0x1b10]),
        ];
        for (text, block) in blocks {
            assert_eq!(alignment(block), None, "{text}");
        }
    }

    #[test]
    fn addresses_are_followed_from_the_start_of_the_block() {
        let ldrd: [u16; 2] = [0xe9d1, 0x2302];
        let behind = |code: &[u16]| [code, &ldrd].concat();
        // adds r1,#3: of a word and one it makes a word.
        assert_eq!(fault(1, &behind(&[0x3103])), None);
        assert_eq!(fault(5, &behind(&[0x3103])), Some(2));
        // add r1,r5; subs r1,r1,r5; add.w r1,r1,r5,lsl #2; sub.w r1,r5,#5.
        assert_eq!(fault(5, &behind(&[0x4429])), Some(2));
        assert_eq!(fault(5, &behind(&[0x1b49])), Some(2));
        assert_eq!(fault(5, &behind(&[0xeb01, 0x0185])), None);
        assert_eq!(fault(5, &behind(&[0xf1a5, 0x0105])), None);
        // mov r1,r5; mov.w r1,r5,lsl #1; bic r1,r5,#3.
        assert_eq!(fault(5, &behind(&[0x4629])), Some(2));
        assert_eq!(fault(5, &behind(&[0xea4f, 0x0145])), Some(4));
        assert_eq!(fault(5, &behind(&[0xf025, 0x0103])), None);
        // ldr r0,[r1],#1; ldrb r0,[r1,#-3]!: where they are written back.
        assert_eq!(fault(5, &behind(&[0xf851, 0x0b01])), Some(4));
        assert_eq!(fault(1, &behind(&[0xf811, 0x0d03])), Some(4));
        assert_eq!(fault(1, &behind(&[0xf811, 0x0d01])), None);
        // ldr r1,[r5]: not known. it eq; addeq r1,#1; it eq and the access: neither.
        assert_eq!(alignment(&behind(&[0x6829])), None);
        assert_eq!(alignment(&behind(&[0xbf08, 0x3101])), None);
        assert_eq!(alignment(&behind(&[0xbf08])), None);
        // ldm r1!,{r2}; then r1 again; an LDM that loads its own base.
        assert_eq!(fault(1, &behind(&[0xc904])), Some(0));
        assert_eq!(
            alignment(&[0xe9d1, 0x1302, 0xe9d1, 0x2302]).map(|it| it.accesses.len()),
            Some(1)
        );
    }

    #[test]
    fn a_loop_stays_aligned_unless_it_steps_by_less_than_a_word() {
        let stays = |code: &[u16]| alignment(code).map(|alignment| alignment.stays());
        // ldmia r1!,{r2,r3}; with adds r1,#4, adds r1,#2, add r1,r5 before.
        assert_eq!(stays(&[0xc90c]), Some(true));
        assert_eq!(stays(&[0x3104, 0xc90c]), Some(true));
        assert_eq!(stays(&[0x3102, 0xc90c]), Some(false));
        assert_eq!(stays(&[0x4429, 0xc90c]), Some(false));
        assert_eq!(
            alignment(&[0x4429, 0xc90c]).map(|it| it.registers().collect()),
            Some(vec![1, 5])
        );
    }

    #[test]
    fn constants_are_those_of_the_manual() {
        for (halves, value) in [
            ((0xf04f, 0x01ab), 0xab),
            ((0xf04f, 0x11ab), 0x00ab_00ab),
            ((0xf04f, 0x21ab), 0xab00_ab00),
            ((0xf04f, 0x31ab), 0xabab_abab),
            ((0xf04f, 0x4100), 0x8000_0000),
            ((0xf44f, 0x7180), 0x100),
        ] {
            assert_eq!(constant(halves.0 << 16 | halves.1), value, "{halves:x?}");
        }
    }
}
