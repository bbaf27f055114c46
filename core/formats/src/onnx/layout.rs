//! How a file takes its inputs, for those who run the file itself beside the model.

use tilewright_model::DType;

use super::importer::as_given;
use super::interface::{element_type, input_order};
use super::messages::tensor_shape_proto::{Dimension, dimension};
use super::messages::{GraphProto, ValueInfoProto, type_proto};
use super::parse;
use crate::{FormatError, Limits, ModelFile};

/// An input as an ONNX file takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInput {
    /// Name, in the file and in the model.
    pub name: String,
    /// Dimensions in the file's order: images are NCHW.
    pub dims: Vec<usize>,
    /// Dimension `i` of the model's input is dimension `order[i]` of the file's.
    pub order: Vec<usize>,
}

pub(crate) fn inputs(
    file: &ModelFile<'_>,
    limits: &Limits,
    given: &[(String, usize)],
) -> Result<Vec<FileInput>, FormatError> {
    let skeleton = parse(file, limits)?;
    let graph = skeleton.model.graph.unwrap_or_default();
    let is_constant =
        |name: &str| skeleton.initializers.iter().any(|constant| constant.tensor.name == name);
    let inputs = graph.input.iter().filter(|input| !is_constant(&input.name));
    inputs.map(|input| of(&graph, input, given)).collect()
}

fn of(
    graph: &GraphProto,
    input: &ValueInfoProto,
    given: &[(String, usize)],
) -> Result<FileInput, FormatError> {
    let bad = |reason: &str| FormatError::Interface {
        name: input.name.clone(),
        reason: reason.to_owned(),
    };
    let kind = input.r#type.as_ref().and_then(|kind| kind.value.as_ref());
    let Some(type_proto::Value::TensorType(tensor)) = kind else {
        return Err(bad("this input has no type, or is no tensor"));
    };
    let shape = tensor.shape.as_ref().ok_or_else(|| bad("this input has no shape"))?;
    let size = |(axis, dim): (usize, &Dimension)| {
        let symbol = match &dim.value {
            Some(dimension::Value::DimValue(size)) if *size > 0 => {
                return usize::try_from(*size).map_err(|_| bad("a dimension is too large"));
            }
            Some(dimension::Value::DimParam(symbol)) if !symbol.is_empty() => symbol.clone(),
            _ => format!("{}[{axis}]", input.name),
        };
        match given.iter().find(|(name, _)| *name == symbol) {
            Some((_, size)) => Ok(*size),
            None if axis == 0 => Ok(1),
            None => Err(FormatError::DynamicDimensions {
                input: input.name.clone(),
                dims: vec![symbol],
            }),
        }
    };
    let dims: Vec<usize> = shape.dim.iter().enumerate().map(size).collect::<Result<_, _>>()?;
    let order = match element_type(tensor.elem_type) {
        Some((DType::F32, _)) => input_order(graph, &input.name, &dims),
        _ => as_given(dims.len()),
    };
    Ok(FileInput { name: input.name.clone(), dims, order })
}
