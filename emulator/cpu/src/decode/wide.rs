//! The 32-bit encodings (DDI 0403E, A5.3): `h` is the first halfword, `l` the second.

use super::{Architecture, Decoder, bits, data_processing, signed};
use crate::execute::Kind;
use crate::operation::{Ask, Condition, End, R};

impl Decoder {
    pub(super) fn wide(&mut self, h: u32, l: u32) {
        match h >> 11 & 3 {
            1 => match h >> 9 & 3 {
                0 if h & 0x40 == 0 => self.multiple(h, l),
                0 => self.dual(h, l),
                1 => self.shifted_register(h, l),
                _ => self.float(h, l),
            },
            2 if l & 0x8000 != 0 => self.control(h, l),
            2 if h & 0x200 == 0 => self.modified_immediate(h, l),
            2 => self.plain_immediate(h, l),
            _ => match h >> 8 & 7 {
                0 | 1 => self.single(h, l),
                2 => self.by_registers(h, l),
                3 if h & 0x80 == 0 => self.multiply(h, l),
                3 => self.long_multiply(h, l),
                _ => self.float(h, l),
            },
        }
    }

    /// A5.3.5.
    fn multiple(&mut self, h: u32, l: u32) {
        let (load, back, mode) = (h & 0x10 != 0, h & 0x20 != 0, h >> 7 & 3);
        if !matches!(mode, 1 | 2) || l == 0 {
            return self.undefined();
        }
        self.many(load, mode == 2, R::number(h), l & !(1 << 13), back);
    }

    /// A5.3.6: LDRD and STRD, exclusives, table branches; those of Armv8-M that order memory.
    fn dual(&mut self, h: u32, l: u32) {
        let (n, t, t2) = (R::number(h), R::number(l >> 12), R::number(l >> 8));
        let (before, up) = (h & 0x100 != 0, h & 0x80 != 0);
        let (back, load) = (h & 0x20 != 0, h & 0x10 != 0);
        if !before && !back {
            return self.exclusive(h, l);
        }
        let offset = if up { (l & 255) * 4 } else { ((l & 255) * 4).wrapping_neg() };
        let kind = if load { Kind::Ldrd } else { Kind::Strd };
        if n == R::Pc {
            if back {
                return self.undefined();
            }
            self.set(R::T, self.pc_base());
            return self.push(kind, t, R::T, t2, offset);
        }
        if before && !back {
            return self.push(kind, t, n, t2, offset);
        }
        if before {
            self.push(Kind::AddI, R::T, n, R::T, offset);
            self.push(kind, t, R::T, t2, 0);
            self.push(Kind::Mov, n, R::T, R::T, 0);
        } else {
            self.push(kind, t, n, t2, 0);
            self.push(Kind::AddI, n, n, R::T, offset);
        }
    }

    fn exclusive(&mut self, h: u32, l: u32) {
        let (n, t, load) = (R::number(h), R::number(l >> 12), h & 0x10 != 0);
        if h & 0x80 == 0 {
            // LDREX and STREX of words: the offset is in words, the bytes are in its low bits.
            let offset = (l & 255) * 4;
            if offset & 7 != 0 {
                self.push(Kind::AddI, R::T, n, R::T, offset);
                return self.exclusive_access(load, R::T, t, R::number(l >> 8), 4);
            }
            return self.exclusive_access(load, n, t, R::number(l >> 8), offset | 4);
        }
        match (l >> 4 & 15, load) {
            (0 | 1, true) => {
                let kind = if l & 0x10 == 0 { Kind::Tbb } else { Kind::Tbh };
                let n = if n == R::Pc {
                    self.set(R::T, self.pc_value());
                    R::T
                } else {
                    n
                };
                self.push(kind, R::Pc, n, R::number(l), self.pc_value());
                self.end = Some(End::Indirect);
            }
            (4, _) => self.exclusive_access(load, n, t, R::number(l), 1),
            (5, _) => self.exclusive_access(load, n, t, R::number(l), 2),
            _ if self.architecture == Architecture::Armv7 => self.undefined(),
            // LDA, STL and their exclusive forms (DDI 0553B): memory is in order here.
            (8, true) => self.push(Kind::Ldrb, t, n, R::T, 0),
            (9, true) => self.push(Kind::Ldrh, t, n, R::T, 0),
            (10, true) => self.push(Kind::Ldr, t, n, R::T, 0),
            (8, false) => self.push(Kind::Strb, t, n, R::T, 0),
            (9, false) => self.push(Kind::Strh, t, n, R::T, 0),
            (10, false) => self.push(Kind::Str, t, n, R::T, 0),
            (12, _) => self.exclusive_access(load, n, t, R::number(l), 1),
            (13, _) => self.exclusive_access(load, n, t, R::number(l), 2),
            (14, _) => self.exclusive_access(load, n, t, R::number(l), 4),
            _ => self.undefined(),
        }
    }

    fn exclusive_access(&mut self, load: bool, n: R, t: R, status: R, immediate: u32) {
        if load {
            self.push(Kind::Ldrex, t, n, R::T, immediate);
        } else {
            self.push(Kind::Strex, status, n, t, immediate);
        }
    }

    /// A5.3.11.
    fn shifted_register(&mut self, h: u32, l: u32) {
        let (operation, flags) = (h >> 5 & 15, h & 0x10 != 0);
        let (n, d, m) = (R::number(h), R::number(l >> 8), R::number(l));
        let (kind, by) = (l >> 4 & 3, bits(l, 12, 3) << 2 | bits(l, 6, 2));
        let shifts = kind != 0 || by != 0;
        match operation {
            2 if n == R::Pc => {
                self.shift(kind, d, m, by, flags);
                return self.wrote(d);
            }
            6 if !flags && l & 0x10 == 0 => {
                // PKHTB by 32 leaves the sign alone.
                let (kind, by) = match l & 0x20 {
                    0 => (Kind::Pkhbt, by),
                    _ => (Kind::Pkhtb, if by == 0 { 31 } else { by }),
                };
                return self.push(kind, d, n, m, by);
            }
            8 if !flags && kind == 0 && shifts && d != R::Sp => {
                return self.push(Kind::AddLsl, d, n, m, by);
            }
            8 if !flags && kind == 2 && by != 0 && d != R::Sp => {
                return self.push(Kind::AddAsr, d, n, m, by);
            }
            _ => {}
        }
        let m = if shifts {
            // Of logical operations the shifter's carry counts; N and Z follow from the result.
            self.shift(kind, R::T, m, by, flags && operation <= 4);
            R::T
        } else {
            m
        };
        if operation == 3 && n == R::Pc {
            self.push(if flags { Kind::Mvns } else { Kind::Mvn }, d, R::T, m, 0);
            return self.wrote(d);
        }
        let Some(kind) = data_processing(operation, flags) else { return self.undefined() };
        let d = if d == R::Pc && flags { R::Sink } else { d };
        self.push(kind, d, n, m, 0);
        self.wrote(d);
    }

    /// A5.3.1.
    fn modified_immediate(&mut self, h: u32, l: u32) {
        let code = bits(h, 10, 1) << 11 | bits(l, 12, 3) << 8 | l & 255;
        let byte = code & 255;
        let (value, rotated) = match code >> 8 {
            0 => (byte, false),
            1 => (byte | byte << 16, false),
            2 => (byte << 8 | byte << 24, false),
            3 => (byte * 0x0101_0101, false),
            _ => ((code & 127 | 128).rotate_right(code >> 7), true),
        };
        let (operation, flags) = (h >> 5 & 15, h & 0x10 != 0);
        let (n, d) = (R::number(h), R::number(l >> 8));
        if flags && rotated && operation <= 4 {
            self.push(Kind::SetC, R::T, R::T, R::T, value >> 31);
        }
        let set = if flags { Kind::MovIs } else { Kind::MovI };
        match (operation, n) {
            (2, R::Pc) => {
                self.push(set, d, R::T, R::T, value);
                return self.wrote(d);
            }
            (3, R::Pc) => {
                self.push(set, d, R::T, R::T, !value);
                return self.wrote(d);
            }
            (1, _) if !flags => {
                self.push(Kind::AndI, d, n, R::T, !value);
                return self.wrote(d);
            }
            _ => {}
        }
        let Some(kind) = data_processing(operation, flags) else { return self.undefined() };
        let d = if d == R::Pc && flags { R::Sink } else { d };
        self.constant(kind, d, n, value);
        self.wrote(d);
    }

    /// A5.3.3: ADDW, MOVW, saturation, bit fields.
    fn plain_immediate(&mut self, h: u32, l: u32) {
        let (n, d) = (R::number(h), R::number(l >> 8));
        let imm12 = bits(h, 10, 1) << 11 | bits(l, 12, 3) << 8 | l & 255;
        let (low, width) = (bits(l, 12, 3) << 2 | bits(l, 6, 2), l & 31);
        match h >> 4 & 31 {
            operation @ (0 | 10) => {
                let value = if operation == 0 { imm12 } else { imm12.wrapping_neg() };
                if n == R::Pc {
                    self.set(d, self.pc_base().wrapping_add(value));
                } else {
                    self.push(Kind::AddI, d, n, R::T, value);
                }
                self.wrote(d);
            }
            4 => self.set(d, (h & 15) << 12 | imm12),
            12 => self.push(Kind::MovT, d, R::T, R::T, (h & 15) << 12 | imm12),
            18 if low == 0 => self.push(Kind::Ssat16, d, n, R::T, (l & 15) + 1),
            26 if low == 0 => self.push(Kind::Usat16, d, n, R::T, l & 15),
            operation @ (16 | 18 | 24 | 26) => {
                // Of a signed number with its sign, of an unsigned one without.
                let most = (1u32 << width) - 1;
                let kind = if operation < 24 { Kind::Ssat } else { Kind::Usat };
                let n = if low != 0 {
                    self.shift(operation & 2, R::T, n, low, false);
                    R::T
                } else {
                    n
                };
                self.push(kind, d, n, R::T, most);
            }
            operation @ (20 | 28) => {
                if low + width > 31 {
                    return self.undefined();
                }
                let kind = if operation == 20 { Kind::Sbfx } else { Kind::Ubfx };
                self.push(kind, d, n, R::T, (31 - low - width) | (31 - width) << 8);
            }
            22 => {
                if width < low {
                    return self.undefined();
                }
                let mask = ((2u64 << width) - (1u64 << low)) as u32;
                let kind = if n == R::Pc { Kind::Bfc } else { Kind::Bfi };
                self.push(kind, d, n, R::T, mask);
            }
            _ => self.undefined(),
        }
    }

    /// A5.3.4: branches, special registers, hints, barriers.
    fn control(&mut self, h: u32, l: u32) {
        let sign = bits(h, 10, 1);
        let i1 = !(bits(l, 13, 1) ^ sign) & 1;
        let i2 = !(bits(l, 11, 1) ^ sign) & 1;
        let far = sign << 24 | i1 << 23 | i2 << 22 | bits(h, 0, 10) << 12 | (l & 0x7ff) << 1;
        let far = self.pc_value().wrapping_add(signed(far, 25));
        match (l >> 14 & 1, l >> 12 & 1) {
            (1, 1) => {
                self.set(R::Lr, self.next | 1);
                self.end = Some(End::Jump(far));
            }
            (0, 1) => self.end = Some(End::Jump(far)),
            (0, _) if h >> 7 & 7 != 7 => {
                let near = sign << 20 | bits(l, 11, 1) << 19 | bits(l, 13, 1) << 18;
                let near = near | (h & 63) << 12 | (l & 0x7ff) << 1;
                let target = self.pc_value().wrapping_add(signed(near, 21));
                self.end = Some(End::If(Condition::code(h >> 6), target));
            }
            (0, _) => self.system(h, l),
            _ => self.undefined(),
        }
    }

    fn system(&mut self, h: u32, l: u32) {
        match h >> 4 & 0x7f {
            // MSPLIM and PSPLIM.
            0x38 | 0x39 | 0x3e | 0x3f
                if matches!(l & 0xff, 10 | 11) && self.architecture == Architecture::Armv7 =>
            {
                self.undefined();
            }
            0x38 | 0x39 => {
                self.push(Kind::Msr, R::T, R::number(h), R::T, l & 0xff | (l >> 10 & 3) << 8);
                self.cut = true;
            }
            0x3a if l >> 8 & 7 == 0 => self.hint(l & 0xff),
            0x3b => match l >> 4 & 15 {
                2 => self.push(Kind::Clrex, R::T, R::T, R::T, 0),
                4 | 5 => {}
                6 => self.cut = true,
                _ => self.undefined(),
            },
            0x3e | 0x3f => {
                let d = R::number(l >> 8);
                self.push(Kind::Mrs, d, R::T, R::T, l & 0xff);
                self.wrote(d);
            }
            _ => self.ask(Ask::Undefined),
        }
    }

    /// A5.3.7 to A5.3.10: loads and stores of one register, preload hints.
    fn single(&mut self, h: u32, l: u32) {
        let (n, t, load) = (R::number(h), R::number(l >> 12), h & 0x10 != 0);
        let (size, sign) = (h >> 5 & 3, h & 0x100 != 0);
        let [plain, indexed] = match (load, size, sign) {
            (true, 0, false) => [Kind::Ldrb, Kind::LdrbR],
            (true, 0, true) => [Kind::Ldrsb, Kind::LdrsbR],
            (true, 1, false) => [Kind::Ldrh, Kind::LdrhR],
            (true, 1, true) => [Kind::Ldrsh, Kind::LdrshR],
            (true, 2, false) => [Kind::Ldr, Kind::LdrR],
            (false, 0, false) => [Kind::Strb, Kind::StrbR],
            (false, 1, false) => [Kind::Strh, Kind::StrhR],
            (false, 2, false) => [Kind::Str, Kind::StrR],
            _ => return self.undefined(),
        };
        if load && t == R::Pc && size != 2 {
            // PLD, PLI and hints that mean nothing.
            return;
        }
        if n == R::Pc {
            if !load {
                return self.undefined();
            }
            let offset = if h & 0x80 != 0 { l & 0xfff } else { (l & 0xfff).wrapping_neg() };
            self.set(R::T, self.pc_base().wrapping_add(offset));
            self.push(plain, t, R::T, R::T, 0);
        } else if h & 0x80 != 0 {
            self.push(plain, t, n, R::T, l & 0xfff);
        } else if l & 0x800 == 0 {
            if l & 0x7c0 != 0 {
                return self.undefined();
            }
            self.push(indexed, t, n, R::number(l), bits(l, 4, 2));
        } else {
            let (before, up, back) = (l & 0x400 != 0, l & 0x200 != 0, l & 0x100 != 0);
            let offset = if up { l & 255 } else { (l & 255).wrapping_neg() };
            match (before, back) {
                (true, false) => self.push(plain, t, n, R::T, offset),
                (false, true) if size == 2 && t != R::Sp => {
                    self.push(if load { Kind::LdrPost } else { Kind::StrPost }, t, n, R::T, offset);
                }
                (false, true) => {
                    self.push(plain, t, n, R::T, 0);
                    self.push(Kind::AddI, n, n, R::T, offset);
                }
                (true, true) => {
                    self.push(Kind::AddI, R::T, n, R::T, offset);
                    self.push(plain, t, R::T, R::T, 0);
                    self.push(Kind::Mov, n, R::T, R::T, 0);
                }
                (false, false) => return self.undefined(),
            }
        }
        if load {
            self.wrote(t);
        }
        if load && t == R::Pc {
            self.end = Some(End::Indirect);
        }
    }

    /// A5.3.12 to A5.3.15: shifts by a register, extensions, parallel arithmetic, SEL, CLZ.
    fn by_registers(&mut self, h: u32, l: u32) {
        let (operation, n) = (h >> 4 & 15, R::number(h));
        let (d, m) = (R::number(l >> 8), R::number(l));
        if l & 0xf000 != 0xf000 {
            return self.undefined();
        }
        if l & 0x80 == 0 {
            if operation & 8 != 0 {
                return self.parallel(h, l);
            }
            if l & 0x70 != 0 {
                return self.undefined();
            }
            let kind = if operation & 1 == 0 { Kind::ShiftR } else { Kind::ShiftRs };
            return self.push(kind, d, m, n, operation >> 1);
        }
        if operation < 6 {
            let turn = bits(l, 4, 2) * 8;
            let kinds =
                [Kind::Sxth, Kind::Uxth, Kind::Sxtb16, Kind::Uxtb16, Kind::Sxtb, Kind::Uxtb];
            let kind = kinds[operation as usize];
            if n == R::Pc {
                return self.push(kind, d, R::T, m, turn);
            }
            self.push(kind, R::T, R::T, m, turn);
            let halves = operation == 2 || operation == 3;
            return self.push(if halves { Kind::AddHalves } else { Kind::Add }, d, n, R::T, 0);
        }
        let kind = match (operation, l >> 4 & 3) {
            (8, 0) => Kind::Qadd,
            (8, 1) => Kind::Qdadd,
            (8, 2) => Kind::Qsub,
            (8, 3) => Kind::Qdsub,
            (9, 0) => Kind::Rev,
            (9, 1) => Kind::Rev16,
            (9, 2) => Kind::Rbit,
            (9, 3) => Kind::Revsh,
            (10, 0) => Kind::Sel,
            (11, 0) => Kind::Clz,
            _ => return self.undefined(),
        };
        self.push(kind, d, n, m, 0);
    }

    /// Operation: ADD8, ADD16, ASX, SUB8, SUB16, SAX; how its results are made is in the second halfword.
    fn parallel(&mut self, h: u32, l: u32) {
        let (operation, how) = (h >> 4 & 7, l >> 4 & 7);
        if matches!(operation, 3 | 7) || how & 3 == 3 {
            return self.undefined();
        }
        let (n, d, m) = (R::number(h), R::number(l >> 8), R::number(l));
        self.push(Kind::Parallel, d, n, m, operation << 4 | how);
    }
}
