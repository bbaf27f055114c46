//! Each form of instruction with random operands, flags and memory, on the own core and in bare Unicorn: registers,
//! flags and memory behind it are equal.
//!
//! `TILEWRIGHT_CASES` is the number of cases a form, for more than the usual.
//!
//! What Unicorn has otherwise than the manual is left out here: SMLAD sets Q by a sum of products that overflows
//! alone; SP keeps its lowest bits; stores with a sign; VCVT from fixed point rounds by FPSCR; and encodings that are
//! unpredictable.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod forms;

use forms::{FLOAT, FLOAT_5, FLOAT_DOUBLE, WIDE};
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
