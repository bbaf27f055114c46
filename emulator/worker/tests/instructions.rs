//! Each form of instruction with random operands, flags and memory, on the own core and in bare Unicorn: registers,
//! flags and memory behind it are equal.
//!
//! A form is its encoding as the manual draws it (DDI 0403E, A6 and A7): `0` and `1` are fixed, a letter's bits are
//! random. Lower-case n, d, m, a, t, u and l are registers, neither SP nor PC, and those of
//! loads, stores and long products differ. `TILEWRIGHT_CASES` is the number of cases a
//! form, for more than the usual.
//!
//! What Unicorn has otherwise than the manual is left out here: SMLAD sets Q by a sum of products that overflows
//! alone; SP keeps its lowest bits; stores with a sign; VCVT from fixed point rounds by FPSCR; and encodings that are
//! unpredictable.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use tilewright_cpu::{Architecture, Code, Core, Entry, Host, Leaves, Memory, R, Reach, run};
use unicorn_engine::{Arch, ArmCpuModel, Mode, Prot, RegisterARM, Unicorn, uc_error};

const CODE: u32 = 0x0800_0000;
/// Where the instruction lies, among breakpoints.
const AT: u32 = CODE + 0x8000;
const CODE_BYTES: usize = 0x1_0000;
const RAM: u32 = 0x2000_0000;
const RAM_BYTES: usize = 0x2000;
const CASES: u32 = 200;
/// Operands that an instruction is tried with.
const OPERANDS: u32 = 4;

/// Forms of 32 bits.
const WIDE: &[(&str, &str)] = &[
    ("STM", "1110100010W0nnnn 0q0qqqqqqqqqqqqq"),
    ("LDM", "1110100010W1nnnn 0q0qqqqqqqqqqqqq"),
    ("STMDB", "1110100100W0nnnn 0q0qqqqqqqqqqqqq"),
    ("LDMDB", "1110100100W1nnnn 0q0qqqqqqqqqqqqq"),
    ("STRD", "11101001U1W0nnnn ttttuuuuiiiiiiii"),
    ("STRD behind", "11101000U110nnnn ttttuuuuiiiiiiii"),
    ("LDRD", "11101001U1W1nnnn ttttuuuuiiiiiiii"),
    ("LDRD behind", "11101000U111nnnn ttttuuuuiiiiiiii"),
    ("LDREX", "111010000101nnnn tttt1111iiiiiiii"),
    ("STREX", "111010000100nnnn ttttddddiiiiiiii"),
    ("LDREXB", "111010001101nnnn tttt111101001111"),
    ("STREXH", "111010001100nnnn tttt11110101dddd"),
    ("AND", "11101010000Snnnn 0iiiddddiiTTmmmm"),
    ("BIC", "11101010001Snnnn 0iiiddddiiTTmmmm"),
    ("ORR", "11101010010Snnnn 0iiiddddiiTTmmmm"),
    ("MOV", "11101010010S1111 0iiiddddiiTTmmmm"),
    ("ORN", "11101010011Snnnn 0iiiddddiiTTmmmm"),
    ("MVN", "11101010011S1111 0iiiddddiiTTmmmm"),
    ("EOR", "11101010100Snnnn 0iiiddddiiTTmmmm"),
    ("TST", "111010100001nnnn 0iii1111iiTTmmmm"),
    ("TEQ", "111010101001nnnn 0iii1111iiTTmmmm"),
    ("PKH", "111010101100nnnn 0iiiddddiiT0mmmm"),
    ("ADD", "11101011000Snnnn 0iiiddddiiTTmmmm"),
    ("CMN", "111010110001nnnn 0iii1111iiTTmmmm"),
    ("ADC", "11101011010Snnnn 0iiiddddiiTTmmmm"),
    ("SBC", "11101011011Snnnn 0iiiddddiiTTmmmm"),
    ("SUB", "11101011101Snnnn 0iiiddddiiTTmmmm"),
    ("CMP", "111010111011nnnn 0iii1111iiTTmmmm"),
    ("RSB", "11101011110Snnnn 0iiiddddiiTTmmmm"),
    ("AND #", "11110i00000Snnnn 0iiiddddiiiiiiii"),
    ("BIC #", "11110i00001Snnnn 0iiiddddiiiiiiii"),
    ("ORR #", "11110i00010Snnnn 0iiiddddiiiiiiii"),
    ("MOV #", "11110i00010S1111 0iiiddddiiiiiiii"),
    ("ORN #", "11110i00011Snnnn 0iiiddddiiiiiiii"),
    ("MVN #", "11110i00011S1111 0iiiddddiiiiiiii"),
    ("EOR #", "11110i00100Snnnn 0iiiddddiiiiiiii"),
    ("TST #", "11110i000001nnnn 0iii1111iiiiiiii"),
    ("TEQ #", "11110i001001nnnn 0iii1111iiiiiiii"),
    ("ADD #", "11110i01000Snnnn 0iiiddddiiiiiiii"),
    ("CMN #", "11110i010001nnnn 0iii1111iiiiiiii"),
    ("ADC #", "11110i01010Snnnn 0iiiddddiiiiiiii"),
    ("SBC #", "11110i01011Snnnn 0iiiddddiiiiiiii"),
    ("SUB #", "11110i01101Snnnn 0iiiddddiiiiiiii"),
    ("CMP #", "11110i011011nnnn 0iii1111iiiiiiii"),
    ("RSB #", "11110i01110Snnnn 0iiiddddiiiiiiii"),
    ("ADDW", "11110i100000nnnn 0iiiddddiiiiiiii"),
    ("ADR", "11110i1000001111 0iiiddddiiiiiiii"),
    ("SUBW", "11110i101010nnnn 0iiiddddiiiiiiii"),
    ("MOVW", "11110i100100iiii 0iiiddddiiiiiiii"),
    ("MOVT", "11110i101100iiii 0iiiddddiiiiiiii"),
    ("SSAT", "111100110000nnnn 0iiiddddii0sssss"),
    ("SSAT of a shifted", "111100110010nnnn 01iiddddii0sssss"),
    ("SSAT16", "111100110010nnnn 0000dddd0000iiii"),
    ("USAT", "111100111000nnnn 0iiiddddii0sssss"),
    ("USAT of a shifted", "111100111010nnnn 01iiddddii0sssss"),
    ("USAT16", "111100111010nnnn 0000dddd0000iiii"),
    ("SBFX", "111100110100nnnn 00iiddddii000sss"),
    ("UBFX", "111100111100nnnn 00iiddddii000sss"),
    ("BFI", "111100110110nnnn 0i00ddddii011sss"),
    ("BFC", "1111001101101111 0i00ddddii011sss"),
    ("B", "11110Scccciiiiii 10J0Jiiiiiiiiiii"),
    ("B far", "11110S0000000000 10J1Jiiiiiiiiiii"),
    ("BL", "11110S0000000000 11J1Jiiiiiiiiiii"),
    ("TBB", "111010001101nnnn 111100000000mmmm"),
    ("TBH", "111010001101nnnn 111100000001mmmm"),
    ("MRS APSR", "1111001111101111 1000dddd00000000"),
    ("MSR APSR", "111100111000nnnn 1000110000000000"),
    ("STRB", "111110000000nnnn tttt1PU1iiiiiiii"),
    ("STRH", "111110000010nnnn tttt1PU1iiiiiiii"),
    ("STR", "111110000100nnnn tttt1PU1iiiiiiii"),
    ("STRB below", "111110000000nnnn tttt1100iiiiiiii"),
    ("STRH far", "111110001010nnnn ttttiiiiiiiiiiii"),
    ("STR indexed", "111110000100nnnn tttt000000iimmmm"),
    ("STRB indexed", "111110000000nnnn tttt000000iimmmm"),
    ("LDRB", "111110000001nnnn tttt1PU1iiiiiiii"),
    ("LDRSB", "111110010001nnnn tttt1PU1iiiiiiii"),
    ("LDRH", "111110000011nnnn tttt1PU1iiiiiiii"),
    ("LDRSH", "111110010011nnnn tttt1PU1iiiiiiii"),
    ("LDR", "111110000101nnnn tttt1PU1iiiiiiii"),
    ("LDR far", "111110001101nnnn ttttiiiiiiiiiiii"),
    ("LDRSB far", "111110011001nnnn ttttiiiiiiiiiiii"),
    ("LDR below", "111110000101nnnn tttt1100iiiiiiii"),
    ("LDR indexed", "111110000101nnnn tttt000000iimmmm"),
    ("LDRSH indexed", "111110010011nnnn tttt000000iimmmm"),
    ("LDR of PC", "11111000U1011111 ttttiiiiiiiiiiii"),
    ("shift", "111110100TTSnnnn 1111dddd0000mmmm"),
    ("SXTH", "1111101000001111 1111dddd10iimmmm"),
    ("SXTAH", "111110100000nnnn 1111dddd10iimmmm"),
    ("UXTH", "1111101000011111 1111dddd10iimmmm"),
    ("UXTAH", "111110100001nnnn 1111dddd10iimmmm"),
    ("SXTB16", "1111101000101111 1111dddd10iimmmm"),
    ("SXTAB16", "111110100010nnnn 1111dddd10iimmmm"),
    ("UXTB16", "1111101000111111 1111dddd10iimmmm"),
    ("UXTAB16", "111110100011nnnn 1111dddd10iimmmm"),
    ("SXTAB", "111110100100nnnn 1111dddd10iimmmm"),
    ("UXTAB", "111110100101nnnn 1111dddd10iimmmm"),
    ("ADD8 and the like", "111110101000nnnn 1111dddd0Hhhmmmm"),
    ("ADD16 and the like", "111110101001nnnn 1111dddd0Hhhmmmm"),
    ("ASX and the like", "111110101010nnnn 1111dddd0Hhhmmmm"),
    ("SUB8 and the like", "111110101100nnnn 1111dddd0Hhhmmmm"),
    ("SUB16 and the like", "111110101101nnnn 1111dddd0Hhhmmmm"),
    ("SAX and the like", "111110101110nnnn 1111dddd0Hhhmmmm"),
    ("QADD and the like", "111110101000nnnn 1111dddd10iimmmm"),
    ("REV and the like", "111110101001mmmm 1111dddd10iimmmm"),
    ("SEL", "111110101010nnnn 1111dddd1000mmmm"),
    ("CLZ", "111110101011mmmm 1111dddd1000mmmm"),
    ("MLA", "111110110000nnnn aaaadddd0000mmmm"),
    ("MUL", "111110110000nnnn 1111dddd0000mmmm"),
    ("MLS", "111110110000nnnn aaaadddd0001mmmm"),
    ("SMLAxy", "111110110001nnnn aaaadddd00xymmmm"),
    ("SMULxy", "111110110001nnnn 1111dddd00xymmmm"),
    ("SMLAD", "111110110010nnnn aaaadddd000xmmmm"),
    ("SMUAD", "111110110010nnnn 1111dddd000xmmmm"),
    ("SMLAW", "111110110011nnnn aaaadddd000xmmmm"),
    ("SMULW", "111110110011nnnn 1111dddd000xmmmm"),
    ("SMLSD", "111110110100nnnn aaaadddd000xmmmm"),
    ("SMUSD", "111110110100nnnn 1111dddd000xmmmm"),
    ("SMMLA", "111110110101nnnn aaaadddd000rmmmm"),
    ("SMMUL", "111110110101nnnn 1111dddd000rmmmm"),
    ("SMMLS", "111110110110nnnn aaaadddd000rmmmm"),
    ("USADA8", "111110110111nnnn aaaadddd0000mmmm"),
    ("USAD8", "111110110111nnnn 1111dddd0000mmmm"),
    ("SMULL", "111110111000nnnn lllldddd0000mmmm"),
    ("SDIV", "111110111001nnnn 1111dddd1111mmmm"),
    ("UMULL", "111110111010nnnn lllldddd0000mmmm"),
    ("UDIV", "111110111011nnnn 1111dddd1111mmmm"),
    ("SMLAL", "111110111100nnnn lllldddd0000mmmm"),
    ("SMLALxy", "111110111100nnnn lllldddd10xymmmm"),
    ("SMLALD", "111110111100nnnn lllldddd110xmmmm"),
    ("SMLSLD", "111110111101nnnn lllldddd110xmmmm"),
    ("UMLAL", "111110111110nnnn lllldddd0000mmmm"),
    ("UMAAL", "111110111110nnnn lllldddd0110mmmm"),
];

/// Forms of the floating-point unit of every core. z: doubles, where there are some, whose registers are d0 to d15.
const FLOAT: &[(&str, &str)] = &[
    ("VMLA, VMLS", "111011100D00ffff gggg101zNSM0hhhh"),
    ("VNMLA, VNMLS", "111011100D01ffff gggg101zNSM0hhhh"),
    ("VMUL, VNMUL", "111011100D10ffff gggg101zNSM0hhhh"),
    ("VADD, VSUB", "111011100D11ffff gggg101zNSM0hhhh"),
    ("VDIV", "111011101D00ffff gggg101zN0M0hhhh"),
    ("VFNMA, VFNMS", "111011101D01ffff gggg101zNSM0hhhh"),
    ("VFMA, VFMS", "111011101D10ffff gggg101zNSM0hhhh"),
    ("VMOV #", "111011101D11iiii gggg101z0000iiii"),
    ("VMOV, VABS", "111011101D110000 gggg101zS1M0hhhh"),
    ("VNEG, VSQRT", "111011101D110001 gggg101zS1M0hhhh"),
    ("VCVT of a half", "111011101D110010 gggg1010S1M0hhhh"),
    ("VCVT to a half", "111011101D110011 gggg1010S1M0hhhh"),
    ("VCMP", "111011101D110100 gggg101zE1M0hhhh"),
    ("VCMP with zero", "111011101D110101 gggg101zE1000000"),
    ("VCVT of an integer", "111011101D111000 gggg101zS1M0hhhh"),
    ("VCVT to an integer", "111011101D11110S gggg101zR1M0hhhh"),
    ("VCVT to fixed point", "111011101D11111S gggg101z11i0iiii"),
    ("VMOV to a core register", "111011100001ffff tttt1010N0010000"),
    ("VMOV of a core register", "111011100000ffff tttt1010N0010000"),
    ("VMOV of two", "111011000100uuuu tttt10110001hhhh"),
    ("VMOV to two", "111011000101uuuu tttt101000010hhh"),
    ("VMRS", "1110111011110001 tttt101000010000"),
    ("VMRS to APSR", "1110111011110001 1111101000010000"),
    ("VMSR", "1110111011100001 tttt101000010000"),
    ("VLDR", "11101101UD01nnnn gggg101ziiiiiiii"),
    ("VSTR", "11101101UD00nnnn gggg101ziiiiiiii"),
    ("VLDM", "111011001DW1nnnn 0ggg101000000ii1"),
    ("VLDMDB", "111011010D11nnnn 0ggg101000000ii1"),
    ("VSTM", "111011001DW0nnnn 0ggg101000000ii1"),
];

/// Those of FPv5, which know no condition.
const FLOAT_5: &[(&str, &str)] = &[
    ("VSEL", "111111100DCCffff gggg101zN0M0hhhh"),
    ("VMAXNM, VMINNM", "111111101D00ffff gggg101zNSM0hhhh"),
    ("VRINTA and the like", "111111101D1110RR gggg101z01M0hhhh"),
    ("VCVTA and the like", "111111101D1111RR gggg101zS1M0hhhh"),
    ("VRINTR, VRINTZ", "111011101D110110 gggg101zS1M0hhhh"),
    ("VRINTX", "111011101D110111 gggg101z01M0hhhh"),
];

/// Those between singles and doubles.
const FLOAT_DOUBLE: &[(&str, &str)] = &[("VCVT of doubles", "111011101D110111 gggg101z11M0hhhh")];

/// What a core holds.
#[derive(Clone, Debug, PartialEq)]
struct State {
    registers: [u32; 15],
    xpsr: u32,
    singles: [u32; 32],
    fpscr: u32,
    memory: Vec<u8>,
}

impl State {
    /// All but memory.
    fn all_registers(&self) -> ([u32; 15], u32, [u32; 32], u32) {
        (self.registers, self.xpsr, self.singles, self.fpscr)
    }
}

/// How a case ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// At the breakpoint behind it, or where it branched to.
    Goes(u32),
    Access,
    Fault,
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 32) as u32
    }

    fn below(&mut self, end: u32) -> u32 {
        self.next() % end
    }

    /// An operand: an address in RAM, something at a border, anything.
    fn operand(&mut self, words: bool) -> u32 {
        const BORDERS: [u32; 5] = [0x8000_0000, 0x7fff_ffff, 0x8000_8000, 0x7fff_7fff, 0x8000_7fff];
        let value = match self.below(8) {
            0..=2 => RAM + RAM_BYTES as u32 / 4 + self.below(RAM_BYTES as u32 / 2),
            3 => self.below(64),
            4 => 0u32.wrapping_sub(self.below(64)),
            5 => BORDERS[self.below(5) as usize],
            _ => self.next(),
        };
        if words { value & !3 } else { value }
    }

    fn state(&mut self, words: bool) -> State {
        let mut registers = [0; 15];
        registers.fill_with(|| self.operand(words));
        registers[13] = RAM + RAM_BYTES as u32 / 4 + self.below(256) * 4;
        let memory = (0..RAM_BYTES).map(|_| self.next() as u8).collect();
        let mut singles = [0; 32];
        singles.fill_with(|| self.single());
        // Flags, rounding mode, FZ, DN, AHP, and what was raised.
        let fpscr = self.next() & self.next() & 0xf7c0_009f;
        // N, Z, C, V, Q and GE.
        let xpsr = self.next() & 0xf80f_0000 | 1 << 24;
        State { registers, xpsr, singles, fpscr, memory }
    }

    /// A floating-point number, or the half of a double: special ones, small ones, any.
    fn single(&mut self) -> u32 {
        let sign = self.below(2) << 31;
        let fraction = self.next() & 0x007f_ffff;
        sign | match self.below(8) {
            0 => 0,
            1 => 0x7f80_0000,
            2 => 0x7f80_0000 | fraction,
            3 => fraction,
            4 => (self.below(2000) as f32 / 4.0).to_bits(),
            5 => 0x3ff0_0000 + self.below(0x0100_0000),
            6 => 0x4e80_0000 + self.below(0x0200_0000),
            _ => self.next() & 0x7fff_ffff,
        }
    }
}

/// An encoding of a form, of doubles too if the core has some: its word, the first halfword above.
fn encoding(form: &str, doubles: bool, random: &mut Random) -> Option<u32> {
    let bits: Vec<char> = form.chars().filter(|bit| *bit != ' ').collect();
    assert_eq!(bits.len(), 32, "{form}");
    let of = |letter: char| bits.iter().filter(|bit| **bit == letter).count();
    let differ =
        "tl".chars().any(|letter| of(letter) == 4) || of('q') > 0 || form.contains("1111010");
    let mut registers: Vec<(char, u32)> = Vec::new();
    for letter in "ndmatul".chars().filter(|letter| matches!(of(*letter), 4 | 8)) {
        let register = loop {
            let register = random.below(15);
            let is_taken = differ && letter != 'm' && registers.iter().any(|(_, r)| *r == register);
            if register != 13 && !is_taken {
                break register;
            }
        };
        registers.push((letter, register));
    }
    let mut left: Vec<(char, u32)> = registers.iter().map(|(letter, _)| (*letter, 4)).collect();
    let is_double = doubles && of('z') == 1 && random.below(2) == 1;
    let word = bits.iter().fold(0, |word, bit| {
        let field = left.iter_mut().find(|(letter, _)| letter == bit);
        let bit = match (bit, field) {
            ('0' | '1', _) => u32::from(*bit == '1'),
            ('z', _) => u32::from(is_double),
            ('D' | 'N' | 'M', _) if is_double => 0,
            (_, Some((letter, left))) => {
                *left = if *left == 0 { 3 } else { *left - 1 };
                let (_, value) = registers.iter().find(|(known, _)| known == letter).unwrap();
                value >> *left & 1
            }
            _ => random.next() & 1,
        };
        word << 1 | bit
    });
    let is_list = of('q') > 0;
    let base = registers.iter().find(|(letter, _)| *letter == 'n').map_or(0, |(_, r)| *r);
    let list_is_wrong = (word & 0xffff).count_ones() < 2 || word >> base & 1 != 0;
    // Of branches, 14 and 15 are no conditions.
    let no_condition = of('c') > 0 && word >> 23 & 7 == 7;
    let is_one = !(no_condition || is_list && list_is_wrong);
    is_one.then_some(word)
}

/// Whether a form takes words at their places alone.
fn takes_words(word: u32) -> bool {
    matches!(word >> 25, 0b111_0100 | 0b111_0110)
}

struct Ours {
    core: Core,
    memory: Memory,
    blocks: u32,
}

impl Host for Ours {
    fn core(&mut self) -> &mut Core {
        &mut self.core
    }

    fn parts(&mut self) -> (&mut Core, &mut Memory) {
        (&mut self.core, &mut self.memory)
    }

    fn enters(&mut self, _: &mut u32, _: u32, _: u32) -> Entry {
        self.blocks += 1;
        if self.blocks > 3 { Entry::Ends } else { Entry::Runs }
    }
}

/// Memory of breakpoints, with an instruction among them.
fn code(instruction: &[u8]) -> Vec<u8> {
    let mut code = 0xbe00u16.to_le_bytes().repeat(CODE_BYTES / 2);
    let at = (AT - CODE) as usize;
    code[at..at + instruction.len()].copy_from_slice(instruction);
    code
}

fn on_own(architecture: Architecture, instruction: &[u8], before: &State) -> (How, State) {
    let mut memory = Memory::default();
    memory.add(CODE, CODE_BYTES, Reach::ReadOnly);
    memory.add(RAM, RAM_BYTES, Reach::Plain);
    memory.write(CODE, &code(instruction));
    memory.write(RAM, &before.memory);
    let mut ours = Ours { core: Core::default(), memory, blocks: 0 };
    for (number, value) in (0..).zip(before.registers) {
        ours.core.set_register(R::number(number), value);
    }
    ours.core.set_xpsr(before.xpsr);
    for (number, value) in (0..).zip(before.singles) {
        ours.core.set_single(number, value);
    }
    ours.core.set_fpscr(before.fpscr);
    ours.core.set_register(R::Pc, AT);
    let leaves = run(&mut Code::new(architecture), &mut ours);
    let how = match leaves {
        Leaves::Breakpoint => How::Goes(ours.core.register(R::Pc)),
        Leaves::Access => How::Access,
        _ => How::Fault,
    };
    let mut after = before.clone();
    for (number, value) in (0..).zip(&mut after.registers) {
        *value = ours.core.register(R::number(number));
    }
    (after.xpsr, after.fpscr) = (ours.core.xpsr(), ours.core.fpscr());
    for (number, value) in (0..).zip(&mut after.singles) {
        *value = ours.core.single(number);
    }
    assert!(ours.memory.read(RAM, &mut after.memory));
    (how, after)
}

const NUMBERED: [RegisterARM; 15] = [
    RegisterARM::R0,
    RegisterARM::R1,
    RegisterARM::R2,
    RegisterARM::R3,
    RegisterARM::R4,
    RegisterARM::R5,
    RegisterARM::R6,
    RegisterARM::R7,
    RegisterARM::R8,
    RegisterARM::R9,
    RegisterARM::R10,
    RegisterARM::R11,
    RegisterARM::R12,
    RegisterARM::SP,
    RegisterARM::LR,
];

/// Blocks of a case, and Unicorn's number of what was raised.
#[derive(Default)]
struct Seen {
    blocks: u32,
    raised: Option<u32>,
    is_armv8: bool,
}

/// Unicorn's number of BKPT.
const BREAKPOINT: u32 = 7;

fn unicorn<'a>(model: ArmCpuModel) -> Unicorn<'a, Seen> {
    let mut uc = Unicorn::new_with_data(Arch::ARM, Mode::THUMB, Seen::default()).unwrap();
    uc.ctl_set_cpu_model(model as i32).unwrap();
    uc.mem_map(CODE.into(), CODE_BYTES as u64, Prot::READ | Prot::EXEC).unwrap();
    uc.mem_map(RAM.into(), RAM_BYTES as u64, Prot::READ | Prot::WRITE).unwrap();
    uc.add_intr_hook(|uc, number| {
        uc.get_data_mut().raised = Some(number);
        let _ = uc.emu_stop();
    })
    .unwrap();
    uc.add_block_hook(1, 0, |uc, _, _| {
        uc.get_data_mut().blocks += 1;
        if uc.get_data().blocks > 3 {
            let _ = uc.emu_stop();
        }
    })
    .unwrap();
    uc
}

/// Unicorn's number of a floating-point register.
fn single(number: usize) -> i32 {
    RegisterARM::S0 as i32 + number as i32
}

fn on_unicorn(uc: &mut Unicorn<'_, Seen>, before: &State) -> (How, State) {
    // Floating point is in use, of the secure state where there is one: else Unicorn clears FPSCR first.
    uc.reg_write(RegisterARM::CONTROL, if uc.get_data().is_armv8 { 12 } else { 4 }).unwrap();
    for (number, value) in before.singles.into_iter().enumerate() {
        uc.reg_write(single(number), value.into()).unwrap();
    }
    uc.reg_write(RegisterARM::FPSCR, before.fpscr.into()).unwrap();
    uc.mem_write(RAM.into(), &before.memory).unwrap();
    uc.reg_write(RegisterARM::XPSR_NZCVQG, before.xpsr.into()).unwrap();
    for register in [RegisterARM::PRIMASK, RegisterARM::FAULTMASK, RegisterARM::BASEPRI] {
        uc.reg_write(register, 0).unwrap();
    }
    for (register, value) in NUMBERED.into_iter().zip(before.registers) {
        uc.reg_write(register, value.into()).unwrap();
    }
    *uc.get_data_mut() = Seen { is_armv8: uc.get_data().is_armv8, ..Seen::default() };
    let result = uc.emu_start(u64::from(AT | 1), 0x9fff_fff0, 0, 0);
    let how = match (result, uc.get_data().raised) {
        (Ok(()), Some(BREAKPOINT)) if uc.get_data().blocks <= 3 => {
            How::Goes(uc.reg_read(RegisterARM::PC).unwrap() as u32)
        }
        (
            Err(
                uc_error::READ_UNMAPPED
                | uc_error::WRITE_UNMAPPED
                | uc_error::READ_PROT
                | uc_error::WRITE_PROT,
            ),
            _,
        ) => How::Access,
        _ => How::Fault,
    };
    let mut after = before.clone();
    for (register, value) in NUMBERED.into_iter().zip(&mut after.registers) {
        *value = uc.reg_read(register).unwrap() as u32;
    }
    after.xpsr = uc.reg_read(RegisterARM::XPSR).unwrap() as u32;
    after.fpscr = uc.reg_read(RegisterARM::FPSCR).unwrap() as u32;
    for (number, value) in after.singles.iter_mut().enumerate() {
        *value = uc.reg_read(single(number)).unwrap() as u32;
    }
    uc.mem_read(RAM.into(), &mut after.memory).unwrap();
    (how, after)
}

/// Both cores, and what they are.
struct Pair<'a> {
    architecture: Architecture,
    uc: Unicorn<'a, Seen>,
    random: Random,
}

impl Pair<'_> {
    fn new(architecture: Architecture, model: ArmCpuModel) -> Self {
        let mut uc = unicorn(model);
        uc.get_data_mut().is_armv8 = architecture == Architecture::Armv8;
        Self { architecture, uc, random: Random(7) }
    }

    /// Tries an instruction with some operands, now and then under a condition unless it `branches`.
    fn compare(&mut self, name: &str, instruction: &[u8], words: bool, branches: bool) {
        let is_conditional = !branches && self.random.below(6) == 0;
        let it = 0xbf08 | (self.random.below(14) as u16) << 4;
        let it = if is_conditional { it.to_le_bytes().to_vec() } else { Vec::new() };
        let bytes = [&it, instruction].concat();
        self.uc.mem_write(CODE.into(), &code(&bytes)).unwrap();
        self.uc.ctl_remove_cache(AT.into(), u64::from(AT) + 16).unwrap();
        for _ in 0..OPERANDS {
            let before = self.random.state(words);
            let (how, ours) = on_own(self.architecture, &bytes, &before);
            let (expected, theirs) = on_unicorn(&mut self.uc, &before);
            let from = before.registers;
            assert_eq!(how, expected, "{name} {bytes:02x?}: own core, Unicorn; from {from:x?}");
            if !matches!(how, How::Goes(_)) {
                continue;
            }
            let mut theirs = theirs;
            if name == "SMLAD" {
                // Unicorn sets Q where the sum of both products alone overflows.
                theirs.xpsr = theirs.xpsr & !(1 << 27) | ours.xpsr & 1 << 27;
            }
            assert!(
                ours == theirs,
                "{name} {bytes:02x?} from {:x?}: own core {:x?}, Unicorn {:x?}",
                before.all_registers(),
                ours.all_registers(),
                theirs.all_registers(),
            );
        }
    }
}

const CORES: [(Architecture, ArmCpuModel); 3] = [
    (Architecture::Armv7, ArmCpuModel::CORTEX_M4),
    (Architecture::Armv7, ArmCpuModel::CORTEX_M7),
    (Architecture::Armv8, ArmCpuModel::CORTEX_M33),
];

fn cases() -> u32 {
    std::env::var("TILEWRIGHT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES)
}

impl Pair<'_> {
    /// Tries forms of 32 bits.
    fn compare_forms(&mut self, forms: &[(&str, &str)], doubles: bool, conditions: bool) {
        for (name, form) in forms {
            for _ in 0..cases() / OPERANDS {
                let Some(word) = encoding(form, doubles, &mut self.random) else { continue };
                let halves = [(word >> 16) as u16, word as u16];
                let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
                let branches = !conditions || name.starts_with('B');
                self.compare(name, &bytes, takes_words(word), branches);
            }
        }
    }
}

#[test]
fn instructions_of_32_bits_do_the_same_on_both_cores() {
    for (architecture, model) in CORES {
        Pair::new(architecture, model).compare_forms(WIDE, false, true);
    }
}

#[test]
fn floats_do_the_same_on_both_cores() {
    for (architecture, model) in CORES {
        let doubles = model == ArmCpuModel::CORTEX_M7;
        let mut pair = Pair::new(architecture, model);
        pair.compare_forms(FLOAT, doubles, true);
        if model != ArmCpuModel::CORTEX_M4 {
            pair.compare_forms(FLOAT_5, doubles, false);
        }
        if doubles {
            pair.compare_forms(FLOAT_DOUBLE, true, true);
        }
    }
}

/// Whether an instruction of 16 bits is compared: those that are undefined or unpredictable are not, nor those that
/// branch to where registers or memory say, BKPT, IT and hints.
fn is_compared(half: u16) -> bool {
    let (low, middle) = (half & 7 | half >> 4 & 8, half >> 3 & 15);
    match half {
        // With high registers: not with SP and PC.
        0x4400..=0x46ff => [low, middle].iter().all(|register| !matches!(register, 13 | 15)),
        0x4700..=0x47ff => false,
        0xb100..=0xb1ff | 0xb300..=0xb3ff | 0xb900..=0xb9ff | 0xbb00..=0xbbff => true,
        0xb600..=0xb6ff => half & 0xffec == 0xb660,
        0xb700..=0xb8ff | 0xba80..=0xbabf | 0xbd00..=0xbfff => false,
        0xb400 | 0xbc00 | 0xde00..=0xdfff => false,
        // A base in the list.
        0xc000..=0xc7ff => half & 0xff != 0 && half >> (half >> 8 & 7) & 1 == 0,
        0xc800..=0xcfff => half & 0xff != 0,
        _ => true,
    }
}

#[test]
fn instructions_of_16_bits_do_the_same_on_both_cores() {
    for (architecture, model) in CORES {
        let mut pair = Pair::new(architecture, model);
        for half in (0..0xe800u16).filter(|half| is_compared(*half)).step_by(3) {
            let words = matches!(half >> 12, 0xb | 0xc);
            let branches = matches!(half >> 8, 0xb1 | 0xb3 | 0xb9 | 0xbb | 0xd0..=0xdf | 0xe0..);
            pair.compare("", &half.to_le_bytes(), words, branches);
        }
    }
}
