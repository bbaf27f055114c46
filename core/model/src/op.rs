//! Operators.

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
}

/// Padding in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Padding {
    /// Rows above.
    pub top: usize,
    /// Columns to the left.
    pub left: usize,
    /// Rows below.
    pub bottom: usize,
    /// Columns to the right.
    pub right: usize,
}

/// Geometry of an operator that slides a window over the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Window {
    /// Height and width of the window in taps.
    pub size: [usize; 2],
    /// Vertical and horizontal stride.
    pub stride: [usize; 2],
    /// Vertical and horizontal dilation; 1 is dense.
    pub dilation: [usize; 2],
    /// Padding.
    pub padding: Padding,
}

impl Window {
    /// A window of `size` with stride 1, dense, without padding.
    #[must_use]
    pub const fn dense(size: [usize; 2]) -> Self {
        let padding = Padding { top: 0, left: 0, bottom: 0, right: 0 };
        Self { size, stride: [1, 1], dilation: [1, 1], padding }
    }

    /// Output height and width for an input of `input` height and width: floor rule.
    /// Nothing if the window does not fit or a number overflows.
    #[must_use]
    pub fn output(&self, input: [usize; 2]) -> Option<[usize; 2]> {
        let pads = [
            self.padding.top.checked_add(self.padding.bottom)?,
            self.padding.left.checked_add(self.padding.right)?,
        ];
        let mut output = [0; 2];
        for axis in 0..2 {
            let reach = self.size[axis].checked_sub(1)?.checked_mul(self.dilation[axis])? + 1;
            let padded = input[axis].checked_add(pads[axis])?;
            output[axis] = padded.checked_sub(reach)?.checked_div(self.stride[axis])? + 1;
        }
        Some(output)
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
        /// Fused activation.
        activation: Activation,
    },
    /// Sum of two tensors of one shape.
    Add {
        /// Fused activation.
        activation: Activation,
    },
    /// Zeros (real 0.0) around each dimension: (before, after) for each.
    Pad {
        /// One pair for each dimension.
        amounts: Vec<(usize, usize)>,
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
    /// An activation function by itself.
    Activation(Activation),
    /// Float only, folded before quantisation: (x − mean) / sqrt(variance + epsilon) · scale +
    /// offset, for each channel; operands x, scale, offset, mean, variance.
    BatchNorm {
        /// Added to the variance.
        epsilon: f32,
    },
    /// Softmax over the last dimension.
    Softmax,
}

impl Op {
    /// Name as users know it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Conv { .. } => "Conv2D",
            Self::DepthwiseConv { .. } => "DepthwiseConv2D",
            Self::FullyConnected { .. } => "FullyConnected",
            Self::MaxPool { .. } => "MaxPool2D",
            Self::AveragePool { .. } => "AveragePool2D",
            Self::Add { .. } => "Add",
            Self::Pad { .. } => "Pad",
            Self::Concat { .. } => "Concat",
            Self::Reshape => "Reshape",
            Self::Transpose { .. } => "Transpose",
            Self::Activation(Activation::None) => "Identity",
            Self::Activation(Activation::Relu) => "ReLU",
            Self::Activation(Activation::Relu6) => "ReLU6",
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
            | Self::Add { activation } => Some(*activation),
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
            | Self::Add { activation } => Some(activation),
            _ => None,
        }
    }

    /// The window, if the operator slides one.
    #[must_use]
    pub const fn window(&self) -> Option<&Window> {
        match self {
            Self::Conv { window, .. }
            | Self::DepthwiseConv { window, .. }
            | Self::MaxPool { window, .. }
            | Self::AveragePool { window, .. } => Some(window),
            _ => None,
        }
    }
}
