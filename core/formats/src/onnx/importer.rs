//! Builds the graph node by node.
//!
//! ONNX images are NCHW, the graph's NHWC. Each activation carries its `order`: dimension `i` of
//! the tensor is ONNX dimension `order[i]`. Transposes of the file only change orders; a transpose
//! is added where an operator needs another order than its operand has.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::onnx::messages::tensor_proto::DataType;
use tilewright_model::infer::result_shape;
use tilewright_model::passes::dead_nodes;
use tilewright_model::{
    DType, Data, Model, Node, Op, Quantisation, Shape, Source, Tensor, TensorId,
};

use super::attributes::Place;
use super::constant::{Constant, Values};
use super::described;
use super::interface::{self, Stated};
use super::opaque;
use super::ops;
use super::order;
use super::skeleton::Skeleton;
use super::whole;
use crate::{FormatError, Limits, ModelFile, elements};

/// Elements that constants computed from others may have together, whatever the file: grids and masks.
const MOST_COMPUTED: usize = 1 << 23;

/// And for each element of the other constants: weights that are put together step by step.
const COMPUTED_OF_STORED: usize = 8;

/// An activation of the file.
#[derive(Clone, Debug)]
pub(crate) struct Activated {
    pub(crate) tensor: TensorId,
    /// Dimension `i` of the tensor is ONNX dimension `order[i]`.
    pub(crate) order: Vec<usize>,
}

/// A value of the file.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Activated(Activated),
    Constant(Rc<Constant>),
}

/// The order in which operators over images want them: channels last.
pub(crate) fn channels_last(rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).collect();
    if rank > 2 {
        order[1..].rotate_left(1);
    }
    order
}

/// The order of the file itself.
pub(crate) fn as_given(rank: usize) -> Vec<usize> {
    (0..rank).collect()
}

pub(crate) struct Importer<'a> {
    pub(crate) model: Model,
    pub(crate) limits: &'a Limits,
    pub(crate) file: &'a ModelFile<'a>,
    pub(super) values: BTreeMap<String, Value>,
    reordered: BTreeMap<(TensorId, Vec<usize>), TensorId>,
    constant_elements: usize,
    /// Elements of constants that were computed from others.
    computed_elements: usize,
    /// Elements of constants that are one float everywhere.
    filled_elements: usize,
    /// Of these, elements that were made for nodes that read them.
    made_elements: Cell<usize>,
    /// Names given to results.
    pub(super) names: BTreeSet<String>,
    /// Dimensions of inputs that the file leaves open.
    pub(super) open: BTreeSet<String>,
    /// Those of them that have no size, and the first input with such.
    pub(super) missing: Vec<String>,
    pub(super) first_open: Option<String>,
    /// Constants of unsigned bytes.
    unsigned: BTreeSet<String>,
    /// Scales that constants of reals were made with, by name.
    scales: BTreeMap<String, (Vec<f32>, i32)>,
    /// Shapes of results that the file states.
    pub(super) stated: BTreeMap<String, Stated>,
    /// Results that are integers in the file, and that nothing but arithmetic reads.
    pub(super) whole: BTreeSet<String>,
    /// What symbols of the inputs' dimensions stand for.
    pub(super) sizes: BTreeMap<String, usize>,
}

/// Whether a node needs no values of a constant operand here: weights are read layer by layer, and
/// others ask for its shape alone.
fn leaves_unread(op: &str, operand: usize) -> bool {
    match op {
        "Conv" | "ConvTranspose" | "Gemm" | "MatMul" => operand == 1,
        "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" | "Identity" | "Dropout" | "Shape"
        | "Size" => operand == 0,
        _ => false,
    }
}

/// Imports a decoded file.
pub(super) fn import(
    skeleton: Skeleton,
    file: &ModelFile<'_>,
    limits: &Limits,
    dims: &[(String, usize)],
) -> Result<Model, FormatError> {
    let Skeleton { model: proto, initializers } = skeleton;
    let mut graph = proto.graph.unwrap_or_default();
    if graph.node.len() > limits.nodes {
        return Err(FormatError::TooLarge {
            what: "nodes".to_owned(),
            size: graph.node.len().to_string(),
            limit: limits.nodes,
        });
    }
    let symbols = interface::symbols(&graph);
    let known = |symbol: &str| symbols.contains(symbol).then_some(1);
    opaque::refuse_unsupported(&graph, &interface::stated_shapes(&graph, &known))?;
    if let Some(sparse) = graph.sparse_initializer.first() {
        let name = sparse.values.as_ref().map_or("", |values| values.name.as_str());
        return Err(FormatError::Interface {
            name: name.to_owned(),
            reason: "sparse constants are not supported".to_owned(),
        });
    }
    let places = order::sort(&mut graph.node)?;
    let mut importer = Importer {
        model: Model::default(),
        limits,
        file,
        values: BTreeMap::new(),
        reordered: BTreeMap::new(),
        constant_elements: 0,
        computed_elements: 0,
        filled_elements: 0,
        made_elements: Cell::new(0),
        names: BTreeSet::new(),
        open: BTreeSet::new(),
        missing: Vec::new(),
        first_open: None,
        unsigned: BTreeSet::new(),
        scales: BTreeMap::new(),
        stated: BTreeMap::new(),
        whole: whole::results(&graph),
        sizes: BTreeMap::new(),
    };
    for entry in proto.metadata_props {
        importer.model.metadata.insert(entry.key, entry.value);
    }
    described::describe(&mut importer.model);
    for initializer in initializers {
        importer.note_type(&initializer.tensor.name, initializer.tensor.data_type);
        let constant = Constant::of_initializer(initializer, file, limits)?;
        importer.add_constant(constant.name.clone(), constant)?;
    }
    let mut named = BTreeSet::new();
    for input in &graph.input {
        if !named.insert(&input.name) {
            let reason = "two inputs have this name".to_owned();
            return Err(FormatError::Interface { name: input.name.clone(), reason });
        }
        if !importer.values.contains_key(&input.name) {
            importer.add_input(&graph, input, dims)?;
        }
    }
    if let Some((dim, _)) = dims.iter().find(|(dim, _)| !importer.open.contains(dim)) {
        let open = importer.open.into_iter().collect();
        return Err(FormatError::UnknownDimension { dim: dim.clone(), open });
    }
    if let Some(input) = importer.first_open {
        return Err(FormatError::DynamicDimensions { input, dims: importer.missing });
    }
    let sizes = |symbol: &str| importer.sizes.get(symbol).copied();
    importer.stated = interface::stated_shapes(&graph, &sizes);
    let standard = |domain: &str| domain.is_empty() || domain == "ai.onnx";
    let opset = proto.opset_import.iter().find(|set| standard(&set.domain));
    let opset = opset.map_or(1, |set| set.version);
    for (node, index) in graph.node.iter().zip(places) {
        let place = Place { node, index, opset };
        if !ops::is_supported(node) {
            importer.opaque(place, "")?;
            continue;
        }
        let value = match importer.foreign(place) {
            Some(dtype) => importer.of_integers(place, dtype),
            None => ops::import(&mut importer, place),
        };
        match value {
            Ok(value) => importer.define_result(place, 0, value)?,
            Err(FormatError::Unsupported { reason, .. }) if importer.states(node) => {
                importer.opaque(place, &reason)?;
            }
            Err(error) => return Err(error),
        }
    }
    importer.outputs(&graph)?;
    // Roundings that a clip took over, so that what is before them meets what is behind.
    dead_nodes::run(&mut importer.model);
    Ok(importer.model)
}

impl Importer<'_> {
    /// Gives a value of the importer's own a name.
    pub(crate) fn define(&mut self, name: String, value: Value) {
        self.values.insert(name, value);
    }

    /// Gives result `position` of a node of the file its value.
    pub(crate) fn define_result(
        &mut self,
        place: Place<'_>,
        position: usize,
        value: Value,
    ) -> Result<(), FormatError> {
        let name = place.node.output.get(position);
        let name = name.ok_or_else(|| place.bad("it has no result"))?;
        if name.is_empty() {
            return Ok(());
        }
        match self.values.insert(name.clone(), value) {
            Some(_) => Err(place.bad(format!("'{name}' is made twice"))),
            None => Ok(()),
        }
    }

    /// Notes the element type of a constant.
    pub(crate) fn note_type(&mut self, name: &str, data_type: i32) {
        if data_type == DataType::Uint8 as i32 {
            self.unsigned.insert(name.to_owned());
        }
    }

    /// Whether a constant is of unsigned bytes.
    pub(crate) fn is_unsigned(&self, name: &str) -> bool {
        self.unsigned.contains(name)
    }

    /// Notes that a constant of reals is of 8-bit steps of these scales from this zero point on.
    pub(crate) fn note_scales(&mut self, name: &str, scales: Vec<f32>, zero: i32) {
        self.scales.insert(name.to_owned(), (scales, zero));
    }

    fn add_constant(&mut self, name: String, constant: Constant) -> Result<(), FormatError> {
        self.count(constant.len())?;
        match self.values.insert(name.clone(), Value::Constant(Rc::new(constant))) {
            Some(_) => {
                let reason = "two constants have this name".to_owned();
                Err(FormatError::Interface { name, reason })
            }
            None => Ok(()),
        }
    }

    /// Counts elements of constants against the limit.
    pub(crate) fn count(&mut self, elements: usize) -> Result<(), FormatError> {
        self.constant_elements = self.constant_elements.saturating_add(elements);
        if self.constant_elements <= self.limits.total_elements {
            return Ok(());
        }
        Err(FormatError::TooLarge {
            what: "elements of all constants".to_owned(),
            size: self.constant_elements.to_string(),
            limit: self.limits.total_elements,
        })
    }

    /// Counts elements of a constant that was computed from others.
    pub(crate) fn count_computed(&mut self, elements: usize) -> Result<(), FormatError> {
        self.has_room(elements)?;
        self.computed_elements = self.computed_elements.saturating_add(elements);
        self.count(elements)
    }

    /// Counts elements of a constant that is one float everywhere; how many others have.
    pub(crate) fn count_filled(&mut self, elements: usize) -> Result<usize, FormatError> {
        self.count(elements)?;
        let others = self.filled_elements;
        self.filled_elements += elements;
        Ok(others)
    }

    /// Whether so many elements may be computed: small files could ask for any number of them.
    pub(crate) fn has_room(&self, elements: usize) -> Result<(), FormatError> {
        let computed = self.computed_elements.saturating_add(self.filled_elements);
        let stored = self.constant_elements.saturating_sub(computed);
        let limit = MOST_COMPUTED.saturating_add(stored.saturating_mul(COMPUTED_OF_STORED));
        let computed = self.computed_elements.saturating_add(self.made_elements.get());
        let size = computed.saturating_add(elements);
        if size <= limit {
            return Ok(());
        }
        let what = "elements of constants that nodes compute".to_owned();
        Err(FormatError::TooLarge { what, size: size.to_string(), limit })
    }

    /// The value of operand `index`.
    pub(crate) fn operand(&self, place: Place<'_>, index: usize) -> Result<Value, FormatError> {
        self.optional(place, index)?.ok_or_else(|| place.bad(format!("operand {index} is missing")))
    }

    /// The values of all operands.
    pub(crate) fn operands(&self, place: Place<'_>) -> Result<Vec<Value>, FormatError> {
        (0..place.node.input.len()).map(|index| self.operand(place, index)).collect()
    }

    /// The value of operand `index`, if the node has one.
    pub(crate) fn optional(
        &self,
        place: Place<'_>,
        index: usize,
    ) -> Result<Option<Value>, FormatError> {
        let Some(name) = place.node.input.get(index).filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        let value = self.values.get(name).cloned();
        let value =
            value.ok_or_else(|| place.bad(format!("operand '{name}' is made by no node")))?;
        if let Value::Constant(constant) = &value
            && constant.unmade() > 0
            && !leaves_unread(place.node.op_type.as_str(), index)
        {
            self.has_room(constant.unmade())?;
            self.made_elements.set(self.made_elements.get() + constant.unmade());
        }
        Ok(Some(value))
    }

    /// Operand `index` as an activation; a constant becomes a constant tensor of the graph.
    pub(crate) fn activated(
        &mut self,
        place: Place<'_>,
        index: usize,
    ) -> Result<Activated, FormatError> {
        match self.operand(place, index)? {
            Value::Activated(value) => Ok(value),
            Value::Constant(constant) => {
                let values = constant
                    .floats()
                    .ok_or_else(|| place.unsupported(format!("operand {index} holds integers")))?;
                let name = constant.name.clone();
                let tensor = self.weights(&name, &constant.dims, values.to_vec())?;
                Ok(Activated { tensor, order: as_given(constant.dims.len()) })
            }
        }
    }

    /// Operand `index`, which must be constant.
    pub(crate) fn constant(
        &self,
        place: Place<'_>,
        index: usize,
    ) -> Result<Rc<Constant>, FormatError> {
        match self.operand(place, index)? {
            Value::Constant(constant) => Ok(constant),
            Value::Activated(_) => {
                Err(place.unsupported(format!("operand {index} must be constant")))
            }
        }
    }

    /// Operand `index` as constant integers, if the node has it.
    pub(crate) fn ints(
        &self,
        place: Place<'_>,
        index: usize,
    ) -> Result<Option<Vec<i64>>, FormatError> {
        match self.optional(place, index)? {
            None => Ok(None),
            Some(Value::Constant(constant)) if constant.ints().is_some() => {
                Ok(constant.ints().map(<[i64]>::to_vec))
            }
            Some(_) => Err(place.unsupported(format!("operand {index} must be constant integers"))),
        }
    }

    /// Adds constant floats to the graph.
    pub(crate) fn weights(
        &mut self,
        name: &str,
        dims: &[usize],
        values: Vec<f32>,
    ) -> Result<TensorId, FormatError> {
        if values.iter().any(|value| !value.is_finite()) {
            return Err(FormatError::NotFinite { tensor: name.to_owned() });
        }
        self.count(values.len())?;
        let mut tensor = float(name, Shape::new(dims));
        tensor.source = Some(Source::inline(Data::F32(values)));
        if let Some((scales, zero)) = self.scales.get(name) {
            tensor.quantisation = stated(dims, scales, *zero);
        }
        Ok(self.model.add_tensor(tensor))
    }

    /// Adds constant floats to the graph, seen as `a`×`b`×`c` with the last two dimensions
    /// swapped; those that stay in their file are swapped when they are read.
    pub(crate) fn swapped(
        &mut self,
        constant: &Constant,
        dims: &[usize],
        [a, b, c]: [usize; 3],
    ) -> Result<TensorId, FormatError> {
        let count = dims.iter().product::<usize>();
        if count != constant.len() || a * b * c != count {
            let reason = format!("{} values for {dims:?}", constant.len());
            return Err(FormatError::Interface { name: constant.name.clone(), reason });
        }
        if let Some(ranged) = constant.stored() {
            let moves = b > 1 && c > 1;
            let permutation: &[usize] = if moves { &[0, 2, 1] } else { &[0, 1, 2] };
            let mut tensor = float(&constant.name, Shape::new(dims));
            tensor.source = Some(Source::Ranged(ranged.permuted(&[a, b, c], permutation)));
            return Ok(self.model.add_tensor(tensor));
        }
        let values = constant.floats().ok_or_else(|| FormatError::Interface {
            name: constant.name.clone(),
            reason: "it holds integers where floats are needed".to_owned(),
        })?;
        let moved = if b > 1 && c > 1 {
            let mut moved = Vec::with_capacity(count);
            for rows in values.chunks_exact(b * c) {
                for column in 0..c {
                    moved.extend(rows[column..].iter().step_by(c));
                }
            }
            moved
        } else {
            values.to_vec()
        };
        self.weights(&constant.name, dims, moved)
    }

    /// ONNX dimensions of an activation.
    pub(crate) fn dims(&self, value: &Activated) -> Vec<usize> {
        let mut dims = vec![0; value.order.len()];
        for (dim, axis) in self.model.tensor(value.tensor).shape.dims().iter().zip(&value.order) {
            dims[*axis] = *dim;
        }
        dims
    }

    /// The activation's tensor with its dimensions in `order`; transposed where they are not.
    pub(crate) fn in_order(&mut self, value: &Activated, order: &[usize]) -> TensorId {
        if value.order == order {
            return value.tensor;
        }
        let key = (value.tensor, order.to_vec());
        if let Some(tensor) = self.reordered.get(&key) {
            return *tensor;
        }
        let permutation: Vec<usize> = order
            .iter()
            .map(|axis| value.order.iter().position(|a| a == axis).unwrap_or_default())
            .collect();
        let dims = self.dims(value);
        let shape: Vec<usize> = order.iter().map(|axis| dims[*axis]).collect();
        let name = format!("{}.{}", self.model.tensor(value.tensor).name, name_of(order));
        let result = self.model.add_tensor(float(&name, Shape::new(shape)));
        self.push(&name, Op::Transpose { permutation }, vec![value.tensor], result);
        self.reordered.insert(key, result);
        result
    }

    pub(super) fn push(&mut self, name: &str, op: Op, inputs: Vec<TensorId>, output: TensorId) {
        self.model.nodes.push(Node { name: name.to_owned(), op, inputs, outputs: vec![output] });
    }

    /// Adds a node for the file's node at `place`; the result has the shape that the operator
    /// gives it, and its dimensions are in `order`.
    pub(crate) fn emit(
        &mut self,
        place: Place<'_>,
        op: Op,
        inputs: Vec<TensorId>,
        order: Vec<usize>,
    ) -> Result<Activated, FormatError> {
        self.emit_shaped(place, op, inputs, order, &[])
    }

    /// Adds a reshape to `dims`, given in `order`.
    pub(crate) fn reshape(
        &mut self,
        place: Place<'_>,
        input: TensorId,
        dims: &[usize],
        order: Vec<usize>,
    ) -> Result<Activated, FormatError> {
        self.emit_shaped(place, Op::Reshape, vec![input], order, dims)
    }

    /// Adds a node that leaves its result's sizes open; they are `dims`, given in `order`.
    pub(crate) fn emit_sized(
        &mut self,
        place: Place<'_>,
        op: Op,
        inputs: Vec<TensorId>,
        order: Vec<usize>,
        dims: &[usize],
    ) -> Result<Activated, FormatError> {
        elements(place.name(), dims, self.limits)?;
        self.emit_shaped(place, op, inputs, order, dims)
    }

    fn emit_shaped(
        &mut self,
        place: Place<'_>,
        op: Op,
        inputs: Vec<TensorId>,
        order: Vec<usize>,
        dims: &[usize],
    ) -> Result<Activated, FormatError> {
        let given = place.node.output.first().map_or("", String::as_str);
        let mut name = given.to_owned();
        // One node of the file may need several of ours.
        let mut part = 1;
        while !self.names.insert(name.clone()) {
            part += 1;
            name = format!("{given}.{part}");
        }
        let node_name =
            if part == 1 { place.name().to_owned() } else { format!("{}.{part}", place.name()) };
        let mut result = float(&name, Shape::new(dims));
        match &op {
            Op::ArgMax { .. } => result.dtype = DType::I32,
            Op::Reshape => result.dtype = self.model.tensor(inputs[0]).dtype,
            _ => {}
        }
        let tensor = self.model.add_tensor(result);
        let node = Node { name: node_name, op, inputs, outputs: vec![tensor] };
        let shape = result_shape(&self.model, &node).map_err(|reason| place.bad(reason))?;
        elements(&name, shape.dims(), self.limits)?;
        self.model.tensors[tensor.0].shape = shape;
        self.model.nodes.push(node);
        Ok(Activated { tensor, order })
    }
}

/// Quantisation of weights with these scales: one, or one for each output channel, which is the
/// innermost dimension of depthwise weights, else the outermost.
fn stated(dims: &[usize], scales: &[f32], zero: i32) -> Option<Quantisation> {
    let count = scales.len();
    let axis = match dims {
        _ if count == 1 => None,
        [1, _, _, outputs] if *outputs == count => Some(3),
        [outputs, ..] if *outputs == count => Some(0),
        _ => return None,
    };
    Some(Quantisation { scales: scales.to_vec(), zeros: vec![zero; count], axis })
}

fn name_of(order: &[usize]) -> String {
    if order == channels_last(order.len()) { "nhwc".to_owned() } else { "transposed".to_owned() }
}

pub(super) fn float(name: &str, shape: Shape) -> Tensor {
    Tensor { name: name.to_owned(), shape, dtype: DType::F32, quantisation: None, source: None }
}

/// A constant of integers.
pub(crate) fn integers(name: &str, dims: Vec<usize>, values: Vec<i64>) -> Value {
    let values = Values::Int(values);
    Value::Constant(Rc::new(Constant { name: name.to_owned(), dims, values }))
}
