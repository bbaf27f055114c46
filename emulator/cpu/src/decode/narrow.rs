//! The 16-bit encodings (DDI 0403E, A5.2).

use super::{Decoder, bits, signed};
use crate::execute::Kind;
use crate::operation::{Ask, Condition, End, R};

impl Decoder {
    pub(super) fn narrow(&mut self, h: u32) {
        // Within an IT block these set no flags.
        let flags = self.it & 15 == 0;
        let set = |with: Kind, without: Kind| if flags { with } else { without };
        let low = |shift: u32| R::number(h >> shift & 7);
        let (r0, r3, r6, r8) = (low(0), low(3), low(6), low(8));
        let (imm3, imm5, imm8) = (bits(h, 6, 3), bits(h, 6, 5), h & 0xff);
        match h >> 11 {
            0..=2 => self.shift(h >> 11, r0, r3, imm5, flags),
            3 => match h >> 9 & 3 {
                0 => self.push(set(Kind::Adds, Kind::Add), r0, r3, r6, 0),
                1 => self.push(set(Kind::Subs, Kind::Sub), r0, r3, r6, 0),
                2 => self.constant(set(Kind::Adds, Kind::Add), r0, r3, imm3),
                _ => self.constant(set(Kind::Subs, Kind::Sub), r0, r3, imm3),
            },
            4 => self.push(set(Kind::MovIs, Kind::MovI), r8, R::T, R::T, imm8),
            5 => self.constant(Kind::Subs, R::Sink, r8, imm8),
            6 => self.constant(set(Kind::Adds, Kind::Add), r8, r8, imm8),
            7 => self.constant(set(Kind::Subs, Kind::Sub), r8, r8, imm8),
            8 if h & 0x400 == 0 => self.low_registers(h >> 6 & 15, r0, r3, flags),
            8 => self.high_registers(h),
            9 => {
                self.set(R::T, self.pc_base().wrapping_add(imm8 * 4));
                self.push(Kind::Ldr, r8, R::T, R::T, 0);
            }
            10 | 11 => {
                let kind = [
                    Kind::StrR,
                    Kind::StrhR,
                    Kind::StrbR,
                    Kind::LdrsbR,
                    Kind::LdrR,
                    Kind::LdrhR,
                    Kind::LdrbR,
                    Kind::LdrshR,
                ][(h >> 9 & 7) as usize];
                self.push(kind, r0, r3, r6, 0);
            }
            12 => self.push(Kind::Str, r0, r3, R::T, imm5 * 4),
            13 => self.push(Kind::Ldr, r0, r3, R::T, imm5 * 4),
            14 => self.push(Kind::Strb, r0, r3, R::T, imm5),
            15 => self.push(Kind::Ldrb, r0, r3, R::T, imm5),
            16 => self.push(Kind::Strh, r0, r3, R::T, imm5 * 2),
            17 => self.push(Kind::Ldrh, r0, r3, R::T, imm5 * 2),
            18 => self.push(Kind::Str, r8, R::Sp, R::T, imm8 * 4),
            19 => self.push(Kind::Ldr, r8, R::Sp, R::T, imm8 * 4),
            20 => self.set(r8, self.pc_base().wrapping_add(imm8 * 4)),
            21 => self.push(Kind::AddI, r8, R::Sp, R::T, imm8 * 4),
            22 | 23 => self.miscellaneous(h, r0, r3),
            24 if imm8 != 0 => self.many(false, false, r8, imm8, true),
            25 if imm8 != 0 => {
                // A base in the list keeps what was loaded.
                self.many(true, false, r8, imm8, imm8 >> (h >> 8 & 7) & 1 == 0);
            }
            26 | 27 if h >> 8 & 15 < 14 => {
                let target = self.pc_value().wrapping_add(signed(imm8, 8) << 1);
                self.end = Some(End::If(Condition::code(h >> 8), target));
            }
            26 | 27 if h >> 8 & 15 == 15 => self.ask(Ask::SupervisorCall),
            28 => {
                let target = self.pc_value().wrapping_add(signed(h & 0x7ff, 11) << 1);
                self.end = Some(End::Jump(target));
            }
            _ => self.undefined(),
        }
    }

    /// A5.2.2.
    fn low_registers(&mut self, operation: u32, d: R, m: R, flags: bool) {
        let set = |with: Kind, without: Kind| if flags { with } else { without };
        match operation {
            0 => self.push(set(Kind::Ands, Kind::And), d, d, m, 0),
            1 => self.push(set(Kind::Eors, Kind::Eor), d, d, m, 0),
            2..=4 | 7 => {
                let kind = if operation == 7 { 3 } else { operation - 2 };
                self.push(set(Kind::ShiftRs, Kind::ShiftR), d, m, d, kind);
            }
            5 => self.push(set(Kind::Adcs, Kind::Adc), d, d, m, 0),
            6 => self.push(set(Kind::Sbcs, Kind::Sbc), d, d, m, 0),
            8 => self.push(Kind::Ands, R::Sink, d, m, 0),
            9 => self.push(set(Kind::RsbIs, Kind::RsbI), d, m, R::T, 0),
            10 => self.push(Kind::Subs, R::Sink, d, m, 0),
            11 => self.push(Kind::Adds, R::Sink, d, m, 0),
            12 => self.push(set(Kind::Orrs, Kind::Orr), d, d, m, 0),
            13 => self.push(set(Kind::Muls, Kind::Mul), d, d, m, 0),
            14 => self.push(set(Kind::Bics, Kind::Bic), d, d, m, 0),
            _ => self.push(set(Kind::Mvns, Kind::Mvn), d, R::T, m, 0),
        }
    }

    /// A5.2.3: high registers, BX, BLX.
    fn high_registers(&mut self, h: u32) {
        let (d, m) = (R::number(h & 7 | h >> 4 & 8), R::number(h >> 3));
        match h >> 8 & 3 {
            0 => {
                let operand = self.operand(m);
                if d == R::Pc {
                    self.set(R::Pc, self.pc_value());
                    self.push(Kind::Add, R::T, R::Pc, operand, 0);
                    return self.go(R::T, false);
                }
                self.push(Kind::Add, d, d, operand, 0);
                self.wrote(d);
            }
            1 => {
                let operand = self.operand(m);
                self.push(Kind::Subs, R::Sink, d, operand, 0);
            }
            2 => {
                let operand = self.operand(m);
                if d == R::Pc {
                    return self.go(operand, false);
                }
                self.push(Kind::Mov, d, R::T, operand, 0);
                self.wrote(d);
            }
            _ => {
                let operand = self.operand(m);
                self.go(operand, true);
                if h & 0x80 != 0 {
                    self.set(R::Lr, self.next | 1);
                }
            }
        }
    }

    /// A register as an operand: PC's value is put into another.
    fn operand(&mut self, m: R) -> R {
        if m != R::Pc {
            return m;
        }
        self.set(R::T, self.pc_value());
        R::T
    }

    /// A5.2.5.
    fn miscellaneous(&mut self, h: u32, r0: R, r3: R) {
        match h >> 8 & 15 {
            0 => {
                let bytes = (h & 127) * 4;
                let moved = if h & 0x80 == 0 { bytes } else { bytes.wrapping_neg() };
                self.push(Kind::AddI, R::Sp, R::Sp, R::T, moved);
            }
            1 | 3 | 9 | 11 => {
                let offset = bits(h, 3, 5) << 1 | (h >> 9 & 1) << 6;
                let target = self.pc_value().wrapping_add(offset);
                self.end = Some(End::Zero { register: r0, not: h & 0x800 != 0, target });
            }
            2 => {
                let kinds = [Kind::Sxth, Kind::Sxtb, Kind::Uxth, Kind::Uxtb];
                self.push(kinds[(h >> 6 & 3) as usize], r0, R::T, r3, 0);
            }
            4 | 5 => self.many(false, true, R::Sp, h & 0xff | (h >> 8 & 1) << 14, true),
            6 if h & 0xffe8 == 0xb660 => {
                self.push(Kind::Cps, R::T, R::T, R::T, h & 0x1f);
                self.cut = true;
            }
            10 => match h >> 6 & 3 {
                0 => self.push(Kind::Rev, r0, R::T, r3, 0),
                1 => self.push(Kind::Rev16, r0, R::T, r3, 0),
                3 => self.push(Kind::Revsh, r0, R::T, r3, 0),
                _ => self.undefined(),
            },
            12 | 13 => self.many(true, false, R::Sp, h & 0xff | (h >> 8 & 1) << 15, true),
            14 => self.ask(Ask::Breakpoint),
            15 if h & 15 != 0 => self.it = h & 0xff,
            15 => self.hint(h >> 4 & 15),
            _ => self.undefined(),
        }
    }

    /// Hints have the same numbers in 16 and 32 bits.
    pub(super) fn hint(&mut self, number: u32) {
        match number {
            2 => self.ask(Ask::WaitForEvent),
            3 => self.ask(Ask::WaitForInterrupt),
            _ => {}
        }
    }
}
