//! Nodes that nothing here computes: a model with them can be looked at and planned for memory, if
//! the shapes of their results are known.

use std::collections::BTreeMap;

use tilewright_model::{DType, Node, Op, Shape, Tensor};

use super::attributes::Place;
use super::importer::{Activated, Importer, Value, as_given, float};
use super::interface::{Stated, element_type};
use super::messages::{GraphProto, NodeProto};
use super::ops;
use crate::{FormatError, UnsupportedOperator, elements};

/// The operator's type, with its domain where that is not ONNX's own.
fn type_of(node: &NodeProto) -> String {
    match node.domain.as_str() {
        "" | "ai.onnx" => node.op_type.clone(),
        domain => format!("{domain}.{}", node.op_type),
    }
}

/// Refuses a file with operators that are not known and whose results have no stated shape; others
/// become opaque.
pub(super) fn refuse_unsupported(
    graph: &GraphProto,
    shapes: &BTreeMap<String, Stated>,
) -> Result<(), FormatError> {
    let all: Vec<UnsupportedOperator> = graph
        .node
        .iter()
        .enumerate()
        .filter(|(_, node)| !ops::is_supported(node) && !states(shapes, node))
        .map(|(index, node)| UnsupportedOperator {
            op: type_of(node),
            node: Place { node, index, opset: 0 }.name().to_owned(),
            index,
        })
        .collect();
    match all.first().cloned() {
        Some(first) => Err(FormatError::UnsupportedOperators { first, all }),
        None => Ok(()),
    }
}

/// Whether the shapes of all results of a node are known.
fn states(shapes: &BTreeMap<String, Stated>, node: &NodeProto) -> bool {
    let mut results = node.output.iter().filter(|name| !name.is_empty());
    results.all(|name| shapes.contains_key(name))
}

/// Operators that take operands of any type: they only rename them, or look at their shapes.
const RENAMING: &[&str] =
    &["Dropout", "Flatten", "Identity", "Reshape", "Shape", "Squeeze", "Unsqueeze"];

impl Importer<'_> {
    /// The type of a node's first operand that is made by the model and no float, unless the node
    /// takes any.
    pub(super) fn foreign(&self, place: Place<'_>) -> Option<DType> {
        if RENAMING.contains(&place.node.op_type.as_str()) {
            return None;
        }
        let mut dtypes = place.node.input.iter().filter_map(|name| match self.values.get(name) {
            Some(Value::Activated(value)) => Some(self.model.tensor(value.tensor).dtype),
            _ => None,
        });
        dtypes.find(|dtype| *dtype != DType::F32)
    }

    /// A cast of an activation.
    pub(super) fn cast(&mut self, place: Place<'_>) -> Result<Value, FormatError> {
        let to = i32::try_from(place.int("to", 0)).ok().and_then(element_type);
        let (to, _) = to.ok_or_else(|| place.bad("attribute to is no known type"))?;
        let input = self.activated(place, 0)?;
        if self.model.tensor(input.tensor).dtype == DType::I32
            && matches!(to, DType::I32 | DType::I64)
        {
            // Indices, which fit.
            return Ok(Value::Activated(input));
        }
        let result = self.opaque_of(place, self.dims(&input))?;
        self.model.tensors[result.tensor.0].dtype = to;
        Ok(Value::Activated(result))
    }

    /// A node with an operand of integers, which nothing here computes. Of casts and of rows picked
    /// by computed indices the shapes are known.
    pub(super) fn of_integers(
        &mut self,
        place: Place<'_>,
        dtype: DType,
    ) -> Result<Value, FormatError> {
        let dims = |importer: &Self, value: &Value| match value {
            Value::Constant(constant) => constant.dims.clone(),
            Value::Activated(value) => importer.dims(value),
        };
        match place.node.op_type.as_str() {
            "Cast" => self.cast(place),
            "Gather" => {
                let (data, indices) = (self.operand(place, 0)?, self.operand(place, 1)?);
                let mut result = dims(self, &data);
                let axis = place.axis(place.int("axis", 0), result.len())?;
                result.splice(axis..=axis, dims(self, &indices));
                let result = self.opaque_of(place, result)?;
                if let Value::Activated(data) = data {
                    let of = self.model.tensor(data.tensor).dtype;
                    self.model.tensors[result.tensor.0].dtype = of;
                }
                Ok(Value::Activated(result))
            }
            _ => Err(place.unsupported(format!("of {}", dtype.name()))),
        }
    }

    /// Whether the file states the shapes of all results of a node.
    pub(super) fn states(&self, node: &NodeProto) -> bool {
        states(&self.stated, node)
    }

    /// Adds a node that nothing here computes, or not so; the shapes of its results are stated.
    pub(super) fn opaque(&mut self, place: Place<'_>, reason: &str) -> Result<(), FormatError> {
        let inputs = place.node.input.iter().filter_map(|name| match self.values.get(name) {
            Some(Value::Activated(value)) => Some(value.tensor),
            _ => None,
        });
        let inputs = inputs.collect();
        let mut outputs = Vec::new();
        for (position, name) in place.node.output.iter().enumerate() {
            let Some((dims, dtype)) = self.stated.get(name).cloned() else { continue };
            elements(name, &dims, self.limits)?;
            self.names.insert(name.clone());
            let order = as_given(dims.len());
            let tensor = Tensor { dtype, ..float(name, Shape::new(dims)) };
            let tensor = self.model.add_tensor(tensor);
            outputs.push(tensor);
            self.define_result(place, position, Value::Activated(Activated { tensor, order }))?;
        }
        let name = match reason {
            "" => type_of(place.node),
            reason => format!("{} ({reason})", type_of(place.node)),
        };
        let op = Op::Opaque { name };
        self.model.nodes.push(Node { name: place.name().to_owned(), op, inputs, outputs });
        Ok(())
    }

    /// Adds a node with one result of these dimensions that nothing here computes.
    pub(crate) fn opaque_of(
        &mut self,
        place: Place<'_>,
        dims: Vec<usize>,
    ) -> Result<Activated, FormatError> {
        let mut inputs = Vec::new();
        for index in 0..place.node.input.len() {
            if let Some(Value::Activated(value)) = self.optional(place, index)? {
                inputs.push(self.in_order(&value, &as_given(value.order.len())));
            }
        }
        let order = as_given(dims.len());
        let op = Op::Opaque { name: type_of(place.node) };
        self.emit_sized(place, op, inputs, order, &dims)
    }

    /// Adds a node that nothing here computes, with these dimensions of its results; gives the first.
    /// Results behind it are the file's where the file has them.
    pub(crate) fn opaque_results(
        &mut self,
        place: Place<'_>,
        results: &[Vec<usize>],
    ) -> Result<Value, FormatError> {
        let mut dims = results.iter().cloned();
        let first = dims.next().ok_or_else(|| place.bad("it has no result"))?;
        let first = self.opaque_of(place, first)?;
        for (position, dims) in (1..place.node.output.len()).zip(dims) {
            let name = &place.node.output[position];
            if name.is_empty() {
                continue;
            }
            elements(name, &dims, self.limits)?;
            self.names.insert(name.clone());
            let order = as_given(dims.len());
            let tensor = self.model.add_tensor(float(name, Shape::new(dims)));
            if let Some(node) = self.model.nodes.last_mut() {
                node.outputs.push(tensor);
            }
            self.define_result(place, position, Value::Activated(Activated { tensor, order }))?;
        }
        Ok(Value::Activated(first))
    }
}
