//! Conversions (DDI 0403E, A2.5: FPToFixed to FPRoundInt).

use super::number::{Class, Format, Number};
use super::status::{ALTERNATIVE_HALF, DEFAULT_NAN, INEXACT, INVALID, Rounding};
use crate::core::Floats;

/// A number with a fixed point: so many bits, of which so many are its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fixed {
    pub bits: u32,
    pub fraction: u32,
    pub unsigned: bool,
}

impl Floats {
    /// To the nearest value that the fixed point can hold; extended to a register by its sign, or zeros.
    pub fn float_to_fixed(
        &mut self,
        from: Format,
        bits: u64,
        to: Fixed,
        rounding: Rounding,
    ) -> u64 {
        let operand = self.unpack(from, bits);
        let negative = operand.is_negative();
        let whole = match operand.class {
            Class::Finite => operand.number.round_to(-(to.fraction as i32), rounding),
            Class::Infinity => None,
            Class::SignallingNan | Class::QuietNan => {
                self.raise(INVALID);
                return 0;
            }
        };
        let (magnitude, inexact) = whole.map_or((i128::MAX, false), |(n, it)| (n as i128, it));
        let value = if negative { -magnitude } else { magnitude };
        let (least, most) = if to.unsigned {
            (0, (1 << to.bits) - 1)
        } else {
            (-(1 << (to.bits - 1)), (1 << (to.bits - 1)) - 1)
        };
        let clamped = value.clamp(least, most);
        if clamped != value {
            self.raise(INVALID);
        } else if inexact {
            self.raise(INEXACT);
        }
        clamped as u64
    }

    pub fn fixed_to_float(
        &mut self,
        to: Format,
        bits: u64,
        from: Fixed,
        rounding: Rounding,
    ) -> u64 {
        let above = 64 - from.bits;
        let (negative, magnitude) = if from.unsigned {
            (false, bits << above >> above)
        } else {
            let value = (bits << above) as i64 >> above;
            (value < 0, value.unsigned_abs())
        };
        let exponent = -(from.fraction as i32);
        self.round_with(to, Number { negative, significand: magnitude.into(), exponent }, rounding)
    }

    /// From one format to another. A NaN keeps the top of its fraction.
    pub fn reformat(&mut self, from: Format, to: Format, bits: u64) -> u64 {
        let operand = self.unpack(from, bits);
        let negative = operand.is_negative();
        let without_nan = to == Format::Half && self.has(ALTERNATIVE_HALF);
        match operand.class {
            Class::Finite => self.round(to, operand.number),
            Class::Infinity if without_nan => {
                self.raise(INVALID);
                to.zero(negative) | (to.sign() - 1)
            }
            Class::Infinity => to.infinity(negative),
            Class::SignallingNan | Class::QuietNan => {
                if operand.class == Class::SignallingNan || without_nan {
                    self.raise(INVALID);
                }
                if without_nan {
                    return to.zero(negative);
                }
                if self.has(DEFAULT_NAN) {
                    return to.default_nan();
                }
                let fraction = operand.magnitude & (from.quiet() - 1);
                let kept = fraction << (64 - from.fraction()) >> (64 - to.fraction());
                to.zero(negative) | to.default_nan() | kept
            }
        }
    }

    /// To an integer in the same format; `exact`: tells if that is another value.
    pub fn round_to_integer(
        &mut self,
        format: Format,
        bits: u64,
        rounding: Rounding,
        exact: bool,
    ) -> u64 {
        let operand = self.unpack(format, bits);
        if let Some(nan) = self.nan(format, &[operand]) {
            return nan;
        }
        let negative = operand.is_negative();
        if operand.is_infinite() || operand.number.exponent >= 0 {
            return bits;
        }
        // Whatever has bits below one fits.
        let (significand, inexact) = operand.number.round_to(0, rounding).unwrap_or((0, false));
        if exact && inexact {
            self.raise(INEXACT);
        }
        self.round(format, Number { negative, significand, exponent: 0 })
    }
}
