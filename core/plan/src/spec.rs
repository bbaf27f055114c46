//! What is known of each kernel, one row for each.
//!
//! The kernels' domain, tiles of rows, equivalence of steps, costs and the planner read the rows; the validator keeps a
//! definition of its own.

use crate::kernel::{Kernel, Role};
use crate::op::Op;

/// What is known of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelSpec {
    /// A short name for reports and cost files.
    pub name: &'static str,
    /// The operands, in the order of a compute step's views.
    pub roles: &'static [Role],
    /// What of its inputs an output needs: by it, whether rows are made alone, with which lag, and what is
    /// made in place.
    pub reach: Reach,
    /// Flags that its op may have.
    pub flags: u16,
    /// The boxes that stand for operands.
    pub boxes: Boxes,
    /// Which operands may lie in rows and pixels with gaps between.
    pub gaps: Gaps,
    /// Bytes of a result.
    pub result_bytes: u32,
    /// What a filter, the weights of an output channel, has weights for.
    pub filter: Option<Filter>,
    /// Where filters may lie in pairs: their bytes are a multiple of this. Else 0.
    pub pairs: u64,
    /// Whether channels of the output can be made alone: weights for them follow each other, but in groups.
    pub makes_channels: bool,
    /// Whether filters are prepared anew for each step, so that steps of few rows take much longer.
    pub prepares_filters: bool,
    /// What is made together.
    pub quantum: Quantum,
    /// Results that are stored at once where no cache holds them.
    pub stored: u64,
    /// How often it goes through inputs, weights and constants.
    pub passes: Passes,
    /// Whether others' kernels gather the windows as 16-bit integers in scratch memory. The project's have none.
    pub has_scratch: bool,
}

impl KernelSpec {
    /// Whether filters in pairs are cut between channels.
    #[must_use]
    pub const fn cuts_pairs(&self) -> bool {
        self.makes_channels && self.pairs > 0
    }
}

/// What of its inputs an output needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Of every operand of the output's shape the element at its own place alone: such a step may write
    /// where it reads.
    Element,
    /// The pixel at its own place.
    Pixel,
    /// A window.
    Window,
    /// Pixels whose windows reach it.
    Transposed,
    /// The four pixels around a place between them.
    Between,
    /// Windows in a window, which are not made row by row.
    Windows,
    /// All along some dimensions: not made row by row.
    Along,
    /// What the op says for its place in the layer: not made row by row.
    Placed,
}

impl Reach {
    /// Whether rows of the output are made alone: see [`crate::rows`].
    #[must_use]
    pub const fn makes_rows(self) -> bool {
        !matches!(self, Self::Windows | Self::Along | Self::Placed)
    }

    /// Whether the op has a window with stride and dilation.
    #[must_use]
    pub const fn has_window(self) -> bool {
        matches!(self, Self::Window | Self::Transposed | Self::Windows)
    }

    /// Whether what is done elsewhere in the layer is alike if operands lie alike around it.
    #[must_use]
    pub const fn is_alike_elsewhere(self) -> bool {
        matches!(self, Self::Element | Self::Pixel | Self::Window | Self::Along)
    }
}

/// The box that stands for an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boxes {
    /// Its rows, columns and channels.
    Image,
    /// The same, dimensions counted from the last: operands broadcast.
    Aligned,
    /// Any that has its elements in their order.
    Flat,
    /// A vector.
    Vector,
}

/// Which activations may lie in rows and pixels with gaps between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaps {
    /// None.
    Neither,
    /// Inputs.
    Inputs,
    /// Inputs and the output.
    Both,
}

/// What a kernel makes together.
#[derive(Clone, Copy, Debug)]
pub struct Quantum {
    /// Pixels.
    pub pixels: u64,
    /// Output channels; nothing: all.
    pub channels: Option<u64>,
}

/// What a filter has weights for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// A window of one channel.
    Channel,
    /// A window of the channels of its group.
    Group,
    /// A window of all channels.
    Channels,
    /// All of the input.
    Input,
}

/// How often a kernel goes through its operands.
#[derive(Clone, Copy, Debug)]
pub struct Passes {
    /// Through inputs.
    pub input: Pass,
    /// Through weights.
    pub weights: Pass,
    /// Through constants.
    pub constants: Pass,
}

/// How often a kernel goes through an operand, and what it loads meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Once, word by word.
    Once,
    /// Once, byte by byte.
    Bytes,
    /// Three times.
    Thrice,
    /// Through each window of all channels once: a row comes again with each row of the window.
    Windows,
    /// Through each window of a channel for each output channel.
    ChannelWindows,
    /// Through each window for as many channels as are made together.
    PartWindows,
    /// All of it for every four pixels.
    Fours,
    /// So many words for each result.
    Results(u8),
    /// A word for so many products.
    Products(u8),
}

use Role::{Constants, Input, Output, Weights};

/// One input, of which an output needs the pixel at its own place.
const PIXEL: KernelSpec = KernelSpec {
    name: "",
    roles: &[Input, Output],
    reach: Reach::Pixel,
    flags: 0,
    boxes: Boxes::Image,
    gaps: Gaps::Both,
    result_bytes: 1,
    filter: None,
    pairs: 0,
    makes_channels: false,
    prepares_filters: false,
    quantum: Quantum { pixels: 1, channels: Some(16) },
    stored: 1,
    passes: Passes { input: Pass::Once, weights: Pass::Once, constants: Pass::Once },
    has_scratch: false,
};

/// Two inputs that broadcast.
const PAIR: KernelSpec = KernelSpec {
    roles: &[Input, Input, Output],
    reach: Reach::Element,
    boxes: Boxes::Aligned,
    ..PIXEL
};

/// One input and a table, or parameters.
const TABLE: KernelSpec = KernelSpec { roles: &[Input, Output, Constants], ..PIXEL };

/// A pool.
const POOL: KernelSpec = KernelSpec {
    reach: Reach::Window,
    passes: Passes { input: Pass::PartWindows, ..PIXEL.passes },
    ..PIXEL
};

/// Filters, each with a window.
const CONV: KernelSpec = KernelSpec {
    roles: &[Input, Output, Weights, Constants],
    reach: Reach::Window,
    filter: Some(Filter::Group),
    quantum: Quantum { pixels: 4, channels: None },
    passes: Passes { input: Pass::Windows, weights: Pass::Fours, constants: Pass::Fours },
    ..PIXEL
};

/// The largest value of a pixel, the sum, the results.
const SCORES: KernelSpec =
    KernelSpec { passes: Passes { input: Pass::Thrice, ..PIXEL.passes }, ..PIXEL };

/// Dimensions taken together.
const REDUCED: KernelSpec = KernelSpec {
    reach: Reach::Along,
    flags: Op::OVER[0] | Op::OVER[1] | Op::OVER[2],
    gaps: Gaps::Inputs,
    ..PIXEL
};

impl Kernel {
    /// What is known of the kernel.
    #[must_use]
    #[inline]
    pub const fn spec(self) -> &'static KernelSpec {
        match self {
            Self::Conv => &KernelSpec {
                name: "conv",
                flags: Op::TRANSFORMED | Op::SPARSE,
                pairs: 4,
                makes_channels: true,
                stored: 2,
                has_scratch: true,
                ..CONV
            },
            Self::Depthwise => &KernelSpec {
                name: "depthwise",
                filter: Some(Filter::Channel),
                prepares_filters: true,
                quantum: PIXEL.quantum,
                passes: Passes {
                    input: Pass::ChannelWindows,
                    weights: Pass::Products(4),
                    constants: Pass::Results(3),
                },
                ..CONV
            },
            Self::FullyConnected => &KernelSpec {
                name: "fully_connected",
                flags: Op::NATURAL | Op::SPARSE,
                reach: Reach::Along,
                boxes: Boxes::Vector,
                gaps: Gaps::Neither,
                filter: Some(Filter::Input),
                pairs: 8,
                makes_channels: true,
                quantum: Quantum { pixels: 1, channels: Some(4) },
                // A word of the input serves four channels.
                passes: Passes {
                    input: Pass::Products(16),
                    weights: Pass::Once,
                    constants: Pass::Products(16),
                },
                ..CONV
            },
            Self::TransposeConv => &KernelSpec {
                name: "transpose_conv",
                reach: Reach::Transposed,
                filter: Some(Filter::Channels),
                makes_channels: true,
                ..CONV
            },
            Self::ConvMaxPool => &KernelSpec {
                name: "conv_max_pool",
                reach: Reach::Windows,
                pairs: 4,
                quantum: PIXEL.quantum,
                ..CONV
            },
            Self::MaxPool => &KernelSpec { name: "max_pool", ..POOL },
            Self::AveragePool => &KernelSpec {
                name: "average_pool",
                flags: Op::COUNT_PADDING | Op::HALVES_UP,
                ..POOL
            },
            Self::Add => &KernelSpec { name: "add", ..PAIR },
            Self::Sub => &KernelSpec { name: "sub", ..PAIR },
            Self::Mul => &KernelSpec { name: "mul", ..PAIR },
            Self::Maximum => &KernelSpec { name: "maximum", ..PAIR },
            Self::Minimum => &KernelSpec { name: "minimum", ..PAIR },
            Self::Prelu => &KernelSpec { name: "prelu", ..PAIR },
            Self::Requantise => &KernelSpec {
                name: "requantise",
                reach: Reach::Element,
                boxes: Boxes::Flat,
                ..PIXEL
            },
            Self::Lut => &KernelSpec {
                name: "lut",
                reach: Reach::Element,
                boxes: Boxes::Flat,
                passes: Passes { constants: Pass::Results(1), ..TABLE.passes },
                ..TABLE
            },
            Self::Pad => &KernelSpec { name: "pad", reach: Reach::Placed, ..PIXEL },
            Self::Gather => &KernelSpec {
                name: "gather",
                reach: Reach::Placed,
                boxes: Boxes::Flat,
                gaps: Gaps::Neither,
                passes: Passes { input: Pass::Bytes, constants: Pass::Bytes, ..TABLE.passes },
                ..TABLE
            },
            Self::ResizeNearest => {
                &KernelSpec { name: "resize_nearest", reach: Reach::Placed, ..TABLE }
            }
            Self::ResizeBilinear => {
                &KernelSpec { name: "resize_bilinear", reach: Reach::Between, ..PIXEL }
            }
            Self::Softmax => &KernelSpec { name: "softmax", ..SCORES },
            Self::LogSoftmax => &KernelSpec { name: "log_softmax", ..SCORES },
            Self::LocalResponse => &KernelSpec { name: "local_response", ..TABLE },
            Self::Mean => &KernelSpec { name: "mean", ..REDUCED },
            Self::ArgMax => &KernelSpec { name: "arg_max", result_bytes: 4, ..REDUCED },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_with_weights_have_filters_and_names_are_distinct() {
        for kernel in Kernel::ALL {
            assert_eq!(kernel.spec().filter.is_some(), kernel.roles().contains(&Weights));
            let named = |other: &Kernel| other.name() == kernel.name();
            assert_eq!(Kernel::ALL.into_iter().filter(named).count(), 1, "{kernel:?}");
        }
    }
}
