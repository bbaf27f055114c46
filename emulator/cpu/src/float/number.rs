//! Formats, what their bits mean, and rounding to them (DDI 0403E, A2.5: FPUnpack and FPRound).

use super::status::{ALTERNATIVE_HALF, FLUSH};
use super::status::{INEXACT, INPUT_DENORMAL, INVALID, OVERFLOW, Rounding, UNDERFLOW};
use crate::core::Floats;

/// A format of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// 16 bits: only ever converted.
    Half,
    /// 32 bits.
    Single,
    /// 64 bits.
    Double,
}

impl Format {
    /// Bits of the fraction.
    pub const fn fraction(self) -> u32 {
        match self {
            Self::Half => 10,
            Self::Single => 23,
            Self::Double => 52,
        }
    }

    const fn exponent_bits(self) -> u32 {
        match self {
            Self::Half => 5,
            Self::Single => 8,
            Self::Double => 11,
        }
    }

    /// The exponent of the least normal number.
    const fn least_exponent(self) -> i32 {
        2 - (1 << (self.exponent_bits() - 1))
    }

    /// The sign's bit.
    pub const fn sign(self) -> u64 {
        1 << (self.exponent_bits() + self.fraction())
    }

    /// A zero.
    pub const fn zero(self, negative: bool) -> u64 {
        if negative { self.sign() } else { 0 }
    }

    /// An infinity.
    pub const fn infinity(self, negative: bool) -> u64 {
        self.zero(negative) | (self.sign() - (1 << self.fraction()))
    }

    /// The bit that a quiet NaN has and a signalling one has not.
    pub const fn quiet(self) -> u64 {
        1 << (self.fraction() - 1)
    }

    /// The number that a byte of an encoding stands for (VFPExpandImm).
    pub const fn constant(self, byte: u8) -> u64 {
        let (byte, ones) = (byte as u64, (1 << (self.exponent_bits() - 3)) - 1);
        let top = if byte & 0x40 == 0 { (ones + 1) << 2 } else { ones << 2 };
        self.zero(byte & 0x80 != 0)
            | (top | byte >> 4 & 3) << self.fraction()
            | (byte & 15) << (self.fraction() - 4)
    }

    /// The NaN that operations make on their own.
    pub const fn default_nan(self) -> u64 {
        self.infinity(false) | self.quiet()
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    SignallingNan,
    QuietNan,
    Infinity,
    /// A zero as well.
    Finite,
}

/// significand × 2^exponent. Where the value is not exact, the lowest bit is set: it stands for all bits below, and
/// lies below whatever is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    pub negative: bool,
    pub significand: u128,
    pub exponent: i32,
}

impl Number {
    /// The same with the significand's top bit at a place, at or above where it is.
    pub const fn with_top(self, top: u32) -> Self {
        if self.significand == 0 {
            return self;
        }
        let by = top - self.significand.ilog2();
        Self { significand: self.significand << by, exponent: self.exponent - by as i32, ..self }
    }

    /// Rounds to a multiple of 2^`exponent`: how many of them, and whether that is another value. `None` if they are
    /// more than 64 bits can hold.
    pub fn round_to(self, exponent: i32, rounding: Rounding) -> Option<(u128, bool)> {
        let by = exponent - self.exponent;
        if self.significand == 0 {
            return Some((0, false));
        }
        if by <= 0 {
            let fits = self.significand.ilog2() as i32 - by < 64;
            return fits.then(|| (self.significand << -by, false));
        }
        let (kept, rest) = shift_right(self.significand, by as u32);
        let up = rounding.goes_up(self.negative, kept & 1 != 0, rest);
        Some((kept + u128::from(up), rest != Rest::None))
    }
}

/// What was cut off, in units of the last place kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rest {
    None,
    LessThanHalf,
    Half,
    MoreThanHalf,
}

/// Shifts by 1 or more.
pub fn shift_right(significand: u128, by: u32) -> (u128, Rest) {
    if by > u128::BITS {
        return (0, if significand == 0 { Rest::None } else { Rest::LessThanHalf });
    }
    let half = 1 << (by - 1);
    let lost = significand & (half | (half - 1));
    let rest = match lost {
        0 => Rest::None,
        lost if lost < half => Rest::LessThanHalf,
        lost if lost == half => Rest::Half,
        _ => Rest::MoreThanHalf,
    };
    (significand.checked_shr(by).unwrap_or(0), rest)
}

/// An operand.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    pub bits: u64,
    pub class: Class,
    /// What it is if it is finite; the sign counts always.
    pub number: Number,
    /// Its bits without the sign; zero if it was flushed.
    pub magnitude: u64,
}

impl Operand {
    pub fn is_nan(&self) -> bool {
        matches!(self.class, Class::SignallingNan | Class::QuietNan)
    }

    pub fn is_infinite(&self) -> bool {
        self.class == Class::Infinity
    }

    pub const fn is_zero(&self) -> bool {
        self.magnitude == 0
    }

    pub const fn is_negative(&self) -> bool {
        self.number.negative
    }
}

impl Floats {
    /// Says what bits mean. Flushes denormal numbers to zero if FPSCR asks for that.
    pub fn unpack(&mut self, format: Format, bits: u64) -> Operand {
        let negative = bits & format.sign() != 0;
        let mut magnitude = bits & (format.sign() - 1);
        let hidden = 1 << format.fraction();
        let is_denormal = magnitude != 0 && magnitude < hidden;
        if is_denormal && format != Format::Half && self.has(FLUSH) {
            self.raise(INPUT_DENORMAL);
            magnitude = 0;
        }
        let all_finite = format == Format::Half && self.has(ALTERNATIVE_HALF);
        let infinity = format.infinity(false);
        let class = match magnitude {
            _ if all_finite || magnitude < infinity => Class::Finite,
            _ if magnitude == infinity => Class::Infinity,
            _ if magnitude & format.quiet() == 0 => Class::SignallingNan,
            _ => Class::QuietNan,
        };
        let biased = (magnitude >> format.fraction()) as i32;
        let fraction = magnitude & (hidden - 1);
        let significand = if biased == 0 { fraction } else { fraction | hidden };
        let exponent = format.least_exponent() - format.fraction() as i32 + (biased - 1).max(0);
        let number = Number { negative, significand: significand.into(), exponent };
        Operand { bits, class, number, magnitude }
    }

    /// Rounds to a format as FPSCR says.
    pub fn round(&mut self, format: Format, number: Number) -> u64 {
        self.round_with(format, number, self.rounding())
    }

    /// Rounds to a format.
    pub fn round_with(&mut self, format: Format, number: Number, rounding: Rounding) -> u64 {
        let sign = format.zero(number.negative);
        if number.significand == 0 {
            return sign;
        }
        let least = format.least_exponent();
        let exponent = number.exponent + number.significand.ilog2() as i32;
        let is_tiny = exponent < least;
        if is_tiny && format != Format::Half && self.has(FLUSH) {
            self.raise(UNDERFLOW);
            return sign;
        }
        let last_place = exponent.max(least) - format.fraction() as i32;
        // At most one bit more than the fraction has: it always fits.
        let (kept, mut inexact) = number.round_to(last_place, rounding).unwrap_or((0, false));
        if is_tiny && inexact {
            self.raise(UNDERFLOW);
        }
        // The hidden bit adds one to the exponent, and so does a carry out of the fraction.
        let biased = (exponent - least).max(0) as u64;
        let mut bits = (biased << format.fraction()) + kept as u64;
        if format == Format::Half && self.has(ALTERNATIVE_HALF) {
            if bits >= format.sign() {
                self.raise(INVALID);
                return sign | (format.sign() - 1);
            }
        } else if bits >= format.infinity(false) {
            self.raise(OVERFLOW);
            inexact = true;
            let up = rounding.goes_up(number.negative, true, Rest::MoreThanHalf);
            bits = format.infinity(false) - u64::from(!up);
        }
        if inexact {
            self.raise(INEXACT);
        }
        sign | bits
    }
}
