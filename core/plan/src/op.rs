//! What a kernel computes: geometry, quantisation and clamp, shared by all tiles of a layer.

use crate::kernel::Kernel;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An operator as a plan image holds it: 64 bytes, shared by every tile of its layer.
///
/// Requantisation follows TFLite's reference kernels: a 32-bit accumulator times a Q31
/// multiplier with rounding, then a rounding shift; shifts are powers of two, positive = left.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable,
)]
#[repr(C)]
pub struct Op {
    /// A [`Kernel`]'s number.
    pub kernel: u16,
    /// [`Op::OVER`] and [`Op::COUNT_PADDING`]; the others are zero.
    pub flags: u16,
    /// Window height and width in input pixels; of `TransposeConv` in output pixels; of
    /// `ResizeNearest` the layer's whole output height and width.
    pub window: [u16; 2],
    /// Stride in input pixels, vertical and horizontal; at least 1 for kernels with a window.
    pub stride: [u16; 2],
    /// Dilation, vertical and horizontal; at least 1 for kernels with a window.
    pub dilation: [u16; 2],
    /// Padding above and left of the whole tensor, in input pixels.
    pub padding: [u16; 2],
    /// Groups of a convolution; channel multiplier of a depthwise convolution; else 1.
    pub groups: u16,
    /// Reserved, zero.
    pub reserved: u16,
    /// Zero points of the inputs; the second is used by two-operand kernels alone.
    pub input_zero: [i16; 2],
    /// Zero point of the output.
    pub output_zero: i16,
    /// Smallest output value.
    pub clamp_min: i16,
    /// Largest output value.
    pub clamp_max: i16,
    /// Reserved, zero.
    pub reserved2: i16,
    /// Kernel's own integers:
    /// * `Gather`: bytes that follow each other in input and output, by which its cost is
    ///   predicted;
    /// * `AveragePool` that counts padding: one past the last row and column that count;
    /// * `Add`, `Sub`: multiplier and shift of the first input, of the second, of the output, after
    ///   a common left shift of 20 bits;
    /// * `Mul`, `Mean`, `Requantise`: multiplier and shift;
    /// * `Prelu`: multiplier and shift of values that are not negative, of products with slopes;
    /// * `Softmax`: multiplier and left shift of the input difference, smallest difference;
    /// * `LogSoftmax`: the same, then multiplier and shift back to an input difference;
    /// * `LocalResponse`: channels before and behind a value that count, power of two of the
    ///   factors;
    /// * `ResizeBilinear`: vertical and horizontal distance in the input from an output to the next
    ///   and place of the first, in 2^−10 pixels.
    pub scalars: [i32; 7],
}

impl Op {
    /// Flags of `Mean` and `ArgMax`: rows, columns, channels are taken together. An `ArgMax` has
    /// one of them.
    pub const OVER: [u16; 3] = [1, 2, 4];

    /// Flag of `AveragePool`: padding counts in the divisor, with the input's zero point as value.
    pub const COUNT_PADDING: u16 = 8;

    /// Whether rows, columns and channels are taken together: see [`Op::OVER`].
    #[must_use]
    pub fn over(&self) -> [bool; 3] {
        Self::OVER.map(|flag| self.flags & flag != 0)
    }

    /// The kernel, if the number is one.
    #[must_use]
    pub fn kernel(&self) -> Option<Kernel> {
        Kernel::from_number(self.kernel)
    }
}

const _: () = assert!(size_of::<Op>() == 64);
