//! FPSCR (DDI 0403E, A2.5.3): modes and cumulative exceptions.

use super::number::Rest;
use crate::core::Floats;

/// The bits that there are.
pub const ALL: u32 = 0xf7c0_009f;
/// AHP: half-precision numbers have neither infinities nor NaNs.
pub const ALTERNATIVE_HALF: u32 = 1 << 26;
/// DN: every NaN that results is the default one.
pub const DEFAULT_NAN: u32 = 1 << 25;
/// FZ: denormal operands and results become zero.
pub const FLUSH: u32 = 1 << 24;
/// IDC: a denormal operand was flushed to zero.
pub const INPUT_DENORMAL: u32 = 1 << 7;
/// IXC: a result is not exact.
pub const INEXACT: u32 = 1 << 4;
/// UFC: a result is too small.
pub const UNDERFLOW: u32 = 1 << 3;
/// OFC: a result is too large.
pub const OVERFLOW: u32 = 1 << 2;
/// DZC: a number was divided by zero.
pub const DIVISION_BY_ZERO: u32 = 1 << 1;
/// IOC: an operation has no meaning.
pub const INVALID: u32 = 1;

/// How a result is rounded that is not exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, of two to the even one.
    Nearest,
    Up,
    Down,
    ToZero,
    /// To the nearest, of two to the one that is further from zero. FPSCR cannot ask for it.
    NearestAway,
}

impl Rounding {
    /// Whether the magnitude grows, of a number whose last place kept is odd or not.
    pub fn goes_up(self, negative: bool, odd: bool, rest: Rest) -> bool {
        match self {
            Self::Nearest => rest > Rest::Half || rest == Rest::Half && odd,
            Self::Up => rest > Rest::None && !negative,
            Self::Down => rest > Rest::None && negative,
            Self::ToZero => false,
            Self::NearestAway => rest >= Rest::Half,
        }
    }
}

impl Floats {
    pub const fn has(&self, mode: u32) -> bool {
        self.status & mode != 0
    }

    pub const fn raise(&mut self, exception: u32) {
        self.status |= exception;
    }

    pub const fn rounding(&self) -> Rounding {
        match self.status >> 22 & 3 {
            0 => Rounding::Nearest,
            1 => Rounding::Up,
            2 => Rounding::Down,
            _ => Rounding::ToZero,
        }
    }
}
