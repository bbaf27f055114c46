//! Options of operators.

use flatbuffers::{FlatBufferBuilder, UnionWIPOffset, WIPOffset};
use tilewright_model::Activation;
use tilewright_tflite_schema::{self as fb, BuiltinOptions as Kind};

/// How a window slides over an image, as the format has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sliding {
    pub(super) padding: fb::Padding,
    /// Vertical and horizontal.
    pub(super) stride: [i32; 2],
    pub(super) dilation: [i32; 2],
    pub(super) activation: Activation,
}

/// An operator's options; nothing for those that have none, or that nobody reads.
#[derive(Clone, Debug)]
pub(super) enum Options {
    None,
    Conv(Sliding),
    Depthwise { sliding: Sliding, multiplier: i32 },
    TransposeConv(Sliding),
    Pool { sliding: Sliding, size: [i32; 2] },
    FullyConnected(Activation),
    Add(Activation),
    Sub(Activation),
    Mul(Activation),
    Div(Activation),
    Concatenation { axis: i32 },
    Mean { keep_dims: bool },
    Reshape(Vec<i32>),
    Slice { end_mask: i32 },
    SpaceToDepth { block: i32 },
    DepthToSpace { block: i32 },
    ResizeBilinear { align_corners: bool, half_pixel_centers: bool },
    ResizeNearest { align_corners: bool, half_pixel_centers: bool },
    Softmax,
    ArgMax,
    LeakyRelu { alpha: f32 },
    Gelu { approximate: bool },
    LocalResponse { radius: i32, bias: f32, alpha: f32, beta: f32 },
    VarHandle { name: String },
    CallOnce { graph: i32 },
}

fn fused(activation: Activation) -> fb::ActivationFunctionType {
    match activation {
        Activation::None => fb::ActivationFunctionType::NONE,
        Activation::Relu => fb::ActivationFunctionType::RELU,
        Activation::Relu6 => fb::ActivationFunctionType::RELU6,
        Activation::ReluN1To1 => fb::ActivationFunctionType::RELU_N1_TO_1,
    }
}

type Union = WIPOffset<UnionWIPOffset>;

impl Options {
    pub(super) fn write(&self, b: &mut FlatBufferBuilder<'_>) -> (Kind, Option<Union>) {
        if matches!(self, Self::None) {
            return (Kind::NONE, None);
        }
        let (kind, written) = match self.sliding(b) {
            Some(written) => written,
            None => self.pointwise(b).unwrap_or_else(|| self.other(b)),
        };
        (kind, Some(written))
    }

    fn sliding(&self, b: &mut FlatBufferBuilder<'_>) -> Option<(Kind, Union)> {
        Some(match self {
            Self::Conv(Sliding { padding, stride, dilation, activation }) => {
                let args = fb::Conv2DOptionsArgs {
                    padding: *padding,
                    stride_w: stride[1],
                    stride_h: stride[0],
                    fused_activation_function: fused(*activation),
                    dilation_w_factor: dilation[1],
                    dilation_h_factor: dilation[0],
                };
                let written = fb::Conv2DOptions::create(b, &args);
                (Kind::Conv2DOptions, written.as_union_value())
            }
            Self::Depthwise { sliding, multiplier } => {
                let args = fb::DepthwiseConv2DOptionsArgs {
                    padding: sliding.padding,
                    stride_w: sliding.stride[1],
                    stride_h: sliding.stride[0],
                    depth_multiplier: *multiplier,
                    fused_activation_function: fused(sliding.activation),
                    dilation_w_factor: sliding.dilation[1],
                    dilation_h_factor: sliding.dilation[0],
                };
                let written = fb::DepthwiseConv2DOptions::create(b, &args);
                (Kind::DepthwiseConv2DOptions, written.as_union_value())
            }
            Self::TransposeConv(sliding) => {
                let args = fb::TransposeConvOptionsArgs {
                    padding: sliding.padding,
                    stride_w: sliding.stride[1],
                    stride_h: sliding.stride[0],
                    fused_activation_function: fused(sliding.activation),
                };
                let written = fb::TransposeConvOptions::create(b, &args);
                (Kind::TransposeConvOptions, written.as_union_value())
            }
            Self::Pool { sliding, size } => {
                let args = fb::Pool2DOptionsArgs {
                    padding: sliding.padding,
                    stride_w: sliding.stride[1],
                    stride_h: sliding.stride[0],
                    filter_width: size[1],
                    filter_height: size[0],
                    fused_activation_function: fused(sliding.activation),
                };
                let written = fb::Pool2DOptions::create(b, &args);
                (Kind::Pool2DOptions, written.as_union_value())
            }
            _ => return None,
        })
    }

    fn pointwise(&self, b: &mut FlatBufferBuilder<'_>) -> Option<(Kind, Union)> {
        Some(match self {
            Self::Add(activation) => {
                let fused_activation_function = fused(*activation);
                let args = fb::AddOptionsArgs { fused_activation_function, ..Default::default() };
                (Kind::AddOptions, fb::AddOptions::create(b, &args).as_union_value())
            }
            Self::Sub(activation) => {
                let fused_activation_function = fused(*activation);
                let args = fb::SubOptionsArgs { fused_activation_function, ..Default::default() };
                (Kind::SubOptions, fb::SubOptions::create(b, &args).as_union_value())
            }
            Self::Mul(activation) => {
                let args = fb::MulOptionsArgs { fused_activation_function: fused(*activation) };
                (Kind::MulOptions, fb::MulOptions::create(b, &args).as_union_value())
            }
            Self::Div(activation) => {
                let args = fb::DivOptionsArgs { fused_activation_function: fused(*activation) };
                (Kind::DivOptions, fb::DivOptions::create(b, &args).as_union_value())
            }
            Self::LeakyRelu { alpha } => {
                let written =
                    fb::LeakyReluOptions::create(b, &fb::LeakyReluOptionsArgs { alpha: *alpha });
                (Kind::LeakyReluOptions, written.as_union_value())
            }
            Self::Gelu { approximate } => {
                let args = fb::GeluOptionsArgs { approximate: *approximate };
                (Kind::GeluOptions, fb::GeluOptions::create(b, &args).as_union_value())
            }
            Self::FullyConnected(activation) => {
                let fused_activation_function = fused(*activation);
                let args = fb::FullyConnectedOptionsArgs {
                    fused_activation_function,
                    ..Default::default()
                };
                let written = fb::FullyConnectedOptions::create(b, &args);
                (Kind::FullyConnectedOptions, written.as_union_value())
            }
            Self::Softmax => {
                let written = fb::SoftmaxOptions::create(b, &fb::SoftmaxOptionsArgs { beta: 1.0 });
                (Kind::SoftmaxOptions, written.as_union_value())
            }
            Self::LocalResponse { radius, bias, alpha, beta } => {
                let args = fb::LocalResponseNormalizationOptionsArgs {
                    radius: *radius,
                    bias: *bias,
                    alpha: *alpha,
                    beta: *beta,
                };
                let written = fb::LocalResponseNormalizationOptions::create(b, &args);
                (Kind::LocalResponseNormalizationOptions, written.as_union_value())
            }
            _ => return None,
        })
    }

    fn other(&self, b: &mut FlatBufferBuilder<'_>) -> (Kind, Union) {
        match self {
            Self::Concatenation { axis } => {
                let args = fb::ConcatenationOptionsArgs { axis: *axis, ..Default::default() };
                let written = fb::ConcatenationOptions::create(b, &args);
                (Kind::ConcatenationOptions, written.as_union_value())
            }
            Self::Mean { keep_dims } => {
                let args = fb::ReducerOptionsArgs { keep_dims: *keep_dims };
                (Kind::ReducerOptions, fb::ReducerOptions::create(b, &args).as_union_value())
            }
            Self::Reshape(dims) => {
                let new_shape = Some(b.create_vector(dims));
                let written = fb::ReshapeOptions::create(b, &fb::ReshapeOptionsArgs { new_shape });
                (Kind::ReshapeOptions, written.as_union_value())
            }
            Self::SpaceToDepth { block } => {
                let args = fb::SpaceToDepthOptionsArgs { block_size: *block };
                let written = fb::SpaceToDepthOptions::create(b, &args);
                (Kind::SpaceToDepthOptions, written.as_union_value())
            }
            Self::DepthToSpace { block } => {
                let args = fb::DepthToSpaceOptionsArgs { block_size: *block };
                let written = fb::DepthToSpaceOptions::create(b, &args);
                (Kind::DepthToSpaceOptions, written.as_union_value())
            }
            Self::ResizeBilinear { align_corners, half_pixel_centers } => {
                let args = fb::ResizeBilinearOptionsArgs {
                    align_corners: *align_corners,
                    half_pixel_centers: *half_pixel_centers,
                    ..Default::default()
                };
                let written = fb::ResizeBilinearOptions::create(b, &args);
                (Kind::ResizeBilinearOptions, written.as_union_value())
            }
            Self::ResizeNearest { align_corners, half_pixel_centers } => {
                let args = fb::ResizeNearestNeighborOptionsArgs {
                    align_corners: *align_corners,
                    half_pixel_centers: *half_pixel_centers,
                };
                let written = fb::ResizeNearestNeighborOptions::create(b, &args);
                (Kind::ResizeNearestNeighborOptions, written.as_union_value())
            }
            Self::ArgMax => {
                let args = fb::ArgMaxOptionsArgs { output_type: fb::TensorType::INT32 };
                (Kind::ArgMaxOptions, fb::ArgMaxOptions::create(b, &args).as_union_value())
            }
            Self::VarHandle { name } => {
                let (container, shared_name) = (b.create_string(""), b.create_string(name));
                let args = fb::VarHandleOptionsArgs {
                    container: Some(container),
                    shared_name: Some(shared_name),
                };
                (Kind::VarHandleOptions, fb::VarHandleOptions::create(b, &args).as_union_value())
            }
            Self::CallOnce { graph } => {
                let args = fb::CallOnceOptionsArgs { init_subgraph_index: *graph };
                (Kind::CallOnceOptions, fb::CallOnceOptions::create(b, &args).as_union_value())
            }
            // What is left is the strided slice.
            other => {
                let end_mask = if let Self::Slice { end_mask } = other { *end_mask } else { 0 };
                let args = fb::StridedSliceOptionsArgs { end_mask, ..Default::default() };
                let written = fb::StridedSliceOptions::create(b, &args);
                (Kind::StridedSliceOptions, written.as_union_value())
            }
        }
    }
}
