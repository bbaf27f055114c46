//! Operations on registers in translated code. What is rare is left to the interpreter.

use wasm_encoder::{BlockType, ValType};

use crate::execute::Kind;
use crate::operation::{Operation, R};
use crate::translate::function::{Writer, local};

/// How the halves of two registers are multiplied.
#[derive(Clone, Copy)]
struct Halves {
    first_high: bool,
    second_high: bool,
}

impl Writer<'_> {
    /// Whether an operation on registers is translated; then it is.
    pub fn operation(&mut self, o: &Operation) -> bool {
        self.moved(o)
            || self.added(o)
            || self.in_halves(o)
            || self.shifted(o)
            || self.extracted(o)
            || self.multiplied(o)
            || self.divided(o)
    }

    /// Puts the value into the operation's register.
    fn result(&mut self, o: &Operation) -> bool {
        self.set(o.d);
        true
    }

    /// The same, and N and Z are by the value.
    fn result_with_flags(&mut self, o: &Operation) -> bool {
        self.f().local_tee(local::N).local_tee(local::Z);
        self.result(o)
    }

    /// Moves and what is done bit by bit.
    fn moved(&mut self, o: &Operation) -> bool {
        use Kind::{
            And, AndI, AndIs, Ands, Bfc, Bfi, Bic, Bics, Eor, EorI, EorIs, Eors, Mov, MovI, MovIs,
            MovT, Movs, Mvn, Mvns, Orn, Orns, Orr, OrrI, Orrs, SetC,
        };
        let value = o.immediate as i32;
        match o.kind {
            MovI | MovIs => drop(self.f().i32_const(value)),
            Mov | Movs => drop(self.get(o.m)),
            Mvn | Mvns => drop(self.get(o.m).i32_const(-1).i32_xor()),
            MovT => drop(self.get(o.d).i32_const(0xffff).i32_and().i32_const(value << 16).i32_or()),
            SetC => {
                self.f().i32_const(value).local_set(local::C);
                return true;
            }
            And | Ands => {
                self.get(o.n);
                self.get(o.m).i32_and();
            }
            Orr | Orrs => {
                self.get(o.n);
                self.get(o.m).i32_or();
            }
            Eor | Eors => {
                self.get(o.n);
                self.get(o.m).i32_xor();
            }
            Bic | Bics => {
                self.get(o.n);
                self.get(o.m).i32_const(-1).i32_xor().i32_and();
            }
            Orn | Orns => {
                self.get(o.n);
                self.get(o.m).i32_const(-1).i32_xor().i32_or();
            }
            AndI | AndIs => drop(self.get(o.n).i32_const(value).i32_and()),
            OrrI => drop(self.get(o.n).i32_const(value).i32_or()),
            EorI | EorIs => drop(self.get(o.n).i32_const(value).i32_xor()),
            Bfi => {
                let low = o.immediate.trailing_zeros();
                if low >= 32 {
                    return true;
                }
                self.get(o.d).i32_const(!value).i32_and();
                self.get(o.n).i32_const(low as i32).i32_shl().i32_const(value).i32_and().i32_or();
            }
            Bfc => drop(self.get(o.d).i32_const(!value).i32_and()),
            _ => return false,
        }
        match o.kind {
            MovIs | Movs | Mvns | Ands | Orrs | Eors | Bics | Orns | AndIs | EorIs => {
                self.result_with_flags(o)
            }
            _ => self.result(o),
        }
    }

    /// Sums and differences.
    fn added(&mut self, o: &Operation) -> bool {
        use Kind::{
            Adc, Add, AddAsr, AddI, AddIs, AddLsl, Adds, Rsb, RsbI, RsbIs, Rsbs, Sbc, Sub, SubIs,
            Subs,
        };
        let value = o.immediate as i32;
        match o.kind {
            Add => {
                self.get(o.n);
                self.get(o.m).i32_add();
            }
            AddI => drop(self.get(o.n).i32_const(value).i32_add()),
            Sub => {
                self.get(o.n);
                self.get(o.m).i32_sub();
            }
            Rsb => {
                self.get(o.m);
                self.get(o.n).i32_sub();
            }
            RsbI => {
                self.f().i32_const(value);
                self.get(o.n).i32_sub();
            }
            Adc => {
                self.get(o.n);
                self.get(o.m).i32_add().local_get(local::C).i32_add();
            }
            Sbc => {
                self.get(o.n);
                self.get(o.m).i32_const(-1).i32_xor().i32_add().local_get(local::C).i32_add();
            }
            AddLsl => {
                self.get(o.n);
                self.get(o.m).i32_const(value & 31).i32_shl().i32_add();
            }
            AddAsr => {
                self.get(o.n);
                self.get(o.m).i32_const(value & 31).i32_shr_s().i32_add();
            }
            Adds | AddIs | Subs | SubIs | Rsbs | RsbIs => return self.with_all_flags(o),
            _ => return false,
        }
        self.result(o)
    }

    /// A sum or a difference that sets all flags.
    fn with_all_flags(&mut self, o: &Operation) -> bool {
        let constant = matches!(o.kind, Kind::AddIs | Kind::SubIs | Kind::RsbIs);
        let exchanged = matches!(o.kind, Kind::Rsbs | Kind::RsbIs);
        let adds = matches!(o.kind, Kind::Adds | Kind::AddIs);
        let (first, second) = if exchanged { (local::D, local::B) } else { (local::B, local::D) };
        self.get(o.n).local_set(local::B);
        if constant {
            self.f().i32_const(o.immediate as i32).local_set(local::D);
        } else {
            self.get(o.m).local_set(local::D);
        }
        let mut f = self.f();
        f.local_get(first).local_get(second);
        if adds {
            f.i32_add();
        } else {
            f.i32_sub();
        }
        f.local_tee(local::N).local_set(local::Z);
        if adds {
            f.local_get(local::N).local_get(first).i32_lt_u().local_set(local::C);
            f.local_get(first).local_get(local::N).i32_xor();
            f.local_get(second).local_get(local::N).i32_xor();
        } else {
            f.local_get(first).local_get(second).i32_ge_u().local_set(local::C);
            f.local_get(first).local_get(second).i32_xor();
            f.local_get(first).local_get(local::N).i32_xor();
        }
        f.i32_and().local_set(local::V).local_get(local::N);
        self.result(o)
    }

    /// Sums and differences that stay within bounds, and those of halves.
    fn in_halves(&mut self, o: &Operation) -> bool {
        match o.kind {
            Kind::Qadd | Kind::Qsub => {
                self.get(o.m).i64_extend_i32_s();
                let mut f = self.get(o.n);
                f.i64_extend_i32_s();
                if o.kind == Kind::Qadd {
                    f.i64_add();
                } else {
                    f.i64_sub();
                }
                // What does not fit is the least or the most that does, by its sign.
                f.local_tee(local::LONG).i64_const(63).i64_shr_s().i32_wrap_i64();
                f.i32_const(i32::MAX).i32_xor().local_get(local::LONG).i32_wrap_i64();
                f.local_tee(local::B).i64_extend_i32_s().local_get(local::LONG).i64_xor();
                f.local_tee(local::LONG).local_get(local::Q).i64_or().local_set(local::Q);
                f.local_get(local::B).local_get(local::LONG).i64_const(0).i64_ne().select();
            }
            Kind::AddHalves => {
                self.get(o.n);
                self.get(R::T).i32_add().i32_const(0xffff).i32_and();
                self.get(o.n).i32_const(16).i32_shr_u();
                self.get(R::T).i32_const(16).i32_shr_u().i32_add();
                self.f().i32_const(16).i32_shl().i32_or();
            }
            // SADD16 and SSUB16; GE says where the result is not negative.
            Kind::Parallel if matches!(o.immediate, 0x10 | 0x50) => {
                for (high, local) in [(false, local::B), (true, local::D)] {
                    for register in [o.n, o.m] {
                        let mut f = self.get(register);
                        if high {
                            f.i32_const(16).i32_shr_s();
                        } else {
                            f.i32_extend16_s();
                        }
                    }
                    let mut f = self.f();
                    if o.immediate == 0x10 {
                        f.i32_add();
                    } else {
                        f.i32_sub();
                    }
                    f.local_set(local);
                }
                let mut f = self.f();
                f.i32_const(0xffff).i32_const(0).local_get(local::B).i32_const(0).i32_ge_s();
                f.select().i32_const(-0x1_0000).i32_const(0).local_get(local::D).i32_const(0);
                f.i32_ge_s().select().i32_or().local_set(local::GE);
                f.local_get(local::B).i32_const(0xffff).i32_and();
                f.local_get(local::D).i32_const(16).i32_shl().i32_or();
            }
            _ => return false,
        }
        self.result(o)
    }

    /// Quotients: 0 by 0.
    fn divided(&mut self, o: &Operation) -> bool {
        let is_signed = match o.kind {
            Kind::Udiv => false,
            Kind::Sdiv => true,
            _ => return false,
        };
        self.get(o.m);
        self.open_if(BlockType::Result(ValType::I32));
        // In 64 bits nothing overflows.
        self.extended(o, is_signed);
        let mut f = self.f();
        if is_signed {
            f.i64_div_s();
        } else {
            f.i64_div_u();
        }
        f.i32_wrap_i64().else_().i32_const(0);
        self.close();
        self.result(o)
    }

    fn shifted(&mut self, o: &Operation) -> bool {
        let value = o.immediate as i32;
        match o.kind {
            Kind::LslI => drop(self.get(o.m).i32_const(value & 31).i32_shl()),
            Kind::LsrI if o.immediate & 63 < 32 => drop(self.get(o.m).i32_const(value).i32_shr_u()),
            Kind::LsrI => drop(self.f().i32_const(0)),
            Kind::AsrI => drop(self.get(o.m).i32_const((value & 63).min(31)).i32_shr_s()),
            Kind::RorI => drop(self.get(o.m).i32_const(value & 31).i32_rotr()),
            // LSL and LSR: nothing is left from 32 on; ASR: the sign.
            Kind::ShiftR if o.immediate < 2 => {
                self.get(o.m);
                self.get(o.n).i32_const(255).i32_and().local_tee(local::B);
                let mut f = self.f();
                if o.immediate == 0 {
                    f.i32_shl();
                } else {
                    f.i32_shr_u();
                }
                f.i32_const(0).local_get(local::B).i32_const(32).i32_lt_u().select();
            }
            Kind::ShiftR if o.immediate == 2 => {
                self.get(o.m);
                self.get(o.n).i32_const(255).i32_and().local_tee(local::B).i32_const(31);
                self.f().local_get(local::B).i32_const(31).i32_lt_u().select().i32_shr_s();
            }
            Kind::ShiftIs if o.immediate >> 8 < 3 && (1..32).contains(&(o.immediate & 255)) => {
                return self.shifted_with_flags(o);
            }
            _ => return false,
        }
        self.result(o)
    }

    /// LSL, LSR or ASR by a constant from 1 to 31; the last bit that goes out is C.
    fn shifted_with_flags(&mut self, o: &Operation) -> bool {
        let (kind, by) = (o.immediate >> 8, (o.immediate & 255) as i32);
        self.get(o.m).local_tee(local::B);
        let out = if kind == 0 { 32 - by } else { by - 1 };
        self.f().i32_const(out).i32_shr_u().i32_const(1).i32_and().local_set(local::C);
        let mut f = self.f();
        f.local_get(local::B).i32_const(by);
        match kind {
            0 => f.i32_shl(),
            1 => f.i32_shr_u(),
            _ => f.i32_shr_s(),
        };
        self.result_with_flags(o)
    }

    /// Parts of registers.
    fn extracted(&mut self, o: &Operation) -> bool {
        let value = o.immediate as i32;
        match o.kind {
            Kind::Sxtb => drop(self.get(o.m).i32_const(value & 31).i32_rotr().i32_extend8_s()),
            Kind::Sxth => drop(self.get(o.m).i32_const(value & 31).i32_rotr().i32_extend16_s()),
            Kind::Uxtb => {
                self.get(o.m).i32_const(value & 31).i32_rotr().i32_const(0xff).i32_and();
            }
            Kind::Uxth => {
                self.get(o.m).i32_const(value & 31).i32_rotr().i32_const(0xffff).i32_and();
            }
            Kind::Sxtb16 => {
                self.get(o.m);
                if o.immediate & 31 != 0 {
                    self.f().i32_const(value & 31).i32_rotr();
                }
                let mut f = self.f();
                f.local_tee(local::B).i32_extend8_s().i32_const(0xffff).i32_and();
                f.local_get(local::B).i32_const(8).i32_shl().i32_const(24).i32_shr_s();
                f.i32_const(16).i32_shl().i32_or();
            }
            Kind::Uxtb16 => {
                self.get(o.m).i32_const(value & 31).i32_rotr().i32_const(0x00ff_00ff).i32_and();
            }
            Kind::Pkhbt => {
                self.get(o.n).i32_const(0xffff).i32_and();
                self.get(o.m).i32_const(value & 31).i32_shl();
                self.f().i32_const(-0x1_0000).i32_and().i32_or();
            }
            Kind::Pkhtb => {
                self.get(o.n).i32_const(-0x1_0000).i32_and();
                self.get(o.m).i32_const(value & 31).i32_shr_s();
                self.f().i32_const(0xffff).i32_and().i32_or();
            }
            Kind::Ubfx | Kind::Sbfx => {
                let mut f = self.get(o.n);
                f.i32_const(value & 31).i32_shl().i32_const(value >> 8 & 31);
                if o.kind == Kind::Ubfx {
                    f.i32_shr_u();
                } else {
                    f.i32_shr_s();
                }
            }
            Kind::Clz => drop(self.get(o.m).i32_clz()),
            Kind::AlignStack => {
                self.get(R::Sp).i32_const(!3).i32_and();
                self.set(R::Sp);
                return true;
            }
            Kind::Ssat => self.clamp(o.n, !value, value),
            Kind::Usat => self.clamp(o.n, 0, value),
            _ => return false,
        }
        self.result(o)
    }

    /// A register's value, but no less and no more than these; Q is set if that is another.
    fn clamp(&mut self, register: R, least: i32, most: i32) {
        self.get(register).local_tee(local::B).i32_const(least);
        let mut f = self.f();
        f.local_get(local::B).i32_const(least).i32_gt_s().select().local_tee(local::D);
        f.i32_const(most).local_get(local::D).i32_const(most).i32_lt_s().select();
        f.local_tee(local::D).local_get(local::B).i32_xor().i64_extend_i32_u();
        f.local_get(local::Q).i64_or().local_set(local::Q).local_get(local::D);
    }

    fn multiplied(&mut self, o: &Operation) -> bool {
        use Kind::{
            Mla, Mls, Mul, Muls, Smlabb, Smlabt, Smlad, Smladx, Smlal, Smlatb, Smlatt, Smmla,
            Smmlar, Smmul, Smuad, Smull, Umlal, Umull,
        };
        let fourth = R::number(o.immediate);
        match o.kind {
            Mul | Muls => {
                self.get(o.n);
                self.get(o.m).i32_mul();
                if o.kind == Muls {
                    return self.result_with_flags(o);
                }
            }
            Mla | Mls => {
                self.get(fourth);
                self.get(o.n);
                let mut f = self.get(o.m);
                f.i32_mul();
                if o.kind == Mla {
                    f.i32_add();
                } else {
                    f.i32_sub();
                }
            }
            Smlad | Smladx | Smuad => {
                let exchanged = o.kind == Smladx || o.kind == Smuad && o.immediate != 0;
                self.halves(o, Halves { first_high: false, second_high: exchanged });
                self.f().i64_extend_i32_s();
                self.halves(o, Halves { first_high: true, second_high: !exchanged });
                self.f().i64_extend_i32_s().i64_add();
                if o.kind != Smuad {
                    self.get(fourth).i64_extend_i32_s().i64_add();
                }
                self.accumulated();
            }
            Smlabb | Smlabt | Smlatb | Smlatt => {
                let first_high = matches!(o.kind, Smlatb | Smlatt);
                let second_high = matches!(o.kind, Smlabt | Smlatt);
                self.halves(o, Halves { first_high, second_high });
                self.f().i64_extend_i32_s();
                self.get(fourth).i64_extend_i32_s().i64_add();
                self.accumulated();
            }
            Smmla | Smmlar | Smmul => {
                self.product(o, true);
                if o.kind != Smmul {
                    self.get(fourth).i64_extend_i32_u().i64_const(32).i64_shl().i64_add();
                }
                if o.kind == Smmlar || o.kind == Smmul && o.immediate == 1 {
                    self.f().i64_const(1 << 31).i64_add();
                }
                self.f().i64_const(32).i64_shr_u().i32_wrap_i64();
            }
            Umull | Smull | Umlal | Smlal => {
                self.product(o, matches!(o.kind, Smull | Smlal));
                if matches!(o.kind, Umlal | Smlal) {
                    self.get(o.d).i64_extend_i32_u().i64_const(32).i64_shl();
                    self.get(fourth).i64_extend_i32_u().i64_or().i64_add();
                }
                self.f().local_tee(local::LONG).i32_wrap_i64();
                self.set(fourth);
                self.f().local_get(local::LONG).i64_const(32).i64_shr_u().i32_wrap_i64();
            }
            _ => return false,
        }
        self.result(o)
    }

    /// The product of two halves.
    fn halves(&mut self, o: &Operation, Halves { first_high, second_high }: Halves) {
        for (register, high) in [(o.n, first_high), (o.m, second_high)] {
            let mut f = self.get(register);
            if high {
                f.i32_const(16).i32_shr_s();
            } else {
                f.i32_extend16_s();
            }
        }
        self.f().i32_mul();
    }

    /// The product of two registers, of 64 bits.
    fn product(&mut self, o: &Operation, signed: bool) {
        self.extended(o, signed);
        self.f().i64_mul();
    }

    /// Two registers as numbers of 64 bits.
    fn extended(&mut self, o: &Operation, signed: bool) {
        for register in [o.n, o.m] {
            let mut f = self.get(register);
            if signed {
                f.i64_extend_i32_s();
            } else {
                f.i64_extend_i32_u();
            }
        }
    }

    /// The low word of a sum; Q is set if it needs more.
    fn accumulated(&mut self) {
        let mut f = self.f();
        f.local_tee(local::LONG).local_get(local::LONG).i32_wrap_i64().local_tee(local::B);
        f.i64_extend_i32_s().i64_xor().local_get(local::Q).i64_or().local_set(local::Q);
        f.local_get(local::B);
    }
}
