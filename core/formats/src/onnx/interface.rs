//! Inputs and outputs of the file's graph.

use std::collections::{BTreeMap, BTreeSet};

use tilewright_model::{Activation, DType, FileType, Op, Shape, Tensor};

use super::importer::{Activated, Importer, Value, as_given, channels_last, float};
use super::messages::{GraphProto, ValueInfoProto, tensor_proto::DataType};
use super::messages::{tensor_shape_proto, tensor_shape_proto::dimension, type_proto};
use crate::{FormatError, elements};

/// Shape and element type of a value of the file.
pub(super) type Stated = (Vec<usize>, DType);

/// Shapes that the file states; `sizes` gives those of symbols.
pub(super) fn stated_shapes(
    graph: &GraphProto,
    sizes: &dyn Fn(&str) -> Option<usize>,
) -> BTreeMap<String, Stated> {
    let shape = |value: &ValueInfoProto| {
        let type_proto::Value::TensorType(tensor) = value.r#type.as_ref()?.value.as_ref()?;
        let size = |dim: &tensor_shape_proto::Dimension| match dim.value.as_ref()? {
            dimension::Value::DimValue(size) => usize::try_from(*size).ok().filter(|s| *s > 0),
            dimension::Value::DimParam(symbol) => sizes(symbol),
        };
        let dims = tensor.shape.as_ref()?.dim.iter().map(size).collect::<Option<Vec<usize>>>()?;
        let bytes = [DataType::Uint8 as i32, DataType::Int8 as i32];
        let (dtype, _) = match element_type(tensor.elem_type)? {
            // Nothing says the scale of what nothing here computes.
            known if bytes.contains(&tensor.elem_type) => (DType::U8, known.1),
            known => known,
        };
        Some((value.name.clone(), (dims, dtype)))
    };
    graph.value_info.iter().chain(&graph.output).filter_map(shape).collect()
}

/// Symbols that stand for dimensions of the graph's inputs.
pub(super) fn symbols(graph: &GraphProto) -> BTreeSet<&str> {
    let mut symbols = BTreeSet::new();
    for input in &graph.input {
        let value = input.r#type.as_ref().and_then(|kind| kind.value.as_ref());
        let Some(type_proto::Value::TensorType(tensor)) = value else { continue };
        for dim in tensor.shape.iter().flat_map(|shape| &shape.dim) {
            if let Some(dimension::Value::DimParam(symbol)) = &dim.value {
                symbols.insert(symbol.as_str());
            }
        }
    }
    symbols
}

/// The graph's type for an element type of the file, and what the file's is where it differs. Floats
/// of other widths are calculated with in 32 bits; 8-bit integers are what a quantised graph takes:
/// its first operator states their scale.
pub(super) fn element_type(elem_type: i32) -> Option<(DType, Option<FileType>)> {
    Some(match DataType::try_from(elem_type).ok()? {
        DataType::Float
        | DataType::Float16
        | DataType::Bfloat16
        | DataType::Double
        | DataType::Uint8
        | DataType::Int8 => (DType::F32, None),
        DataType::Int16 => (DType::I16, None),
        DataType::Uint16 => (DType::I16, Some(FileType::Uint16)),
        DataType::Int32 => (DType::I32, None),
        DataType::Uint32 => (DType::I32, Some(FileType::Uint32)),
        DataType::Int64 => (DType::I64, None),
        DataType::Uint64 => (DType::I64, Some(FileType::Uint64)),
        DataType::Bool => (DType::U8, Some(FileType::Bool)),
        DataType::Undefined | DataType::String | DataType::Complex64 | DataType::Complex128 => {
            return None;
        }
    })
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
        let Some((dtype, file_type)) = element_type(tensor.elem_type) else {
            let dtype = DataType::try_from(tensor.elem_type).unwrap_or(DataType::Undefined);
            return Err(bad(format!("this input takes {}, which is not supported", dtype.name())));
        };
        let shape = tensor
            .shape
            .as_ref()
            .ok_or_else(|| bad("this input has no shape: export the model with one".to_owned()))?;
        let mut dims = Vec::with_capacity(shape.dim.len());
        let mut is_known = true;
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
                Some(size) if size > 0 => {
                    self.sizes.insert(symbol, size);
                    dims.push(size);
                }
                Some(_) => return Err(bad(format!("dimension '{symbol}' must not be 0"))),
                None if axis == 0 => {
                    self.sizes.entry(symbol).or_insert(1);
                    dims.push(1);
                }
                None => {
                    if !self.missing.contains(&symbol) {
                        self.missing.push(symbol);
                    }
                    is_known = false;
                }
            }
        }
        if !is_known {
            self.first_open.get_or_insert_with(|| input.name.clone());
            return Ok(());
        }
        elements(&input.name, &dims, self.limits)?;
        let order = match dtype {
            DType::F32 => input_order(graph, &input.name, &dims),
            _ => as_given(dims.len()),
        };
        let shape: Vec<usize> = order.iter().map(|axis| dims[*axis]).collect();
        let tensor = Tensor { dtype, ..float(&input.name, Shape::new(shape)) };
        let tensor = self.model.add_tensor(tensor);
        if let Some(file_type) = file_type {
            self.model.file_types.inputs.insert(self.model.inputs.len(), file_type);
        }
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
                Some(Value::Activated(value)) if self.model.tensor(value.tensor).is_constant() => {
                    let count = self.dims(value).iter().product();
                    self.model.note_constant_output(&output.name, count);
                    continue;
                }
                Some(Value::Activated(value)) => value.clone(),
                Some(Value::Constant(constant)) => {
                    self.model.note_constant_output(&output.name, constant.len());
                    continue;
                }
                None => return Err(bad("this output is never made")),
            };
            let rank = value.order.len();
            let kept = value.order == channels_last(rank) || value.order == as_given(rank);
            let mut tensor =
                if kept { value.tensor } else { self.in_order(&value, &as_given(rank)) };
            if self.model.inputs.contains(&tensor) || self.model.outputs.contains(&tensor) {
                let Tensor { shape, dtype, .. } = self.model.tensor(tensor).clone();
                let op = match dtype {
                    DType::F32 => Op::Activation(Activation::None),
                    _ => Op::Reshape,
                };
                let copy = Tensor { dtype, ..float(&output.name, shape) };
                let copy = self.model.add_tensor(copy);
                self.push(&output.name, op, vec![tensor], copy);
                tensor = copy;
            } else {
                output.name.clone_into(&mut self.model.tensors[tensor.0].name);
            }
            self.model.outputs.push(tensor);
        }
        if self.model.outputs.is_empty() || self.model.inputs.is_empty() {
            let missing = match self.model.inputs.is_empty() {
                true => "input",
                false => "output that is computed",
            };
            return Err(FormatError::Interface {
                name: graph.name.clone(),
                reason: format!("the graph has no {missing}"),
            });
        }
        Ok(())
    }
}

/// The order in which the graph takes an input: images as NHWC, whichever way the file has them.
pub(super) fn input_order(graph: &GraphProto, name: &str, dims: &[usize]) -> Vec<usize> {
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
