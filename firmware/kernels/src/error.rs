//! Why a kernel refuses.

use core::fmt;

/// Why a kernel could not compute its tile. What it wrote until then is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// A box reaches past the bytes behind it, or the tile lies outside its box.
    OutOfBounds,
    /// Weights or channel constants are shorter than the tile needs.
    ConstantsTooShort,
    /// A count that must not be zero is zero, or counts do not divide each other.
    Shape,
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfBounds => "the tile reaches outside of its operands",
            Self::ConstantsTooShort => "weights or channel constants are too short",
            Self::Shape => "the operands' shapes do not fit each other",
        })
    }
}

impl core::error::Error for KernelError {}
