//! The floating-point unit: FPv4-SP and FPv5, after the manual's pseudocode (DDI 0403E, A2.5 and A7.7).
//!
//! Every result is made exactly and rounded once, by one function for all formats. That is slow: this project's
//! firmware has hardly any floating point.

mod arithmetic;
mod convert;
mod number;
mod status;

#[cfg(test)]
mod tests;

pub use convert::Fixed;
pub use number::Format;
pub use status::{ALL, Rounding};

use crate::core::{Core, Floats};
use crate::decode::float::{Instruction, What, instruction};

impl Floats {
    fn get(&self, format: Format, number: u8) -> u64 {
        let word = |number: u8| u64::from(self.singles[usize::from(number & 31)]);
        match format {
            Format::Double => word(number) | word(number | 1) << 32,
            Format::Single | Format::Half => word(number),
        }
    }

    fn set(&mut self, format: Format, number: u8, value: u64) {
        self.singles[usize::from(number & 31)] = value as u32;
        if format == Format::Double {
            self.singles[usize::from(number & 30 | 1)] = (value >> 32) as u32;
        }
    }

    /// What is left in FPSCR's N, Z, C and V is a comparison's.
    const fn set_flags(&mut self, flags: u32) {
        self.status = self.status & 0x0fff_ffff | flags;
    }

    /// Executes an instruction that works on registers of the unit alone.
    fn execute(&mut self, does: Instruction) {
        let Instruction { what, format, d, .. } = does;
        let (n, m) = (self.get(format, does.n), self.get(format, does.m));
        let negated =
            |value: u64, negates: bool| if negates { value ^ format.sign() } else { value };
        let result = match what {
            What::Add => self.add(format, n, m),
            What::Subtract => self.subtract(format, n, m),
            What::Divide => self.divide(format, n, m),
            What::Multiply { negates } => negated(self.multiply(format, n, m), negates),
            What::Accumulate { negates_addend, negates_product } => {
                let product = self.multiply(format, n, m);
                let addend = negated(self.get(format, d), negates_addend);
                self.add(format, addend, negated(product, negates_product))
            }
            What::Fused { negates_addend, negates_product } => {
                let addend = negated(self.get(format, d), negates_addend);
                self.multiply_add(format, addend, negated(n, negates_product), m)
            }
            What::Extreme { greater } => self.extreme(format, n, m, greater),
            What::Constant(byte) => format.constant(byte),
            What::Copy => m,
            What::Absolute => m & !format.sign(),
            What::Negate => m ^ format.sign(),
            What::SquareRoot => self.square_root(format, m),
            What::Compare { with_zero, signals } => {
                let (a, b) = (self.get(format, d), if with_zero { 0 } else { m });
                let flags = self.compare(format, a, b, signals);
                return self.set_flags(flags);
            }
            What::RoundToInteger { rounding, exact } => {
                let rounding = rounding.unwrap_or(self.rounding());
                self.round_to_integer(format, m, rounding, exact)
            }
            What::Reformat(from) => {
                let m = self.get(from, does.m);
                self.reformat(from, format, m)
            }
            What::FromHalf { top } => {
                let half = self.get(Format::Single, does.m) >> (16 * u32::from(top)) & 0xffff;
                self.reformat(Format::Half, format, half)
            }
            What::ToHalf { top } => {
                let half = self.reformat(format, Format::Half, m);
                let old = self.get(Format::Single, d);
                let low = 16 * u32::from(top);
                return self.set(Format::Single, d, old & !(0xffff << low) | half << low);
            }
            What::FromFixed(fixed, rounding) => {
                let rounding = rounding.unwrap_or(self.rounding());
                self.fixed_to_float(format, m, fixed, rounding)
            }
            What::ToFixed { to, keeps_size, rounding } => {
                let rounding = rounding.unwrap_or(self.rounding());
                let result = self.float_to_fixed(format, m, to, rounding);
                return self.set(if keeps_size { format } else { Format::Single }, d, result);
            }
            What::Select(_)
            | What::ToCore(..)
            | What::FromCore(..)
            | What::ReadStatus(_)
            | What::WriteStatus(_) => return,
        };
        self.set(format, d, result);
    }
}

impl Core {
    /// Executes a floating-point instruction that is no load or store, by its encoding.
    pub(crate) fn float(&mut self, word: u32) {
        let Some(does) = instruction(word) else { return };
        let m = does.m;
        match does.what {
            What::Select(condition) => {
                let chosen = if self.holds(condition) { does.n } else { m };
                let value = self.floats.get(does.format, chosen);
                self.floats.set(does.format, does.d, value);
            }
            What::ToCore(low, high) => {
                self.set_register(low, self.single(m));
                if let Some(high) = high {
                    self.set_register(high, self.single(m + 1));
                }
            }
            What::FromCore(low, high) => {
                self.set_single(m, self.register(low));
                if let Some(high) = high {
                    self.set_single(m + 1, self.register(high));
                }
            }
            What::ReadStatus(Some(register)) => self.set_register(register, self.fpscr()),
            What::ReadStatus(None) => self.set_condition_flags(self.fpscr()),
            What::WriteStatus(register) => self.set_fpscr(self.register(register)),
            _ => self.floats.execute(does),
        }
    }
}
