//! Operators.

mod unary;
mod window;

pub use unary::Unary;
pub use window::{Padding, Window};

/// Activation function fused into an operator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Activation {
    /// None.
    #[default]
    None,
    /// max(x, 0).
    Relu,
    /// min(max(x, 0), 6).
    Relu6,
    /// min(max(x, −1), 1).
    ReluN1To1,
}

impl Activation {
    /// Smallest and largest value that it lets through.
    #[must_use]
    pub const fn range(self) -> (f32, f32) {
        match self {
            Self::None => (f32::NEG_INFINITY, f32::INFINITY),
            Self::Relu => (0.0, f32::INFINITY),
            Self::Relu6 => (0.0, 6.0),
            Self::ReluN1To1 => (-1.0, 1.0),
        }
    }
}

/// How [`Op::Resize`] finds values between pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ResizeMode {
    /// The nearest pixel.
    Nearest,
    /// Linear between the four pixels around.
    Bilinear,
}

/// Where the rows or columns of a resized image lie in the image, in pixels: those of the image lie at
/// whole numbers from 0 on. A nearest pixel is the last one before such a place.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Places {
    /// Place of the first.
    pub first: f32,
    /// Distance from one to the next, from 0 on.
    pub step: f32,
}

impl Places {
    /// Place of row or column `at`.
    #[must_use]
    pub fn at(self, at: usize) -> f64 {
        f64::from(self.first) + at as f64 * f64::from(self.step)
    }
}

/// What a node computes. Operands are the node's inputs in the order given here; a bias is
/// optional and last.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Op {
    /// Convolution of N×H×W×I with weights O×H×W×(I/groups) and bias O.
    Conv {
        /// Window; its size is that of the weights.
        window: Window,
        /// Groups; 1 is an ordinary convolution.
        groups: usize,
        /// Fused activation.
        activation: Activation,
    },
    /// Depthwise convolution of N×H×W×I with weights 1×H×W×(I·multiplier) and bias I·multiplier.
    DepthwiseConv {
        /// Window; its size is that of the weights.
        window: Window,
        /// Output channels for each input channel.
        multiplier: usize,
        /// Fused activation.
        activation: Activation,
    },
    /// Fully connected: N×I with weights O×I and bias O.
    FullyConnected {
        /// Fused activation.
        activation: Activation,
    },
    /// Largest value in each window; padding never wins.
    MaxPool {
        /// Window.
        window: Window,
        /// Fused activation.
        activation: Activation,
    },
    /// Mean of each window.
    AveragePool {
        /// Window.
        window: Window,
        /// Whether padding counts in the divisor.
        count_padding: bool,
        /// Rows at the bottom and columns at the right of the padding that never count: those that
        /// rounding the output size up has added.
        uncounted: [usize; 2],
        /// Whether int8 rounds halves towards +∞, as TensorFlow Lite does with uint8, instead of
        /// away from zero.
        halves_up: bool,
        /// Fused activation.
        activation: Activation,
    },
    /// Transposed convolution of N×H×W×I with weights O×H×W×I and bias O: each input pixel adds
    /// its products with the weights to the window of output pixels that starts at its position
    /// times the stride, less the padding at top and left. The result's height and width are those
    /// of the output tensor; padding at bottom and right is not looked at.
    TransposeConv {
        /// Window over the output; its size is that of the weights.
        window: Window,
        /// Fused activation.
        activation: Activation,
    },
    /// Mean over whole dimensions.
    Mean {
        /// The dimensions, ascending.
        axes: Vec<usize>,
        /// Whether they stay as dimensions of one element.
        keep_dims: bool,
    },
    /// Sum of two tensors. Operands of this and of the other operators on two tensors broadcast as
    /// in NumPy: aligned at the last dimension, one element stands for as many as needed.
    Add {
        /// Fused activation.
        activation: Activation,
    },
    /// First operand less the second.
    Sub {
        /// Fused activation.
        activation: Activation,
    },
    /// Product of two tensors.
    Mul {
        /// Fused activation.
        activation: Activation,
    },
    /// First operand over the second; float only.
    Div {
        /// Fused activation.
        activation: Activation,
    },
    /// The larger of two values.
    Maximum,
    /// The smaller of two values.
    Minimum,
    /// One value around each dimension: (before, after) for each.
    Pad {
        /// One pair for each dimension.
        amounts: Vec<(usize, usize)>,
        /// The real value, a number; int8 takes the step that is nearest.
        filler: f32,
    },
    /// Inputs one behind the other along `axis`.
    Concat {
        /// The dimension.
        axis: usize,
    },
    /// The same bytes under another shape: that of the output tensor.
    Reshape,
    /// Dimension `i` of the output is dimension `permutation[i]` of the input.
    Transpose {
        /// The permutation.
        permutation: Vec<usize>,
    },
    /// Elements `begin + i · stride` of each dimension, for `i` below `size`.
    Slice {
        /// First element of each dimension.
        begin: Vec<usize>,
        /// Elements of each dimension of the result.
        size: Vec<usize>,
        /// Step of each dimension; may be negative, never zero.
        stride: Vec<isize>,
    },
    /// N×H×W×C to N×(H/b)×(W/b)×(b·b·C): the rows and columns of a block become channels, row
    /// before column before channel.
    SpaceToDepth {
        /// Height and width of a block.
        block: usize,
    },
    /// N×H×W×(b·b·C) to N×(H·b)×(W·b)×C: the inverse of [`Op::SpaceToDepth`].
    DepthToSpace {
        /// Height and width of a block.
        block: usize,
    },
    /// Scales N×H×W×C to the height and width of the output tensor.
    Resize {
        /// Between pixels.
        mode: ResizeMode,
        /// Whether the centres of the corner pixels stay at the corners.
        align_corners: bool,
        /// Whether a pixel's coordinate is that of its centre.
        half_pixel_centers: bool,
        /// Where rows and columns lie, if neither of these and the sizes say it.
        places: Option<[Places; 2]>,
    },
    /// An activation function by itself.
    Activation(Activation),
    /// A function of each value.
    Unary(Unary),
    /// x where positive, else x times a slope; operands x and slopes, which broadcast to x.
    Prelu,
    /// The same real values under another quantisation: that of the output tensor.
    Requantise,
    /// Float only, folded before quantisation: (x − mean) / sqrt(variance + epsilon) · scale +
    /// offset, for each channel; operands x, scale, offset, mean, variance.
    BatchNorm {
        /// Added to the variance.
        epsilon: f32,
    },
    /// Softmax over the last dimension.
    Softmax,
    /// Logarithm of the softmax over the last dimension.
    LogSoftmax,
    /// x / (bias + alpha / size · Σ x²)^beta, the sum over `size` neighbouring channels: those from
    /// (size − 1) / 2 before, rounded down, to (size − 1) / 2 behind, rounded up. Krizhevsky et
    /// al., section 3.3.
    LocalResponseNorm {
        /// Channels in the sum.
        size: usize,
        /// Factor of the mean square.
        alpha: f32,
        /// Exponent.
        beta: f32,
        /// Summand.
        bias: f32,
    },
    /// Index of the first largest value along `axis`; the result is of 32-bit integers.
    ArgMax {
        /// The dimension.
        axis: usize,
        /// Whether it stays as a dimension of one element.
        keep_dims: bool,
    },
    /// An operator without meaning here, of any number of operands and results with known shapes:
    /// a model with such nodes can be shown and planned for memory, but not run.
    Opaque {
        /// What its file calls it.
        name: String,
    },
}

impl Op {
    /// Name as users know it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Conv { .. } => "Conv2D",
            Self::DepthwiseConv { .. } => "DepthwiseConv2D",
            Self::FullyConnected { .. } => "FullyConnected",
            Self::MaxPool { .. } => "MaxPool2D",
            Self::AveragePool { .. } => "AveragePool2D",
            Self::TransposeConv { .. } => "TransposeConv2D",
            Self::Mean { .. } => "Mean",
            Self::Add { .. } => "Add",
            Self::Sub { .. } => "Sub",
            Self::Mul { .. } => "Mul",
            Self::Div { .. } => "Div",
            Self::Maximum => "Maximum",
            Self::Minimum => "Minimum",
            Self::Pad { .. } => "Pad",
            Self::Concat { .. } => "Concat",
            Self::Reshape => "Reshape",
            Self::Transpose { .. } => "Transpose",
            Self::Slice { .. } => "Slice",
            Self::SpaceToDepth { .. } => "SpaceToDepth",
            Self::DepthToSpace { .. } => "DepthToSpace",
            Self::Resize { mode: ResizeMode::Nearest, .. } => "ResizeNearest",
            Self::Resize { mode: ResizeMode::Bilinear, .. } => "ResizeBilinear",
            Self::Unary(unary) => unary.name(),
            Self::Prelu => "PReLU",
            Self::Requantise => "Requantise",
            Self::LogSoftmax => "LogSoftmax",
            Self::LocalResponseNorm { .. } => "LocalResponseNorm",
            Self::ArgMax { .. } => "ArgMax",
            Self::Opaque { name } => name,
            Self::Activation(Activation::None) => "Identity",
            Self::Activation(Activation::Relu) => "ReLU",
            Self::Activation(Activation::Relu6) => "ReLU6",
            Self::Activation(Activation::ReluN1To1) => "ReLU-1to1",
            Self::BatchNorm { .. } => "BatchNorm",
            Self::Softmax => "Softmax",
        }
    }

    /// The fused activation, if the operator can hold one.
    #[must_use]
    pub fn activation(&self) -> Option<Activation> {
        match self {
            Self::Conv { activation, .. }
            | Self::DepthwiseConv { activation, .. }
            | Self::FullyConnected { activation }
            | Self::MaxPool { activation, .. }
            | Self::AveragePool { activation, .. }
            | Self::TransposeConv { activation, .. }
            | Self::Add { activation }
            | Self::Sub { activation }
            | Self::Mul { activation }
            | Self::Div { activation } => Some(*activation),
            _ => None,
        }
    }

    /// The fused activation to change, if the operator can hold one.
    pub fn activation_mut(&mut self) -> Option<&mut Activation> {
        match self {
            Self::Conv { activation, .. }
            | Self::DepthwiseConv { activation, .. }
            | Self::FullyConnected { activation }
            | Self::MaxPool { activation, .. }
            | Self::AveragePool { activation, .. }
            | Self::TransposeConv { activation, .. }
            | Self::Add { activation }
            | Self::Sub { activation }
            | Self::Mul { activation }
            | Self::Div { activation } => Some(activation),
            _ => None,
        }
    }

    /// The window, if the operator slides one.
    #[must_use]
    pub const fn window(&self) -> Option<&Window> {
        match self {
            Self::Conv { window, .. }
            | Self::DepthwiseConv { window, .. }
            | Self::TransposeConv { window, .. }
            | Self::MaxPool { window, .. }
            | Self::AveragePool { window, .. } => Some(window),
            _ => None,
        }
    }

    /// Whether the second operand is weights, and a third, if there is one, a bias.
    #[must_use]
    pub const fn is_weighted(&self) -> bool {
        matches!(
            self,
            Self::Conv { .. }
                | Self::DepthwiseConv { .. }
                | Self::TransposeConv { .. }
                | Self::FullyConnected { .. }
        )
    }

    /// Whether the operator takes two tensors that broadcast.
    #[must_use]
    pub const fn is_binary(&self) -> bool {
        matches!(
            self,
            Self::Add { .. }
                | Self::Sub { .. }
                | Self::Mul { .. }
                | Self::Div { .. }
                | Self::Maximum
                | Self::Minimum
        )
    }

    /// Whether every value of the result is a value of an operand or a padded zero: such operators
    /// keep the quantisation, and work on every element type.
    #[must_use]
    pub const fn only_moves(&self) -> bool {
        matches!(
            self,
            Self::Reshape
                | Self::Transpose { .. }
                | Self::Pad { .. }
                | Self::Concat { .. }
                | Self::Slice { .. }
                | Self::SpaceToDepth { .. }
                | Self::DepthToSpace { .. }
                | Self::Resize { mode: ResizeMode::Nearest, .. }
        )
    }
}
