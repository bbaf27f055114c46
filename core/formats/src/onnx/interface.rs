//! Inputs and outputs of the file's graph.

use std::collections::BTreeMap;

use tilewright_model::{Activation, Op, Shape};

use super::importer::{Activated, Importer, Value, as_given, channels_last, float};
use super::messages::{GraphProto, ValueInfoProto, tensor_proto::DataType};
use super::messages::{tensor_shape_proto, tensor_shape_proto::dimension, type_proto};
use crate::{FormatError, elements};

/// Shapes of float values that the file states in full.
pub(super) fn stated_shapes(graph: &GraphProto) -> BTreeMap<String, Vec<usize>> {
    let shape = |value: &ValueInfoProto| {
        let type_proto::Value::TensorType(tensor) = value.r#type.as_ref()?.value.as_ref()?;
        let size = |dim: &tensor_shape_proto::Dimension| match dim.value.as_ref()? {
            dimension::Value::DimValue(size) => usize::try_from(*size).ok().filter(|s| *s > 0),
            dimension::Value::DimParam(_) => None,
        };
        let dims = tensor.shape.as_ref()?.dim.iter().map(size).collect::<Option<Vec<usize>>>()?;
        let is_float = tensor.elem_type == DataType::Float as i32;
        is_float.then(|| (value.name.clone(), dims))
    };
    graph.value_info.iter().chain(&graph.output).filter_map(shape).collect()
}

impl Importer<'_> {
    pub(super) fn add_input(
        &mut self,
        graph: &GraphProto,
        input: &ValueInfoProto,
        given: &[(String, usize)],
    ) -> Result<(), FormatError> {
        let bad = |reason: String| FormatError::Interface { name: input.name.clone(), reason };
        let Some(type_proto::Value::TensorType(tensor)) =
            input.r#type.as_ref().and_then(|kind| kind.value.as_ref())
        else {
            return Err(bad("this input has no type, or is no tensor".to_owned()));
        };
        // Bytes are what a quantised graph takes; its first operator states their scale.
        // Floats of other widths are calculated with in 32 bits.
        let known = [
            DataType::Float,
            DataType::Float16,
            DataType::Bfloat16,
            DataType::Double,
            DataType::Uint8,
            DataType::Int8,
        ];
        if !known.iter().any(|kind| tensor.elem_type == *kind as i32) {
            let dtype = DataType::try_from(tensor.elem_type).unwrap_or(DataType::Undefined);
            return Err(bad(format!("this input takes {}; only float is supported", dtype.name())));
        }
        let shape = tensor
            .shape
            .as_ref()
            .ok_or_else(|| bad("this input has no shape: export the model with one".to_owned()))?;
        let mut dims = Vec::with_capacity(shape.dim.len());
        for (axis, dim) in shape.dim.iter().enumerate() {
            let symbol = match &dim.value {
                Some(dimension::Value::DimValue(size)) if *size > 0 => {
                    dims.push(usize::try_from(*size).unwrap_or(usize::MAX));
                    continue;
                }
                Some(dimension::Value::DimParam(symbol)) if !symbol.is_empty() => symbol.clone(),
                _ => format!("{}[{axis}]", input.name),
            };
            self.open.insert(symbol.clone());
            let size = given.iter().find(|(name, _)| *name == symbol).map(|(_, size)| *size);
            match size {
                Some(size) if size > 0 => dims.push(size),
                Some(_) => return Err(bad(format!("dimension '{symbol}' must not be 0"))),
                None if axis == 0 => dims.push(1),
                None => {
                    return Err(FormatError::DynamicDimension {
                        input: input.name.clone(),
                        dim: symbol,
                    });
                }
            }
        }
        elements(&input.name, &dims, self.limits)?;
        let order = input_order(graph, &input.name, &dims);
        let shape: Vec<usize> = order.iter().map(|axis| dims[*axis]).collect();
        let tensor = self.model.add_tensor(float(&input.name, Shape::new(shape)));
        self.model.inputs.push(tensor);
        self.values.insert(input.name.clone(), Value::Activated(Activated { tensor, order }));
        Ok(())
    }

    pub(super) fn outputs(&mut self, graph: &GraphProto) -> Result<(), FormatError> {
        for output in &graph.output {
            let bad = |reason: &str| FormatError::Interface {
                name: output.name.clone(),
                reason: reason.to_owned(),
            };
            let value = match self.values.get(&output.name) {
                Some(Value::Activated(value)) => value.clone(),
                Some(Value::Constant(_)) => return Err(bad("this output is constant")),
                None => return Err(bad("this output is never made")),
            };
            let rank = value.order.len();
            let kept = value.order == channels_last(rank) || value.order == as_given(rank);
            let mut tensor =
                if kept { value.tensor } else { self.in_order(&value, &as_given(rank)) };
            if self.model.inputs.contains(&tensor) || self.model.outputs.contains(&tensor) {
                let shape = self.model.tensor(tensor).shape.clone();
                let copy = self.model.add_tensor(float(&output.name, shape));
                self.push(&output.name, Op::Activation(Activation::None), vec![tensor], copy);
                tensor = copy;
            } else {
                output.name.clone_into(&mut self.model.tensors[tensor.0].name);
            }
            self.model.outputs.push(tensor);
        }
        if self.model.outputs.is_empty() || self.model.inputs.is_empty() {
            let missing = if self.model.inputs.is_empty() { "input" } else { "output" };
            return Err(FormatError::Interface {
                name: graph.name.clone(),
                reason: format!("the graph has no {missing}"),
            });
        }
        Ok(())
    }
}

/// The order in which the graph takes an input: images as NHWC, whichever way the file has them.
fn input_order(graph: &GraphProto, name: &str, dims: &[usize]) -> Vec<usize> {
    let reader = graph.node.iter().find(|node| node.input.iter().any(|input| input == name));
    let last = match reader.map(|node| (node.op_type.as_str(), node)) {
        // What makes NCHW of it takes NHWC.
        Some(("Transpose", node)) => node.attribute.iter().any(|a| a.ints == [0, 3, 1, 2]),
        // Before these the order says nothing; an image has few channels.
        Some(("Reshape" | "Flatten", _)) => {
            matches!(*dims, [_, first, _, last] if last <= 4 && first > 4)
        }
        _ => false,
    };
    if last { as_given(dims.len()) } else { channels_last(dims.len()) }
}
