//! The kernels that a compute step can name, and what operands each takes.

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
    /// Mean over the part of a window that lies inside the input. Operands: input, output.
    AveragePool = 5,
    /// Sum of two tensors of one shape. Operands: first, second, output.
    Add = 6,
    /// Copies with a change of scale and a clamp: activation alone, concat, re-quantisation.
    /// Operands: input, output.
    Requantise = 7,
    /// Copies the input into the middle of the output and fills the rest with the output's zero
    /// point. Operands: input, output.
    Pad = 8,
    /// Softmax over the channels of each pixel. Operands: input, output.
    Softmax = 9,
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
    /// Per-channel constants: bias, multiplier and shift, in the kernel's packed layout.
    Constants,
}

impl Kernel {
    /// All kernels, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Conv,
        Self::Depthwise,
        Self::FullyConnected,
        Self::MaxPool,
        Self::AveragePool,
        Self::Add,
        Self::Requantise,
        Self::Pad,
        Self::Softmax,
    ];

    /// The kernel with this number in a plan image.
    #[must_use]
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kernel| *kernel as u16 == number)
    }

    /// The operands of the kernel, in the order of a compute step's views.
    #[must_use]
    pub const fn roles(self) -> &'static [Role] {
        use Role::{Constants, Input, Output, Weights};
        match self {
            Self::Conv | Self::Depthwise | Self::FullyConnected => {
                &[Input, Output, Weights, Constants]
            }
            Self::Add => &[Input, Input, Output],
            Self::MaxPool | Self::AveragePool | Self::Requantise | Self::Pad | Self::Softmax => {
                &[Input, Output]
            }
        }
    }

    /// A short name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Conv => "conv",
            Self::Depthwise => "depthwise",
            Self::FullyConnected => "fully_connected",
            Self::MaxPool => "max_pool",
            Self::AveragePool => "average_pool",
            Self::Add => "add",
            Self::Requantise => "requantise",
            Self::Pad => "pad",
            Self::Softmax => "softmax",
        }
    }
}

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
