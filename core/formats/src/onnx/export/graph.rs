//! The graph in ONNX's order of dimensions.

use crate::numbers::signed;
use crate::onnx::messages::attribute_proto::AttributeType;
use crate::onnx::messages::tensor_proto::DataType;
use crate::onnx::messages::tensor_shape_proto::{Dimension, dimension};
use crate::onnx::messages::{
    AttributeProto, GraphProto, NodeProto, TensorShapeProto, TypeProto, ValueInfoProto, type_proto,
};
use tilewright_model::{Activation, DType, Model, Node, Op, Source, TensorId};

use super::{ExportError, Floats, Initializer, Values};

/// Dimension `i` of an image in the file is dimension `TO_FILE[i]` of ours.
pub(super) const TO_FILE: [usize; 4] = [0, 3, 1, 2];

/// Dimension `i` of ours is dimension `FROM_FILE[i]` in the file.
pub(super) const FROM_FILE: [usize; 4] = [0, 2, 3, 1];

/// A model of which an operator has no form in ONNX: the reason.
pub(super) type Made<T> = Result<T, &'static str>;

/// An attribute's value.
pub(super) enum Attribute {
    Int(i64),
    Ints(Vec<i64>),
    Float(f32),
    Text(&'static str),
}

/// The graph as it grows.
pub(super) struct Graph<'m> {
    pub(super) model: &'m Model,
    pub(super) nodes: Vec<NodeProto>,
    pub(super) initializers: Vec<Initializer<'m>>,
}

/// The graph of a model without its initializers, and those.
pub(super) fn graph<E>(
    model: &Model,
) -> Result<(GraphProto, Vec<Initializer<'_>>), ExportError<E>> {
    let whole = model.outputs.iter().map(|id| model.tensor(*id));
    let wrong = model.tensors.iter().find(|tensor| {
        tensor.dtype != DType::F32 && !whole.clone().any(|output| output.name == tensor.name)
    });
    if let Some(tensor) = wrong {
        return Err(ExportError::NotFloat { tensor: tensor.name.clone() });
    }
    let mut graph = Graph { model, nodes: Vec::new(), initializers: Vec::new() };
    for node in &model.nodes {
        graph.node(node).map_err(|reason| ExportError::Node {
            node: node.name.clone(),
            op: node.op.name().to_owned(),
            reason,
        })?;
    }
    let ports = |ids: &[TensorId]| ids.iter().map(|id| port(model, *id)).collect();
    let proto = GraphProto {
        name: model.name.clone(),
        node: graph.nodes,
        input: ports(&model.inputs),
        output: ports(&model.outputs),
        ..GraphProto::default()
    };
    Ok((proto, graph.initializers))
}

fn port(model: &Model, id: TensorId) -> ValueInfoProto {
    let tensor = model.tensor(id);
    let size = |dim: usize| Dimension { value: Some(dimension::Value::DimValue(signed(dim))) };
    let dim = file_dims(tensor.shape.dims()).into_iter().map(size).collect();
    let kind = if tensor.dtype == DType::F32 { DataType::Float } else { DataType::Int64 };
    let tensor_type =
        type_proto::Tensor { elem_type: kind as i32, shape: Some(TensorShapeProto { dim }) };
    let value = Some(type_proto::Value::TensorType(tensor_type));
    let r#type = Some(TypeProto { value });
    ValueInfoProto { name: tensor.name.clone(), r#type }
}

/// Our dimensions in the file's order.
pub(super) fn file_dims(dims: &[usize]) -> Vec<usize> {
    if dims.len() == 4 { TO_FILE.iter().map(|axis| dims[*axis]).collect() } else { dims.to_vec() }
}

/// Our dimension `axis` of a tensor of this rank, in the file.
pub(super) fn file_axis(rank: usize, axis: usize) -> i64 {
    let axis = if rank == 4 { FROM_FILE.get(axis).copied().unwrap_or(axis) } else { axis };
    signed(axis)
}

impl<'m> Graph<'m> {
    pub(super) fn dims(&self, id: TensorId) -> &'m [usize] {
        self.model.tensor(id).shape.dims()
    }

    pub(super) fn name(&self, id: TensorId) -> String {
        self.model.tensor(id).name.clone()
    }

    /// Adds a node with one result.
    pub(super) fn push(
        &mut self,
        op: &str,
        inputs: &[&str],
        output: &str,
        attributes: Vec<(&str, Attribute)>,
    ) {
        self.nodes.push(NodeProto {
            name: output.to_owned(),
            op_type: op.to_owned(),
            input: inputs.iter().map(|name| (*name).to_owned()).collect(),
            output: vec![output.to_owned()],
            attribute: attributes.into_iter().map(|(name, value)| attribute(name, value)).collect(),
            ..NodeProto::default()
        });
    }

    /// Adds a node and the activation behind it.
    pub(super) fn activated(
        &mut self,
        op: &str,
        inputs: &[&str],
        output: &str,
        attributes: Vec<(&str, Attribute)>,
        activation: Activation,
    ) {
        if activation == Activation::None {
            return self.push(op, inputs, output, attributes);
        }
        let before = format!("{output}.before");
        self.push(op, inputs, &before, attributes);
        self.activation(&before, output, activation);
    }

    pub(super) fn activation(&mut self, input: &str, output: &str, activation: Activation) {
        match activation {
            Activation::None => self.push("Identity", &[input], output, vec![]),
            Activation::Relu => self.push("Relu", &[input], output, vec![]),
            Activation::Relu6 | Activation::ReluN1To1 => {
                let (low, high) = activation.range();
                self.clip(input, output, low, high);
            }
        }
    }

    pub(super) fn clip(&mut self, input: &str, output: &str, low: f32, high: f32) {
        let low = self.scalar(&format!("{output}.low"), low);
        let high = self.scalar(&format!("{output}.high"), high);
        self.push("Clip", &[input, &low, &high], output, vec![]);
    }

    pub(super) fn scalar(&mut self, name: &str, value: f32) -> String {
        let values = Values::Own(vec![value]);
        self.initializers.push(Initializer { name: name.to_owned(), dims: vec![], values });
        name.to_owned()
    }

    /// Adds constant integers.
    pub(super) fn integers(&mut self, name: &str, values: &[i64]) -> String {
        let dims = vec![values.len()];
        let values = Values::Integers(values.to_vec());
        self.initializers.push(Initializer { name: name.to_owned(), dims, values });
        name.to_owned()
    }

    /// Adds a constant of the model under `name` with its dimensions permuted: dimension `i` of the
    /// file is `order[i]`. Nothing happens if another node has added it.
    pub(super) fn weights(&mut self, id: TensorId, order: &[usize]) -> Made<String> {
        let tensor = self.model.tensor(id);
        let dims = tensor.shape.dims();
        let mut strides = vec![1usize; dims.len()];
        for axis in (0..dims.len().saturating_sub(1)).rev() {
            strides[axis] = strides[axis + 1] * dims[axis + 1];
        }
        let source: &Source = tensor.source.as_ref().ok_or("its weights are not constant")?;
        let from = Floats::of(source).ok_or("its weights are not floats")?;
        let initializer = Initializer {
            name: tensor.name.clone(),
            dims: order.iter().map(|axis| dims[*axis]).collect(),
            values: Values::Floats { from, strides: order.iter().map(|a| strides[*a]).collect() },
        };
        if !self.initializers.iter().any(|known| known.name == initializer.name) {
            self.initializers.push(initializer);
        }
        Ok(tensor.name.clone())
    }

    /// An operand beside others of `rank` dimensions: constants get the file's order, and
    /// dimensions of 1 in front if they have fewer.
    pub(super) fn operand(&mut self, id: TensorId, rank: usize) -> Made<String> {
        let dims = self.dims(id);
        if !self.model.tensor(id).is_constant() {
            if dims.len() == rank || rank != 4 {
                return Ok(self.name(id));
            }
            return Err("an operand has fewer dimensions than its result");
        }
        if rank != 4 {
            return self.weights(id, &(0..dims.len()).collect::<Vec<_>>());
        }
        if dims.len() == 4 {
            return self.weights(id, &TO_FILE);
        }
        // A vector along the channels.
        let [channels] = dims else { return Err("a constant operand has 2 or 3 dimensions") };
        let name = self.weights(id, &[0])?;
        if *channels == 1 {
            return Ok(name);
        }
        let (shape, result) = (format!("{name}.dims"), format!("{name}.nchw"));
        if !self.nodes.iter().any(|node| node.name == result) {
            let shape = self.integers(&shape, &[1, signed(*channels), 1, 1]);
            self.push("Reshape", &[&name, &shape], &result, vec![]);
        }
        Ok(result)
    }

    /// Adds the nodes of one of ours.
    fn node(&mut self, node: &Node) -> Made<()> {
        let [output] = node.outputs.as_slice() else {
            return Err("it has several results");
        };
        let name = self.name(*output);
        if matches!(node.op, Op::Opaque { .. } | Op::Requantise) {
            return Err("it is not an operator over floats");
        }
        self.operator(node, *output, &name)
    }
}

fn attribute(name: &str, value: Attribute) -> AttributeProto {
    let named = AttributeProto { name: name.to_owned(), ..AttributeProto::default() };
    match value {
        Attribute::Int(i) => AttributeProto { i, r#type: AttributeType::Int as i32, ..named },
        Attribute::Ints(ints) => {
            AttributeProto { ints, r#type: AttributeType::Ints as i32, ..named }
        }
        Attribute::Float(f) => AttributeProto { f, r#type: AttributeType::Float as i32, ..named },
        Attribute::Text(text) => AttributeProto {
            s: text.as_bytes().to_vec(),
            r#type: AttributeType::String as i32,
            ..named
        },
    }
}
