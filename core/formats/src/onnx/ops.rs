//! One function for each operator type of the file.

mod conditions;
mod constants;
mod convolve;
mod dense;
mod elementwise;
mod experimental;
mod folding;
mod functions;
mod grid;
mod one_dimensional;
mod opaque;
mod pick;
mod pool;
mod quantised;
mod requantised;
mod resize;
mod shape;
mod spatial;
mod transposed;

use crate::onnx::messages::NodeProto;

use super::attributes::Place;
use super::importer::{Importer, Value};
use crate::FormatError;

type Import = fn(&mut Importer<'_>, Place<'_>) -> Result<Value, FormatError>;

const OPERATORS: &[(&str, Import)] = &[
    ("Abs", functions::unary),
    ("Add", elementwise::add),
    ("Affine", experimental::affine),
    ("And", conditions::compare),
    ("ArgMax", functions::arg_max),
    ("AveragePool", |i, p| one_dimensional::or_image(i, p, pool::average)),
    ("BatchNormalization", elementwise::batch_normalization),
    ("Cast", constants::cast),
    ("Ceil", functions::unary),
    ("Clip", elementwise::clip),
    ("Concat", shape::concat),
    ("Constant", constants::constant),
    ("ConstantOfShape", constants::constant_of_shape),
    ("Conv", |i, p| one_dimensional::or_image(i, p, convolve::conv)),
    ("ConvTranspose", |i, p| one_dimensional::or_image(i, p, transposed::conv_transpose)),
    ("Cos", functions::unary),
    ("Crop", experimental::crop),
    ("DepthToSpace", spatial::depth_to_space),
    ("DequantizeLinear", quantised::dequantize),
    ("Div", elementwise::div),
    ("Dropout", shape::dropout),
    ("Elu", functions::unary),
    ("Equal", conditions::compare),
    ("Erf", functions::unary),
    ("Exp", functions::unary),
    ("Expand", pick::expand),
    ("Flatten", shape::flatten),
    ("Floor", functions::unary),
    ("Gather", constants::gather),
    ("Gelu", functions::unary),
    ("Gemm", dense::gemm),
    ("GRU", opaque::recurrent),
    ("GlobalAveragePool", |i, p| one_dimensional::or_image(i, p, pool::global_average)),
    ("GlobalMaxPool", |i, p| one_dimensional::or_image(i, p, pool::global_max)),
    ("Greater", conditions::compare),
    ("GreaterOrEqual", conditions::compare),
    ("GroupNormalization", opaque::like_its_operand),
    ("HardSigmoid", functions::unary),
    ("HardSwish", functions::unary),
    ("Identity", shape::alias),
    ("ImageScaler", experimental::image_scaler),
    ("InstanceNormalization", opaque::like_its_operand),
    ("LRN", functions::local_response),
    ("LSTM", opaque::recurrent),
    ("LayerNormalization", opaque::like_its_operand),
    ("LeakyRelu", functions::unary),
    ("Less", conditions::compare),
    ("LessOrEqual", conditions::compare),
    ("Log", functions::unary),
    ("LogSoftmax", elementwise::log_softmax),
    ("MatMul", dense::matmul),
    ("Max", elementwise::extreme),
    ("MaxPool", |i, p| one_dimensional::or_image(i, p, pool::max)),
    ("Mean", elementwise::mean),
    ("Min", elementwise::extreme),
    ("Mish", functions::unary),
    ("Mul", elementwise::mul),
    ("Neg", functions::unary),
    ("Not", conditions::not),
    ("Or", conditions::compare),
    ("PRelu", elementwise::prelu),
    ("Pad", shape::pad),
    ("Pow", functions::power),
    ("QLinearConv", quantised::linear),
    ("QLinearMatMul", quantised::linear),
    ("QuantizeLinear", quantised::quantize),
    ("RNN", opaque::recurrent),
    ("Range", conditions::range),
    ("Reciprocal", functions::unary),
    ("ReduceMax", pool::reduce_max),
    ("ReduceMean", pool::reduce_mean),
    ("ReduceSum", pool::reduce_sum),
    ("Relu", elementwise::relu),
    ("RequantShift", requantised::requant_shift),
    ("Reshape", shape::reshape),
    ("Resize", resize::resize),
    ("Round", functions::unary),
    ("Selu", functions::unary),
    ("Shape", constants::shape),
    ("Sigmoid", functions::unary),
    ("Sign", functions::unary),
    ("Sin", functions::unary),
    ("Size", conditions::size),
    ("Slice", spatial::slice),
    ("Softmax", elementwise::softmax),
    ("Softplus", functions::unary),
    ("Softsign", functions::unary),
    ("SpaceToDepth", spatial::space_to_depth),
    ("Split", spatial::split),
    ("Sqrt", functions::unary),
    ("Squeeze", shape::squeeze),
    ("Sub", elementwise::sub),
    ("Sum", elementwise::sum),
    ("Swish", functions::unary),
    ("Tanh", functions::unary),
    ("Tile", pick::tile),
    ("Transpose", shape::transpose),
    ("Unsqueeze", shape::unsqueeze),
    ("Upsample", resize::resize),
    ("Where", conditions::choose),
    ("Xor", conditions::compare),
];

/// Operators of ONNX Runtime.
const MICROSOFT: &[(&str, Import)] = &[
    ("DequantizeLinear", quantised::dequantize),
    ("Gelu", functions::unary),
    ("QGemm", quantised::linear),
    ("QLinearAdd", quantised::linear),
    ("QLinearAveragePool", quantised::linear),
    ("QLinearConcat", quantised::linear),
    ("QLinearGlobalAveragePool", quantised::linear),
    ("QLinearLeakyRelu", quantised::linear),
    ("QLinearMul", quantised::linear),
    ("QLinearSigmoid", quantised::linear),
    ("QLinearSoftmax", quantised::linear),
    ("QuantizeLinear", quantised::quantize),
];

fn find(node: &NodeProto) -> Option<Import> {
    let list = match node.domain.as_str() {
        "" | "ai.onnx" => OPERATORS,
        "com.microsoft" => MICROSOFT,
        // Under which exporters of integer networks write their one operator.
        "PACTOps" | "ai.onnx.contrib" if node.op_type == "RequantShift" => OPERATORS,
        _ => return None,
    };
    list.iter().find(|(name, _)| *name == node.op_type).map(|(_, import)| *import)
}

pub(super) fn is_supported(node: &NodeProto) -> bool {
    find(node).is_some()
}

pub(super) fn import(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let import = find(place.node).ok_or_else(|| place.bad("this operator is not supported"))?;
    import(importer, place)
}
