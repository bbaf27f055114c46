//! The kernels that a compute step can name, and what operands each takes.

use crate::spec::Reach;

/// A kernel: what a compute step does with its operands.
///
/// The numbers stand in plan images, so a number is never given to another kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "alloc", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "alloc", serde(rename_all = "snake_case"))]
#[repr(u16)]
pub enum Kernel {
    /// Convolution, weights OHWI. Operands: input, output, weights, channel constants.
    Conv = 1,
    /// Depthwise convolution, weights HWC. Operands: input, output, weights, channel constants.
    Depthwise = 2,
    /// Fully connected, weights OI. Operands: input, output, weights, channel constants.
    FullyConnected = 3,
    /// Maximum over a window. Operands: input, output.
    MaxPool = 4,
    /// Mean over the part of a window that lies inside the input, or inside the input and its
    /// padding. Operands: input, output.
    AveragePool = 5,
    /// Sum of two tensors. Operands of this and of the other kernels of two activations broadcast:
    /// a box of one row, column or channel stands for as many as the output has. Either may be
    /// constant. Operands: first, second, output.
    Add = 6,
    /// Copies with a change of scale and a clamp: activation alone, concat, re-quantisation.
    /// Operands: input, output.
    Requantise = 7,
    /// Copies the input into the middle of the output and fills the rest with the output's zero
    /// point. Operands: input, output.
    Pad = 8,
    /// Softmax over the channels of each pixel. Operands: input, output.
    Softmax = 9,
    /// A function of each value. Operands: input, output, table of its 256 results.
    Lut = 10,
    /// First less second. Operands: first, second, output.
    Sub = 11,
    /// Product. Operands: first, second, output.
    Mul = 12,
    /// The larger of two values. Operands: first, second, output.
    Maximum = 13,
    /// The smaller of two values. Operands: first, second, output.
    Minimum = 14,
    /// Values, negative ones times a slope. Operands: input, slopes, output.
    Prelu = 15,
    /// Copies elements from strided places. Operands: input, output, [`crate::Gather`].
    Gather = 16,
    /// Mean over whole dimensions. Operands: input, output.
    Mean = 17,
    /// Transposed convolution, weights OHWI. Operands: input, output, weights, channel constants.
    TransposeConv = 18,
    /// Nearest pixels. Operands: input, output, table of input rows and columns.
    ResizeNearest = 19,
    /// Weighted means of the four pixels around. Operands: input, output.
    ResizeBilinear = 20,
    /// Logarithm of the softmax over the channels of each pixel. Operands: input, output.
    LogSoftmax = 21,
    /// Index of the largest value along a dimension, as 32-bit integers: four bytes of the output
    /// for each. Operands: input, output.
    ArgMax = 22,
    /// Normalisation by the squares of neighbouring channels. Operands: input, output, table of
    /// factors (32-bit integers).
    LocalResponse = 23,
    /// Convolution, then maximum over a window of its output, which is not stored; weights OHWI.
    /// Operands: input, output, weights, channel constants.
    ConvMaxPool = 24,
}

/// What an operand of a kernel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An activation that is read.
    Input,
    /// The activation that is written.
    Output,
    /// Weights, int8, in the kernel's packed layout.
    Weights,
    /// What else the kernel reads, in its packed layout: channel constants (bias, multiplier and
    /// shift of each output channel), a table, or parameters.
    Constants,
}

impl Kernel {
    /// All kernels, in the order of their numbers.
    pub const ALL: [Self; 24] = [
        Self::Conv,
        Self::Depthwise,
        Self::FullyConnected,
        Self::MaxPool,
        Self::AveragePool,
        Self::Add,
        Self::Requantise,
        Self::Pad,
        Self::Softmax,
        Self::Lut,
        Self::Sub,
        Self::Mul,
        Self::Maximum,
        Self::Minimum,
        Self::Prelu,
        Self::Gather,
        Self::Mean,
        Self::TransposeConv,
        Self::ResizeNearest,
        Self::ResizeBilinear,
        Self::LogSoftmax,
        Self::ArgMax,
        Self::LocalResponse,
        Self::ConvMaxPool,
    ];

    /// The kernel with this number in a plan image.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kernel| *kernel as u16 == number)
    }

    /// The operands of the kernel, in the order of a compute step's views.
    #[must_use]
    pub const fn roles(self) -> &'static [Role] {
        self.spec().roles
    }

    /// The first operand of a role.
    #[must_use]
    pub fn operand(self, wanted: Role) -> Option<usize> {
        self.roles().iter().position(|role| *role == wanted)
    }

    /// Whether each element of the output needs, of every operand of the output's shape, the
    /// element at its own place alone: such a step may write where it reads.
    #[must_use]
    pub const fn is_elementwise(self) -> bool {
        matches!(self.spec().reach, Reach::Element)
    }

    /// Whether a step of the kernel can be made row by row: see [`crate::rows`].
    #[must_use]
    pub const fn makes_rows(self) -> bool {
        self.spec().reach.makes_rows()
    }

    /// A short name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.spec().name
    }
}

/// Bytes of a [`Kernel::Lut`]'s table: the result for each int8 value, at the place that its byte
/// gives as an unsigned number.
pub const TABLE_BYTES: u64 = 256;

/// Bytes of an entry of a [`Kernel::ResizeNearest`]'s table: the input row of each output row, then
/// the input column of each output column, of the whole layer.
pub const NEAREST_BYTES: u64 = 2;

/// Bytes of a factor in a [`Kernel::LocalResponse`]'s table.
pub const FACTOR_BYTES: u64 = 4;

/// Bytes of one output channel's entry in the channel constants: bias, multiplier and shift as
/// 32-bit integers each.
pub const CHANNEL_CONSTANT_BYTES: u64 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_distinct_and_lead_back() {
        for kernel in Kernel::ALL {
            assert_eq!(Kernel::from_number(kernel as u16), Some(kernel));
        }
        assert_eq!(Kernel::from_number(0), None);
    }
}
