//! Floating-point encodings (DDI 0403E, chapter A6): those of FPv4-SP, FPv5-SP and FPv5-DP alike. Whether a core has
//! doubles, or a floating-point unit at all, is not checked.

use super::{Decoder, bits};
use crate::execute::Kind;
use crate::float::{Fixed, Format, Rounding};
use crate::operation::{Condition, R};

/// A floating-point instruction but for loads and stores. Registers are numbers of singles: of a double, that of its
/// low word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub what: What,
    pub format: Format,
    pub d: u8,
    pub n: u8,
    pub m: u8,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Add,
    Subtract,
    Divide,
    /// VMUL and VNMUL.
    Multiply {
        negates: bool,
    },
    /// VMLA, VMLS, VNMLA, VNMLS: rounds the product first.
    Accumulate {
        negates_addend: bool,
        negates_product: bool,
    },
    /// VFMA, VFMS, VFNMA, VFNMS.
    Fused {
        negates_addend: bool,
        negates_product: bool,
    },
    /// VMAXNM and VMINNM.
    Extreme {
        greater: bool,
    },
    Select(Condition),
    /// VMOV of a constant: the byte that stands for it.
    Constant(u8),
    Copy,
    Absolute,
    Negate,
    SquareRoot,
    Compare {
        with_zero: bool,
        signals: bool,
    },
    /// VRINT; FPSCR's rounding if there is none.
    RoundToInteger {
        rounding: Option<Rounding>,
        exact: bool,
    },
    /// VCVT between singles and doubles: from this format.
    Reformat(Format),
    /// VCVTB and VCVTT: from a half of a register, or into it.
    FromHalf {
        top: bool,
    },
    ToHalf {
        top: bool,
    },
    /// VCVT from and to integers and fixed point.
    FromFixed(Fixed, Option<Rounding>),
    ToFixed {
        to: Fixed,
        /// Whether the result is as long as the operand; else it is a single.
        keeps_size: bool,
        rounding: Option<Rounding>,
    },
    /// VMOV between `m`, or `m` and the next, and registers of the core.
    ToCore(R, Option<R>),
    FromCore(R, Option<R>),
    /// VMRS; to APSR if there is no register.
    ReadStatus(Option<R>),
    /// VMSR.
    WriteStatus(R),
}

/// The fields of an encoding: both of its halves.
#[derive(Clone, Copy)]
struct Fields(u32);

impl Fields {
    const fn has(self, bit: u32) -> bool {
        self.0 >> bit & 1 != 0
    }

    const fn bits(self, low: u32, count: u32) -> u32 {
        bits(self.0, low, count)
    }

    /// A register: four bits and one more. There are 16 doubles.
    fn register(self, low: u32, more: u32, double: bool) -> Option<u8> {
        let number = self.bits(low, 4) << 1;
        let more = self.bits(more, 1);
        if double { (more == 0).then_some(number as u8) } else { Some((number | more) as u8) }
    }

    fn d(self, double: bool) -> Option<u8> {
        self.register(12, 22, double)
    }

    fn n(self, double: bool) -> Option<u8> {
        self.register(16, 7, double)
    }

    fn m(self, double: bool) -> Option<u8> {
        self.register(0, 5, double)
    }

    fn is_double(self) -> bool {
        self.has(8)
    }

    fn format(self) -> Format {
        if self.is_double() { Format::Double } else { Format::Single }
    }

    /// The core's register that a transfer names; not PC.
    fn core(self, low: u32) -> Option<R> {
        Some(R::number(self.bits(low, 4))).filter(|register| *register != R::Pc)
    }

    fn three(self, what: What) -> Option<Instruction> {
        let double = self.is_double();
        let (d, n, m) = (self.d(double)?, self.n(double)?, self.m(double)?);
        Some(Instruction { what, format: self.format(), d, n, m })
    }

    /// Doubles or singles: destination and operand.
    fn two(self, what: What, double_d: bool, double_m: bool) -> Option<Instruction> {
        let (d, m) = (self.d(double_d)?, self.m(double_m)?);
        Some(Instruction { what, format: self.format(), d, n: 0, m })
    }

    /// A6.4: data processing.
    fn data_processing(self) -> Option<Instruction> {
        let negates = self.has(6);
        match self.bits(20, 4) & 0b1011 {
            0 => self.three(What::Accumulate { negates_addend: false, negates_product: negates }),
            1 => self.three(What::Accumulate { negates_addend: true, negates_product: negates }),
            2 => self.three(What::Multiply { negates }),
            3 => self.three(if self.has(6) { What::Subtract } else { What::Add }),
            8 if !self.has(6) => self.three(What::Divide),
            9 => self.three(What::Fused { negates_addend: true, negates_product: negates }),
            10 => self.three(What::Fused { negates_addend: false, negates_product: negates }),
            11 if self.has(6) => self.one_operand(),
            11 if self.0 & 0xa0 == 0 => {
                let constant = self.bits(16, 4) << 4 | self.bits(0, 4);
                let d = self.d(self.is_double())?;
                let what = What::Constant(constant as u8);
                Some(Instruction { what, format: self.format(), d, n: 0, m: 0 })
            }
            _ => None,
        }
    }

    /// A6.4, the instructions of one operand.
    fn one_operand(self) -> Option<Instruction> {
        let (double, top) = (self.is_double(), self.has(7));
        let same = |what: What| self.two(what, double, double);
        let round = |rounding: Option<Rounding>, exact: bool| {
            same(What::RoundToInteger { rounding, exact })
        };
        match (self.bits(16, 4), top) {
            (0, false) => same(What::Copy),
            (0, true) => same(What::Absolute),
            (1, false) => same(What::Negate),
            (1, true) => same(What::SquareRoot),
            (2, _) => self.two(What::FromHalf { top }, double, false),
            (3, _) => self.two(What::ToHalf { top }, false, double),
            (4, signals) => same(What::Compare { with_zero: false, signals }),
            (5, signals) if self.0 & 0x2f == 0 => same(What::Compare { with_zero: true, signals }),
            (6, false) => round(None, false),
            (6, true) => round(Some(Rounding::ToZero), false),
            (7, false) => round(None, true),
            (7, true) => {
                let from = self.format();
                let format = if double { Format::Single } else { Format::Double };
                let found = self.two(What::Reformat(from), !double, double)?;
                Some(Instruction { format, ..found })
            }
            (8, signed) => {
                let integer = Fixed { bits: 32, fraction: 0, unsigned: !signed };
                self.two(What::FromFixed(integer, None), double, false)
            }
            (which @ (12 | 13), to_zero) => {
                let to = Fixed { bits: 32, fraction: 0, unsigned: which == 12 };
                let rounding = to_zero.then_some(Rounding::ToZero);
                self.two(What::ToFixed { to, keeps_size: false, rounding }, false, double)
            }
            (10 | 11 | 14 | 15, _) => self.fixed_point(),
            _ => None,
        }
    }

    /// VCVT between floating-point and fixed-point, in place.
    fn fixed_point(self) -> Option<Instruction> {
        let bits = if self.has(7) { 32u32 } else { 16 };
        let fraction = bits.checked_sub(self.bits(0, 4) << 1 | self.bits(5, 1))?;
        let fixed = Fixed { bits, fraction, unsigned: self.has(16) };
        let what = if self.has(18) {
            let rounding = Some(Rounding::ToZero);
            What::ToFixed { to: fixed, keeps_size: true, rounding }
        } else {
            What::FromFixed(fixed, Some(Rounding::Nearest))
        };
        let d = self.d(self.is_double())?;
        Some(Instruction { what, format: self.format(), d, n: 0, m: d })
    }

    /// What FPv5 has more than FPv4: VSEL, VMAXNM, VMINNM, and conversions with a rounding of their own.
    fn more_data_processing(self) -> Option<Instruction> {
        let double = self.is_double();
        match self.bits(20, 4) & 0b1011 {
            0..=3 if !self.has(6) => {
                let all = [Condition::Eq, Condition::Vs, Condition::Ge, Condition::Gt];
                self.three(What::Select(all[self.bits(20, 2) as usize]))
            }
            8 => self.three(What::Extreme { greater: !self.has(6) }),
            11 if self.has(6) && self.has(19) => {
                let all = [Rounding::NearestAway, Rounding::Nearest, Rounding::Up, Rounding::Down];
                let rounding = Some(all[self.bits(16, 2) as usize]);
                if self.has(18) {
                    let to = Fixed { bits: 32, fraction: 0, unsigned: !self.has(7) };
                    return self.two(
                        What::ToFixed { to, keeps_size: false, rounding },
                        false,
                        double,
                    );
                }
                if self.has(7) {
                    return None;
                }
                self.two(What::RoundToInteger { rounding, exact: false }, double, double)
            }
            _ => None,
        }
    }

    /// A6.6: between registers of the core and singles, halves of doubles, FPSCR.
    fn transfer(self) -> Option<Instruction> {
        if self.0 & 0x6f != 0 {
            return None;
        }
        let (to_core, which) = (self.has(20), self.bits(21, 3));
        let what = match (which, to_core) {
            (7, _) if self.is_double() || self.has(7) || self.bits(16, 4) != 1 => return None,
            (7, true) => What::ReadStatus(self.core(12)),
            (7, false) => What::WriteStatus(self.core(12)?),
            (0, true) => What::ToCore(self.core(12)?, None),
            (0, false) => What::FromCore(self.core(12)?, None),
            (1, true) if self.is_double() => What::ToCore(self.core(12)?, None),
            (1, false) if self.is_double() => What::FromCore(self.core(12)?, None),
            _ => return None,
        };
        let m = if self.is_double() {
            // Bit 21 says which half of the double.
            self.n(true)? | self.has(21) as u8
        } else {
            self.n(false)?
        };
        Some(Instruction { what, format: Format::Single, d: 0, n: 0, m })
    }

    /// A6.7: two registers of the core and a double or two singles.
    fn double_transfer(self) -> Option<Instruction> {
        let m = self.m(self.is_double())?;
        if self.0 & 0xd0 != 0x10 || m == 31 {
            return None;
        }
        let (low, high) = (self.core(12)?, Some(self.core(16)?));
        let what = if self.has(20) { What::ToCore(low, high) } else { What::FromCore(low, high) };
        Some(Instruction { what, format: Format::Single, d: 0, n: 0, m })
    }
}

/// The floating-point instruction of an encoding, if it is one, and no load or store.
pub fn instruction(word: u32) -> Option<Instruction> {
    let fields = Fields(word);
    if fields.bits(9, 3) != 0b101 {
        return None;
    }
    match word >> 24 {
        0xec if fields.bits(21, 3) == 0b010 => fields.double_transfer(),
        0xee if fields.has(4) => fields.transfer(),
        0xee => fields.data_processing(),
        0xfe if !fields.has(4) => fields.more_data_processing(),
        _ => None,
    }
}

impl Decoder {
    pub(super) fn float(&mut self, h: u32, l: u32) {
        let word = h << 16 | l;
        let known = match instruction(word) {
            Some(instruction) => {
                self.push(Kind::Float, R::T, R::T, R::T, word);
                self.cut |= matches!(instruction.what, What::WriteStatus(_));
                Some(())
            }
            None => self.float_access(Fields(word)),
        };
        if known.is_none() {
            self.undefined();
        }
    }

    /// A6.5: VLDR, VSTR, VLDM, VSTM. Nothing if the encoding is undefined.
    fn float_access(&mut self, fields: Fields) -> Option<()> {
        let (before, up) = (fields.has(24), fields.has(23));
        let (back, load) = (fields.has(21), fields.has(20));
        let kind = if load { Kind::Vldm } else { Kind::Vstm };
        let is_one = before && !back;
        let is_access = fields.bits(25, 7) == 0b1110110 && fields.bits(9, 3) == 0b101;
        if !is_access || !is_one && before == up {
            return None;
        }
        let double = fields.is_double();
        let words = fields.bits(0, 8);
        let count = match (is_one, double) {
            (true, _) => 1 + u32::from(double),
            // An odd number of words is that of FLDMX and FSTMX.
            (false, true) => words & !1,
            (false, false) => words,
        };
        let first = u32::from(fields.d(double)?);
        if count == 0 || first + count > 32 {
            return None;
        }
        let offset = if up { words * 4 } else { (words * 4).wrapping_neg() };
        let n = R::number(fields.bits(16, 4));
        let registers = first | count << 8;
        if n == R::Pc {
            is_one.then(|| self.set(R::T, self.pc_base().wrapping_add(offset)))?;
            self.push(kind, R::T, R::T, R::T, registers);
        } else if before {
            self.push(Kind::AddI, R::T, n, R::T, offset);
            self.push(kind, R::T, R::T, R::T, registers);
            if back {
                self.push(Kind::Mov, n, R::T, R::T, 0);
            }
        } else {
            self.push(kind, R::T, n, R::T, registers);
            if back {
                self.push(Kind::AddI, n, n, R::T, offset);
            }
        }
        Some(())
    }
}
