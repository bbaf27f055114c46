//! Arithmetic and comparison (DDI 0403E, A2.5: FPAdd to FPMinNum). Results are exact, then rounded once.

use super::number::{Class, Format, Number, Operand};
use super::status::{DEFAULT_NAN, DIVISION_BY_ZERO, INVALID, Rounding};
use crate::core::Floats;

/// Where top bits are put before they are added: room for a carry above, and below for the bits of a product of
/// doubles and for the one that stands for what is lost.
const TOP: u32 = 126;

/// The sum, exact but for what lies far below its last bits.
fn sum(a: Number, b: Number) -> Number {
    let (a, b) = if a.significand == 0 { (b, a) } else { (a, b) };
    if b.significand == 0 {
        return a;
    }
    let (a, b) = (a.with_top(TOP), b.with_top(TOP));
    let (large, small) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    let by = (large.exponent - small.exponent) as u32;
    let kept = small.significand.checked_shr(by).unwrap_or(0);
    let is_exact = by <= small.significand.trailing_zeros();
    let aligned = kept | u128::from(!is_exact);
    let Number { negative, significand, exponent } = large;
    if negative == small.negative {
        return Number { negative, significand: significand + aligned, exponent };
    }
    let negative = if significand >= aligned { negative } else { small.negative };
    Number { negative, significand: significand.abs_diff(aligned), exponent }
}

fn product(a: Number, b: Number) -> Number {
    Number {
        negative: a.negative != b.negative,
        significand: a.significand * b.significand,
        exponent: a.exponent + b.exponent,
    }
}

/// Neither is zero.
fn quotient(a: Number, b: Number) -> Number {
    let a = a.with_top(TOP);
    let (whole, rest) = (a.significand / b.significand, a.significand % b.significand);
    Number {
        negative: a.negative != b.negative,
        significand: whole | u128::from(rest != 0),
        exponent: a.exponent - b.exponent,
    }
}

/// Of a number that is not zero.
fn root(a: Number) -> Number {
    let a = a.with_top(TOP);
    // The root of an odd power of two is none.
    let odd = a.exponent & 1;
    let significand = a.significand << odd;
    let root = significand.isqrt();
    Number {
        negative: false,
        significand: root | u128::from(root * root != significand),
        exponent: (a.exponent - odd) / 2,
    }
}

impl Floats {
    /// The result if an operand is a NaN: the first that signals, else the first.
    pub fn nan(&mut self, format: Format, operands: &[Operand]) -> Option<u64> {
        let first = |class: Class| operands.iter().find(|operand| operand.class == class);
        let signalling = first(Class::SignallingNan);
        let nan = signalling.or_else(|| first(Class::QuietNan))?;
        if signalling.is_some() {
            self.raise(INVALID);
        }
        let default = self.has(DEFAULT_NAN);
        Some(if default { format.default_nan() } else { nan.bits | format.quiet() })
    }

    fn invalid(&mut self, format: Format) -> u64 {
        self.raise(INVALID);
        format.default_nan()
    }

    /// The sum of two numbers. A zero is positive, unless both are negative zeros or results are rounded down.
    fn rounded_sum(&mut self, format: Format, a: Number, b: Number) -> u64 {
        let sum = sum(a, b);
        if sum.significand != 0 {
            return self.round(format, sum);
        }
        let same = a.negative == b.negative;
        format.zero(if same { a.negative } else { self.rounding() == Rounding::Down })
    }

    pub fn add(&mut self, format: Format, a: u64, b: u64) -> u64 {
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        self.add_operands(format, a, b)
    }

    pub fn subtract(&mut self, format: Format, a: u64, b: u64) -> u64 {
        let (a, mut b) = (self.unpack(format, a), self.unpack(format, b));
        b.number.negative = !b.number.negative;
        self.add_operands(format, a, b)
    }

    fn add_operands(&mut self, format: Format, a: Operand, b: Operand) -> u64 {
        if let Some(nan) = self.nan(format, &[a, b]) {
            return nan;
        }
        match (a.is_infinite(), b.is_infinite()) {
            (true, true) if a.is_negative() != b.is_negative() => self.invalid(format),
            (true, _) => format.infinity(a.is_negative()),
            (false, true) => format.infinity(b.is_negative()),
            (false, false) => self.rounded_sum(format, a.number, b.number),
        }
    }

    pub fn multiply(&mut self, format: Format, a: u64, b: u64) -> u64 {
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        if let Some(nan) = self.nan(format, &[a, b]) {
            return nan;
        }
        if !a.is_infinite() && !b.is_infinite() {
            return self.round(format, product(a.number, b.number));
        }
        if a.is_zero() || b.is_zero() {
            return self.invalid(format);
        }
        format.infinity(a.is_negative() != b.is_negative())
    }

    /// `addend` + `a` × `b`, rounded once.
    pub fn multiply_add(&mut self, format: Format, addend: u64, a: u64, b: u64) -> u64 {
        let addend = self.unpack(format, addend);
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        let has_no_product = a.is_infinite() && b.is_zero() || a.is_zero() && b.is_infinite();
        let nan = self.nan(format, &[addend, a, b]);
        if has_no_product && addend.class == Class::QuietNan {
            return self.invalid(format);
        }
        if let Some(nan) = nan {
            return nan;
        }
        let negative = a.is_negative() != b.is_negative();
        let infinite = a.is_infinite() || b.is_infinite();
        let opposed = infinite && addend.is_infinite() && negative != addend.is_negative();
        if has_no_product || opposed {
            return self.invalid(format);
        }
        if infinite {
            return format.infinity(negative);
        }
        if addend.is_infinite() {
            return format.infinity(addend.is_negative());
        }
        self.rounded_sum(format, addend.number, product(a.number, b.number))
    }

    pub fn divide(&mut self, format: Format, a: u64, b: u64) -> u64 {
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        if let Some(nan) = self.nan(format, &[a, b]) {
            return nan;
        }
        let negative = a.is_negative() != b.is_negative();
        if a.is_infinite() && b.is_infinite() || a.is_zero() && b.is_zero() {
            return self.invalid(format);
        }
        if a.is_infinite() {
            return format.infinity(negative);
        }
        if b.is_zero() {
            self.raise(DIVISION_BY_ZERO);
            return format.infinity(negative);
        }
        if a.is_zero() || b.is_infinite() {
            return format.zero(negative);
        }
        self.round(format, quotient(a.number, b.number))
    }

    pub fn square_root(&mut self, format: Format, a: u64) -> u64 {
        let a = self.unpack(format, a);
        if let Some(nan) = self.nan(format, &[a]) {
            return nan;
        }
        if a.is_zero() {
            return format.zero(a.is_negative());
        }
        if a.is_negative() {
            return self.invalid(format);
        }
        if a.is_infinite() {
            return format.infinity(false);
        }
        self.round(format, root(a.number))
    }

    /// N, Z, C and V of a comparison, as a word's top bits. `signals`: a quiet NaN is invalid as well.
    pub fn compare(&mut self, format: Format, a: u64, b: u64, signals: bool) -> u32 {
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        if a.is_nan() || b.is_nan() {
            let is_signalling = |operand: Operand| operand.class == Class::SignallingNan;
            if signals || is_signalling(a) || is_signalling(b) {
                self.raise(INVALID);
            }
            return 0b0011 << 28;
        }
        let flags = match order(&a).cmp(&order(&b)) {
            core::cmp::Ordering::Equal => 0b0110,
            core::cmp::Ordering::Less => 0b1000,
            core::cmp::Ordering::Greater => 0b0010,
        };
        flags << 28
    }

    /// The greater or the less of two; a number rather than a quiet NaN.
    pub fn extreme(&mut self, format: Format, a: u64, b: u64, greater: bool) -> u64 {
        let [mut a, mut b] = [a, b].map(|bits| self.unpack(format, bits));
        let quiet = [a, b].map(|operand| operand.class == Class::QuietNan);
        // It loses against any number.
        let loser = format.infinity(greater);
        match quiet {
            [true, false] => a = self.unpack(format, loser),
            [false, true] => b = self.unpack(format, loser),
            _ => {}
        }
        if let Some(nan) = self.nan(format, &[a, b]) {
            return nan;
        }
        if a.is_zero() && b.is_zero() {
            let [x, y] = [a, b].map(|operand| operand.is_negative());
            return format.zero(if greater { x && y } else { x || y });
        }
        let chosen = if (order(&a) > order(&b)) == greater { a } else { b };
        format.zero(chosen.is_negative()) | chosen.magnitude
    }
}

/// A number that orders operands, of which none is a NaN, as their values do.
const fn order(operand: &Operand) -> i64 {
    let magnitude = operand.magnitude as i64;
    if operand.is_negative() { -magnitude } else { magnitude }
}
