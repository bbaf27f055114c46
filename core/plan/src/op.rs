//! What a kernel computes: geometry, quantisation and clamp, shared by all tiles of a layer.

use crate::kernel::{Kernel, Role};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An operator as a plan image holds it: 64 bytes, shared by every tile of its layer.
///
/// Requantisation follows TFLite's reference kernels: a 32-bit accumulator times a Q31
/// multiplier with rounding, then a rounding shift; shifts are powers of two, positive = left.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
)]
#[repr(C)]
pub struct Op {
    /// A [`Kernel`]'s number.
    pub kernel: u16,
    /// [`Op::OVER`], [`Op::COUNT_PADDING`], [`Op::HALVES_UP`], [`Op::TRANSFORMED`], [`Op::NATURAL`] and [`Op::SPARSE`]; the
    /// others are zero.
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
    /// Output channels whose sparse rows are together, if filters have several rows ([`Filters::SPARSE_COLUMNS`]): even,
    /// at most [`Filters::SPARSE_BLOCK`]; else zero.
    ///
    /// [`Filters::SPARSE_COLUMNS`]: crate::Filters::SPARSE_COLUMNS
    /// [`Filters::SPARSE_BLOCK`]: crate::Filters::SPARSE_BLOCK
    pub sparse_block: u16,
    /// Zero points of the inputs: of two-operand kernels both, of kernels with weights that of the
    /// input and that of the weights, else one.
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
    /// * `Pad`: channels before those of the input;
    /// * `AveragePool` that counts padding: one past the last row and column that count;
    /// * `Add`, `Sub`: multiplier and shift of the first input, of the second, of the output, after
    ///   a common left shift of 20 bits;
    /// * `Mul`, `Mean`, `Requantise`: multiplier and shift;
    /// * `Prelu`: multiplier and shift of values that are not negative, of products with slopes;
    /// * `Softmax`: multiplier and left shift of the input difference, smallest difference;
    /// * `LogSoftmax`: the same, then multiplier and shift back to an input difference;
    /// * `ConvMaxPool`: the pool's window, stride, padding above and left, and the rows and columns
    ///   of the convolution's whole output: see [`PoolBehind`];
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

    /// Flag of `AveragePool`: halves are rounded towards +∞, not away from zero.
    pub const HALVES_UP: u16 = 16;

    /// Flag of `Conv`: weights of 3x3 windows are transformed (FORMAT.md, "Weights").
    pub const TRANSFORMED: u16 = 32;

    /// Flag of `FullyConnected`: weights lie in their natural order, so that filters come one by one.
    pub const NATURAL: u16 = 64;

    /// Flag of `Conv` and `FullyConnected`: weights lie without their zeros (FORMAT.md, "Weights").
    pub const SPARSE: u16 = 128;

    /// Whether rows, columns and channels are taken together: see [`Op::OVER`].
    #[must_use]
    pub fn over(&self) -> [bool; 3] {
        Self::OVER.map(|flag| self.flags & flag != 0)
    }

    /// Whether weights are transformed: see [`Op::TRANSFORMED`].
    #[must_use]
    pub const fn is_transformed(&self) -> bool {
        self.flags & Self::TRANSFORMED != 0
    }

    /// Whether weights lie without their zeros: see [`Op::SPARSE`].
    #[must_use]
    pub const fn is_sparse(&self) -> bool {
        self.flags & Self::SPARSE != 0
    }

    /// The kernel, if the number is one.
    #[must_use]
    pub fn kernel(&self) -> Option<Kernel> {
        Kernel::from_number(self.kernel)
    }

    /// The operands of its kernel, in the order of a compute step's views.
    #[must_use]
    pub fn roles(&self) -> &'static [Role] {
        self.kernel().map_or(&[], Kernel::roles)
    }
}

/// The max pool behind the convolution of a `ConvMaxPool`, vertical and horizontal. In the scalars
/// each pair is one number: the first in the lower half, the second in the upper half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolBehind {
    /// Window height and width, in outputs of the convolution.
    pub window: [u16; 2],
    /// Stride, in outputs of the convolution; at least 1.
    pub stride: [u16; 2],
    /// Padding above and left of the convolution's output.
    pub padding: [u16; 2],
    /// Rows and columns of the convolution's whole output.
    pub conv_size: [u16; 2],
}

impl PoolBehind {
    /// The scalars that say it.
    #[must_use]
    pub fn scalars(&self) -> [i32; 4] {
        [self.window, self.stride, self.padding, self.conv_size]
            .map(|[first, second]| (u32::from(second) << 16 | u32::from(first)).cast_signed())
    }

    /// What the scalars of an op say, if it is a `ConvMaxPool`.
    #[must_use]
    pub fn of(op: &Op) -> Option<Self> {
        if op.kernel()? != Kernel::ConvMaxPool {
            return None;
        }
        let [window, stride, padding, conv_size, ..] = op.scalars.map(|scalar| {
            let [first, upper_first, second, upper_second] = scalar.to_le_bytes();
            [[first, upper_first], [second, upper_second]].map(u16::from_le_bytes)
        });
        Some(Self { window, stride, padding, conv_size })
    }
}

const _: () = assert!(size_of::<Op>() == 64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_behind_a_convolution_is_read_as_it_was_written() {
        let pool = PoolBehind {
            window: [3, 2],
            stride: [2, u16::MAX],
            padding: [0, 1],
            conv_size: [u16::MAX, 40_000],
        };
        let mut op = Op { kernel: Kernel::ConvMaxPool as u16, ..Op::default() };
        op.scalars[..4].copy_from_slice(&pool.scalars());
        assert_eq!(PoolBehind::of(&op), Some(pool));
        assert_eq!(PoolBehind::of(&Op { kernel: Kernel::Conv as u16, ..op }), None);
    }
}
