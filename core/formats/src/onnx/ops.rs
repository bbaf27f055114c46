//! One function for each operator type of the file.

mod constants;
mod convolve;
mod dense;
mod elementwise;
mod pool;
mod shape;

use crate::onnx::messages::NodeProto;

use super::attributes::Place;
use super::importer::{Importer, Value};
use crate::FormatError;

type Import = fn(&mut Importer<'_>, Place<'_>) -> Result<Value, FormatError>;

const OPERATORS: [(&str, Import); 32] = [
    ("Add", elementwise::add),
    ("AveragePool", pool::average),
    ("BatchNormalization", elementwise::batch_normalization),
    ("Cast", constants::cast),
    ("Clip", elementwise::clip),
    ("Concat", shape::concat),
    ("Constant", constants::constant),
    ("ConstantOfShape", constants::constant_of_shape),
    ("Conv", convolve::conv),
    ("Div", elementwise::div),
    ("Dropout", shape::alias),
    ("Flatten", shape::flatten),
    ("Gather", constants::gather),
    ("Gemm", dense::gemm),
    ("GlobalAveragePool", pool::global_average),
    ("GlobalMaxPool", pool::global_max),
    ("Identity", shape::alias),
    ("MatMul", dense::matmul),
    ("MaxPool", pool::max),
    ("Mul", elementwise::mul),
    ("Pad", shape::pad),
    ("ReduceMean", pool::reduce_mean),
    ("Relu", elementwise::relu),
    ("Reshape", shape::reshape),
    ("Shape", constants::shape),
    ("Slice", constants::slice),
    ("Softmax", elementwise::softmax),
    ("Squeeze", shape::squeeze),
    ("Sub", elementwise::sub),
    ("Sum", elementwise::sum),
    ("Transpose", shape::transpose),
    ("Unsqueeze", shape::unsqueeze),
];

fn find(node: &NodeProto) -> Option<Import> {
    let standard = node.domain.is_empty() || node.domain == "ai.onnx";
    let found = OPERATORS.iter().find(|(name, _)| *name == node.op_type);
    found.filter(|_| standard).map(|(_, import)| *import)
}

pub(super) fn is_supported(node: &NodeProto) -> bool {
    find(node).is_some()
}

pub(super) fn import(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let import = find(place.node).ok_or_else(|| place.bad("this operator is not supported"))?;
    import(importer, place)
}
