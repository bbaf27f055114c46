//! Units as types: bytes, cycles, points in virtual time, frequencies and microseconds.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(transparent))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Bytes(pub u64);

/// A duration in clock cycles of the core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(transparent))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Cycles(pub u64);

/// A point in virtual time: core clock cycles since the start of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(transparent))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CyclePoint(pub u64);

/// A frequency in hertz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(transparent))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Hertz(pub u64);

/// A duration in microseconds, for people: time is computed in [`Cycles`].
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(transparent))]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Micros(pub f64);

/// A number for people, its digits in groups of three: `1,048,576`.
#[cfg(feature = "alloc")]
#[must_use]
pub fn grouped(value: u64) -> alloc::string::String {
    use alloc::string::ToString;

    let digits = value.to_string();
    let mut text = alloc::string::String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl Bytes {
    /// Rounds up to a multiple of `align`, which is at least 1.
    #[must_use]
    pub const fn align_up(self, align: u64) -> Self {
        Self(self.0.div_ceil(align) * align)
    }
}

impl Cycles {
    /// This duration at a clock of `clock`; zero hertz gives zero.
    #[must_use]
    pub fn at(self, clock: Hertz) -> Micros {
        if clock.0 == 0 {
            return Micros(0.0);
        }
        Micros(self.0 as f64 * 1e6 / clock.0 as f64)
    }
}

impl CyclePoint {
    /// The duration from `earlier` to here; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Cycles {
        Cycles(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Cycles> for CyclePoint {
    type Output = Self;
    fn add(self, duration: Cycles) -> Self {
        Self(self.0.saturating_add(duration.0))
    }
}

macro_rules! amount {
    ($unit:ident, $name:literal) => {
        impl Add for $unit {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }
        impl AddAssign for $unit {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }
        impl Sub for $unit {
            type Output = Self;
            /// The difference; zero if `other` is larger.
            fn sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }
        impl Sum for $unit {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(Self(0), Add::add)
            }
        }
        impl fmt::Display for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{} ", $name), self.0)
            }
        }
    };
}

amount!(Bytes, "B");
amount!(Cycles, "cycles");

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "alloc")]
    #[test]
    fn digits_stand_in_groups_of_three() {
        let texts = [0, 999, 1_000, 1_048_576].map(grouped);
        assert_eq!(texts, ["0", "999", "1,000", "1,048,576"]);
    }

    #[test]
    fn a_duration_is_the_difference_of_two_points() {
        let start = CyclePoint(100);
        let end = start + Cycles(216);
        assert_eq!(end.since(start), Cycles(216));
        assert_eq!(start.since(end), Cycles(0));
        assert_eq!(Cycles(216).at(Hertz(216_000_000)), Micros(1.0));
    }

    #[test]
    fn bytes_align_up() {
        assert_eq!(Bytes(0).align_up(32), Bytes(0));
        assert_eq!(Bytes(33).align_up(32), Bytes(64));
    }
}
