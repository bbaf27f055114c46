//! Builds ONNX files.

use crate::onnx::messages::attribute_proto::AttributeType;
use crate::onnx::messages::tensor_proto::DataType;
use crate::onnx::messages::tensor_shape_proto::{Dimension, dimension};
use crate::onnx::messages::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto,
    TensorProto, TensorShapeProto, TypeProto, ValueInfoProto, type_proto,
};
use prost::Message;

use super::noise;

/// An attribute's value.
pub(super) enum Attribute {
    Int(i64),
    Ints(Vec<i64>),
    Float(f32),
    Text(&'static str),
}

use Attribute::{Float, Int, Ints, Text};

/// A file under construction.
#[derive(Clone)]
pub(super) struct File {
    pub(super) model: ModelProto,
}

impl File {
    pub(super) fn new() -> Self {
        let opset = OperatorSetIdProto { version: 13, ..Default::default() };
        let model = ModelProto {
            ir_version: 8,
            opset_import: vec![opset],
            graph: Some(GraphProto { name: "graph".to_owned(), ..Default::default() }),
            ..Default::default()
        };
        Self { model }
    }

    pub(super) fn graph(&mut self) -> &mut GraphProto {
        self.model.graph.get_or_insert_default()
    }

    pub(super) fn opset(mut self, version: i64) -> Self {
        self.model.opset_import[0].version = version;
        self
    }

    pub(super) fn metadata(mut self, key: &str, value: &str) -> Self {
        let entry = StringStringEntryProto { key: key.to_owned(), value: value.to_owned() };
        self.model.metadata_props.push(entry);
        self
    }

    /// An input; dimensions that are no numbers are symbols.
    pub(super) fn input(mut self, name: &str, dims: &[&str]) -> Self {
        let value = value(name, dims);
        self.graph().input.push(value);
        self
    }

    pub(super) fn output(mut self, name: &str) -> Self {
        let value = ValueInfoProto { name: name.to_owned(), ..value(name, &[]) };
        self.graph().output.push(value);
        self
    }

    pub(super) fn floats(mut self, name: &str, dims: &[i64], values: Vec<f32>) -> Self {
        let raw = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let tensor = TensorProto {
            name: name.to_owned(),
            dims: dims.to_vec(),
            data_type: DataType::Float as i32,
            raw_data: raw,
            ..Default::default()
        };
        self.graph().initializer.push(tensor);
        self
    }

    /// Noise of this shape.
    pub(super) fn weights(self, name: &str, dims: &[i64]) -> Self {
        let count = dims.iter().product::<i64>() as usize;
        let seed = name.bytes().map(u32::from).sum();
        self.floats(name, dims, noise(count, seed))
    }

    pub(super) fn ints(mut self, name: &str, values: &[i64]) -> Self {
        let tensor = TensorProto {
            name: name.to_owned(),
            dims: vec![values.len() as i64],
            data_type: DataType::Int64 as i32,
            int64_data: values.to_vec(),
            ..Default::default()
        };
        self.graph().initializer.push(tensor);
        self
    }

    pub(super) fn node(
        mut self,
        op: &str,
        inputs: &[&str],
        output: &str,
        attributes: &[(&str, Attribute)],
    ) -> Self {
        let node = NodeProto {
            op_type: op.to_owned(),
            input: inputs.iter().map(|name| (*name).to_owned()).collect(),
            output: vec![output.to_owned()],
            attribute: attributes.iter().map(|(name, value)| attribute(name, value)).collect(),
            ..Default::default()
        };
        self.graph().node.push(node);
        self
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        self.model.encode_to_vec()
    }
}

fn attribute(name: &str, value: &Attribute) -> AttributeProto {
    let named = AttributeProto { name: name.to_owned(), ..Default::default() };
    match value {
        Int(i) => AttributeProto { i: *i, r#type: AttributeType::Int as i32, ..named },
        Ints(ints) => {
            AttributeProto { ints: ints.clone(), r#type: AttributeType::Ints as i32, ..named }
        }
        Float(f) => AttributeProto { f: *f, r#type: AttributeType::Float as i32, ..named },
        Text(text) => AttributeProto {
            s: text.as_bytes().to_vec(),
            r#type: AttributeType::String as i32,
            ..named
        },
    }
}

fn value(name: &str, dims: &[&str]) -> ValueInfoProto {
    let dim = |dim: &&str| Dimension {
        value: Some(match dim.parse() {
            Ok(size) => dimension::Value::DimValue(size),
            Err(_) => dimension::Value::DimParam((*dim).to_owned()),
        }),
    };
    let shape = TensorShapeProto { dim: dims.iter().map(dim).collect() };
    let tensor = type_proto::Tensor {
        elem_type: DataType::Float as i32,
        shape: (!dims.is_empty()).then_some(shape),
    };
    let kind = TypeProto { value: Some(type_proto::Value::TensorType(tensor)) };
    ValueInfoProto { name: name.to_owned(), r#type: Some(kind) }
}
