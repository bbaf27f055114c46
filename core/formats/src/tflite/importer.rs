//! Builds the graph operator by operator.

mod operands;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tilewright_model::infer::result_shape;
use tilewright_model::quantise::prescribed;
use tilewright_model::{
    Activation, DType, Data, FileType, FileTypes, Model, Node, Op, Quantisation, Shape, Source,
    Tensor, TensorId,
};
use tilewright_tflite_schema as fb;

use super::variables::{self, Variable};
use super::verified_file::{self, File, Place, Stored};
use super::{decoding, ops, quantised};
use crate::{FormatError, Limits, elements};

/// What a tensor of the file is in the graph.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A constant of the file.
    Stored,
    /// Integers that the importer computed.
    Ints { dims: Vec<usize>, values: Rc<[i64]> },
    /// Real numbers that the importer computed.
    Floats { dims: Vec<usize>, values: Rc<[f32]> },
    /// A tensor of the graph. It is int8 where the file's is float but stands between
    /// dequantisation and quantisation.
    Activated(TensorId),
    /// What stands for a variable of this name.
    Handle(Rc<str>),
    /// Of a type that the graph does not have; only opaque operators read it.
    Hidden,
}

/// Why an operator is not imported as what it is.
pub(super) enum Refused {
    /// The file is wrong.
    Fault(FormatError),
    /// The file may be right, but nothing here computes the operator so.
    Unsupported(String),
}

impl From<FormatError> for Refused {
    fn from(fault: FormatError) -> Self {
        Self::Fault(fault)
    }
}

/// Says that nothing here computes an operator so.
pub(super) fn unsupported<T>(reason: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Unsupported(reason.into()))
}

/// Element type and quantisation.
pub(super) type Kind = (DType, Option<Quantisation>);

pub(super) struct Importer<'f, 'a> {
    pub(super) file: &'f File<'a>,
    pub(super) model: Model,
    pub(super) limits: &'f Limits,
    pub(super) values: Vec<Option<Value>>,
    pub(super) variables: Vec<Variable>,
    /// Tensors of the file that are variables themselves, and their places among these.
    pub(super) kept: BTreeMap<usize, usize>,
    /// Tensors that another stands for, since they are the same constant.
    pub(super) aliases: BTreeMap<usize, usize>,
    /// Constants that are tensors of the graph already, as they are and as floats.
    constants: BTreeMap<(usize, bool), TensorId>,
    /// Names that are taken, each with the number by which the next of this name is told apart.
    names: BTreeMap<String, usize>,
    /// Sizes may differ from those in the verified_file, since the user chose some.
    resized: bool,
    constant_elements: usize,
}

pub(super) fn import<'a>(
    file: &File<'a>,
    limits: &Limits,
    dims: &[(String, usize)],
) -> Result<Model, FormatError> {
    let values =
        file.tensors.iter().map(|stored| stored.data.as_ref().map(|_| Value::Stored)).collect();
    let mut importer = Importer {
        file,
        model: Model::default(),
        limits,
        values,
        variables: Vec::new(),
        kept: BTreeMap::new(),
        aliases: BTreeMap::new(),
        constants: BTreeMap::new(),
        names: BTreeMap::new(),
        resized: false,
        constant_elements: 0,
    };
    if let Some(description) = file.description {
        importer.model.metadata.insert("description".to_owned(), description.to_owned());
    }
    importer.inputs(dims)?;
    let mut outputs = file.outputs.clone();
    let mut left = BTreeSet::new();
    for place in &file.places {
        left.extend(decoding::decoded(&mut importer, place, &mut outputs));
        if left.contains(&place.index) {
            continue;
        }
        match ops::import(&mut importer, place) {
            Ok(()) => {}
            Err(Refused::Fault(fault)) => return Err(fault),
            Err(Refused::Unsupported(reason)) => {
                left.extend(decoding::enlarged(&mut importer, place, &mut outputs));
                if !left.contains(&place.index) {
                    importer.opaque(place, &reason)?;
                }
            }
        }
    }
    let outputs = importer.outputs(outputs)?;
    importer.file_types(&outputs);
    variables::finish(&mut importer);
    Ok(importer.model)
}

/// Element type in the graph; nothing if it has none.
fn dtype(stored: &Stored<'_>) -> Option<DType> {
    match stored.kind {
        fb::TensorType::FLOAT32 => Some(DType::F32),
        fb::TensorType::INT8 | fb::TensorType::UINT8 if stored.quantisation.is_none() => {
            Some(DType::U8)
        }
        fb::TensorType::INT8 | fb::TensorType::UINT8 => Some(DType::I8),
        // Indices, which fit.
        fb::TensorType::INT32 | fb::TensorType::UINT32 | fb::TensorType::INT64 => Some(DType::I32),
        fb::TensorType::INT16 | fb::TensorType::UINT16 => Some(DType::I16),
        fb::TensorType::UINT64 => Some(DType::I64),
        fb::TensorType::BOOL => Some(DType::U8),
        _ => None,
    }
}

/// Operators that take operands of any type: they only rename them.
const RENAMING: &[fb::BuiltinOperator] = &[
    fb::BuiltinOperator::RESHAPE,
    fb::BuiltinOperator::EXPAND_DIMS,
    fb::BuiltinOperator::SQUEEZE,
    fb::BuiltinOperator::SHAPE,
    fb::BuiltinOperator::READ_VARIABLE,
    fb::BuiltinOperator::ASSIGN_VARIABLE,
];

/// Operators that take 32-bit integers too: they move values.
const MOVING: &[fb::BuiltinOperator] = &[
    fb::BuiltinOperator::CONCATENATION,
    fb::BuiltinOperator::DEPTH_TO_SPACE,
    fb::BuiltinOperator::GATHER,
    fb::BuiltinOperator::MIRROR_PAD,
    fb::BuiltinOperator::PACK,
    fb::BuiltinOperator::PAD,
    fb::BuiltinOperator::REVERSE_V2,
    fb::BuiltinOperator::SLICE,
    fb::BuiltinOperator::SPACE_TO_DEPTH,
    fb::BuiltinOperator::SPLIT,
    fb::BuiltinOperator::SPLIT_V,
    fb::BuiltinOperator::STRIDED_SLICE,
    fb::BuiltinOperator::TILE,
    fb::BuiltinOperator::TRANSPOSE,
    fb::BuiltinOperator::UNPACK,
];

/// The quantisation that a float result takes where it is computed from int8 values, if the
/// operator alone decides it.
fn settled(op: &Op, input: Option<&Quantisation>) -> Option<Quantisation> {
    match op {
        Op::MaxPool { .. } | Op::AveragePool { .. } => input.cloned(),
        op if op.only_moves() => input.cloned(),
        op => prescribed(op),
    }
}

impl<'a> Importer<'_, 'a> {
    pub(super) fn unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        let mut part = self.names.get(name).copied().unwrap_or(1);
        while self.names.contains_key(&candidate) {
            part += 1;
            candidate = format!("{name}.{part}");
        }
        self.names.insert(name.to_owned(), part);
        self.names.entry(candidate.clone()).or_insert(1);
        candidate
    }

    /// The graph's tensor for an activation of the verified_file, with a shape of its own.
    pub(super) fn tensor_for(&mut self, index: usize, dims: &[usize]) -> Result<Tensor, String> {
        let stored = &self.file.tensors[index];
        if let Some(fault) = &stored.fault {
            return Err(format!("'{}': {fault}", stored.name));
        }
        let (dtype, quantisation) = self.kind_of(index)?;
        let name = self.unique(&stored.name);
        Ok(Tensor { name, shape: Shape::new(dims), dtype, quantisation, source: None })
    }

    /// Element type and quantisation of an activation of the file.
    fn kind_of(&self, index: usize) -> Result<Kind, String> {
        let stored = &self.file.tensors[index];
        let dtype = dtype(stored).ok_or_else(|| {
            format!("'{}' is of {}, which is not supported", stored.name, stored.kind_name())
        })?;
        let quantisation = quantised::quantisation(stored).filter(|_| dtype == DType::I8);
        if dtype == DType::I8 && quantisation.is_none() {
            return Err(format!("'{}' is of {} without a scale", stored.name, stored.kind_name()));
        }
        Ok((dtype, quantisation))
    }

    fn inputs(&mut self, given: &[(String, usize)]) -> Result<(), FormatError> {
        let mut open = Vec::new();
        for index in self.file.inputs.clone() {
            let stored = &self.file.tensors[index];
            let mut dims = stored.dims.clone();
            for axis in &stored.open {
                let name = format!("{}[{axis}]", stored.name);
                if let Some((_, size)) = given.iter().find(|(dim, _)| *dim == name) {
                    if *size == 0 {
                        return Err(stored.bad(format!("dimension '{name}' must not be 0")));
                    }
                    self.resized |= dims[*axis] != *size;
                    dims[*axis] = *size;
                }
                open.push(name);
            }
            elements(&stored.name, &dims, self.limits)?;
            if self.values[index].is_some() {
                return Err(stored.bad("this input is constant, or named twice"));
            }
            let own = |reason: String| {
                stored.bad(reason.replacen(&format!("'{}'", stored.name), "this input", 1))
            };
            let tensor = self.tensor_for(index, &dims).map_err(own)?;
            let id = self.model.add_tensor(tensor);
            self.model.inputs.push(id);
            self.values[index] = Some(Value::Activated(id));
        }
        match given.iter().find(|(dim, _)| !open.contains(dim)) {
            Some((dim, _)) => Err(FormatError::UnknownDimension { dim: dim.clone(), open }),
            None => Ok(()),
        }
    }

    /// Makes tensors of the file outputs of the graph, and gives them: all but those that are constant.
    fn outputs(&mut self, wanted: Vec<usize>) -> Result<Vec<usize>, FormatError> {
        let mut outputs = Vec::new();
        for index in wanted {
            let stored = &self.file.tensors[index];
            let id = match &self.values[index] {
                Some(Value::Activated(id)) if self.model.tensor(*id).is_constant() => {
                    let count = self.shape(*id).iter().product();
                    self.model.note_constant_output(&stored.name, count);
                    continue;
                }
                Some(Value::Activated(id)) => *id,
                Some(Value::Hidden | Value::Handle(_)) => {
                    let kind = stored.kind_name();
                    return Err(
                        stored.bad(format!("this output is of {kind}, which is not supported"))
                    );
                }
                Some(Value::Stored) => {
                    let count = elements(&stored.name, &stored.dims, self.limits)?;
                    self.model.note_constant_output(&stored.name, count);
                    continue;
                }
                Some(Value::Ints { dims, .. } | Value::Floats { dims, .. }) => {
                    self.model.note_constant_output(&stored.name, dims.iter().product());
                    continue;
                }
                None => return Err(stored.bad("this output is never made")),
            };
            let output = self.output_of(id, &stored.name);
            if output == id && self.model.tensor(id).name != stored.name {
                self.model.tensors[id.0].name = self.unique(&stored.name);
            }
            self.model.outputs.push(output);
            outputs.push(index);
        }
        let missing = match (self.model.inputs.is_empty(), self.model.outputs.is_empty()) {
            (true, _) => "input",
            (_, true) => "output that is computed",
            _ => return Ok(outputs),
        };
        Err(FormatError::Interface {
            name: "main".to_owned(),
            reason: format!("the graph has no {missing}"),
        })
    }

    /// The first operand or result of a type that nothing here computes the operator with, as the
    /// end of a sentence.
    pub(super) fn foreign(&self, place: &Place<'a>) -> Option<String> {
        if RENAMING.contains(&place.code) {
            return None;
        }
        let is_made = |index: &usize| matches!(self.values[*index], Some(Value::Activated(_)));
        let dtype_of = |index: usize| match &self.values[index] {
            Some(Value::Activated(id)) => Some(self.model.tensor(*id).dtype),
            _ => None,
        };
        let foreign = |dtype: DType| {
            !dtype.has_values() || (dtype == DType::I32 && !MOVING.contains(&place.code))
        };
        let operands = || place.inputs.iter().flatten().copied();
        let operand = operands().find(|index| dtype_of(*index).is_some_and(foreign));
        let results = || place.outputs.iter().copied().filter(|_| operands().any(|i| is_made(&i)));
        let result = || {
            results().find(|index| {
                dtype(&self.file.tensors[*index]).is_some_and(|dtype| !dtype.has_values())
            })
        };
        let stored = &self.file.tensors[operand.or_else(result)?];
        Some(match (dtype(stored), stored.kind) {
            (Some(DType::U8), fb::TensorType::UINT8 | fb::TensorType::INT8) => {
                format!("of {} without a scale", stored.kind_name())
            }
            _ => format!("of {}", stored.kind_name()),
        })
    }

    /// Keeps the element types that the file has otherwise.
    fn file_types(&mut self, outputs: &[usize]) {
        let file_type = |index: usize, id: TensorId| match (
            self.file.tensors[index].kind,
            self.model.tensor(id).dtype,
        ) {
            (fb::TensorType::FLOAT32, DType::I8) => Some(FileType::Float32),
            (fb::TensorType::UINT8, DType::I8) => Some(FileType::Uint8),
            (fb::TensorType::INT64, DType::I32) => Some(FileType::Int64),
            (fb::TensorType::UINT16, DType::I16) => Some(FileType::Uint16),
            (fb::TensorType::UINT32, DType::I32) => Some(FileType::Uint32),
            (fb::TensorType::UINT64, DType::I64) => Some(FileType::Uint64),
            (fb::TensorType::BOOL, DType::U8) => Some(FileType::Bool),
            (fb::TensorType::INT8, DType::U8) => Some(FileType::Int8),
            _ => None,
        };
        let list = |indices: &[usize], ids: &[TensorId]| {
            let pairs = indices.iter().zip(ids).map(|(index, id)| file_type(*index, *id));
            pairs.enumerate().filter_map(|(position, known)| Some((position, known?))).collect()
        };
        let inputs = list(&self.file.inputs, &self.model.inputs);
        let outputs = list(outputs, &self.model.outputs);
        self.model.file_types = FileTypes { inputs, outputs };
    }

    /// The tensor itself, or a copy with a name like this if it is an input or output already.
    pub(super) fn output_of(&mut self, id: TensorId, name: &str) -> TensorId {
        if !self.model.inputs.contains(&id) && !self.model.outputs.contains(&id) {
            return id;
        }
        let name = self.unique(name);
        let tensor = Tensor { name: name.clone(), ..self.model.tensor(id).clone() };
        let copy = self.model.add_tensor(tensor);
        let op = match self.model.tensor(id).dtype {
            DType::F32 | DType::I8 => Op::Activation(Activation::None),
            _ => Op::Reshape,
        };
        self.model.nodes.push(Node { name, op, inputs: vec![id], outputs: vec![copy] });
        copy
    }

    /// Operand `position` as a tensor of the graph; a constant in the type that the operator
    /// computes with.
    pub(super) fn activated(
        &mut self,
        place: &Place<'a>,
        position: usize,
    ) -> Result<TensorId, Refused> {
        let index = self.operand(place, position)?;
        let stored = &self.file.tensors[index];
        match self.value(place, position)? {
            Value::Activated(id) => return Ok(id),
            Value::Hidden | Value::Handle(_) => {
                return unsupported(format!("an operand is of {}", stored.kind_name()));
            }
            _ => {}
        }
        let is_float = self.is_float(place);
        let key = (index, is_float);
        if let Some(id) = self.constants.get(&key) {
            return Ok(*id);
        }
        let dims = self.dims(place, position)?;
        let int8 = quantised::int8(stored).zip(quantised::quantisation(stored));
        let tensor = match int8.filter(|_| !is_float) {
            Some((values, quantisation)) => {
                self.constant(stored, &dims, Data::I8(values), Some(quantisation))?
            }
            None if !is_float => {
                return unsupported(format!("'{}' is float beside int8", stored.name));
            }
            None => match self.floats(place, position) {
                Some(values) => self.constant(stored, &dims, Data::F32(values.to_vec()), None)?,
                None => return unsupported(format!("an operand is of {}", stored.kind_name())),
            },
        };
        self.constants.insert(key, tensor);
        Ok(tensor)
    }

    /// All operands as tensors of the graph.
    pub(super) fn all_activated(&mut self, place: &Place<'a>) -> Result<Vec<TensorId>, Refused> {
        (0..place.inputs.len()).map(|position| self.activated(place, position)).collect()
    }

    /// Adds a constant to the graph.
    pub(super) fn constant(
        &mut self,
        stored: &Stored<'_>,
        dims: &[usize],
        data: Data,
        quantisation: Option<Quantisation>,
    ) -> Result<TensorId, FormatError> {
        self.constant_elements = self.constant_elements.saturating_add(data.len());
        if self.constant_elements > self.limits.total_elements {
            return Err(FormatError::TooLarge {
                what: "elements of all constants".to_owned(),
                size: self.constant_elements.to_string(),
                limit: self.limits.total_elements,
            });
        }
        if data.as_f32().is_some_and(|values| values.iter().any(|value| !value.is_finite())) {
            return Err(FormatError::NotFinite { tensor: stored.name.clone() });
        }
        let name = self.unique(&stored.name);
        let (dtype, shape) = (data.dtype(), Shape::new(dims));
        let source = Some(Source::inline(data));
        Ok(self.model.add_tensor(Tensor { name, shape, dtype, quantisation, source }))
    }

    /// Gives the file's result `position` its value.
    pub(super) fn set(
        &mut self,
        place: &Place<'a>,
        position: usize,
        value: Value,
    ) -> Result<(), FormatError> {
        let index = self.result(place, position)?;
        let stored = &self.file.tensors[index];
        let name = &stored.name;
        if self.values[index].is_some() {
            return Err(place.bad(format!("'{name}' is made twice, or is constant")));
        }
        if let Value::Ints { values, .. } = &value
            && let Some(beyond) = values.iter().find(|value| !quantised::fits(stored.kind, **value))
        {
            return Err(place.bad(format!(
                "its result '{name}' has the value {beyond}, which {} does not hold: give it a \
                 type that does, and convert the model again",
                stored.kind_name()
            )));
        }
        self.values[index] = Some(value);
        Ok(())
    }

    pub(super) fn result(&self, place: &Place<'a>, position: usize) -> Result<usize, FormatError> {
        let result = place.outputs.get(position).copied();
        result.ok_or_else(|| place.bad(format!("it has no result {position}")))
    }

    /// Adds a node whose result is the file's result `position`. Where the operator leaves the
    /// result's shape open it takes `dims`.
    pub(super) fn emit_shaped(
        &mut self,
        place: &Place<'a>,
        position: usize,
        op: Op,
        inputs: Vec<TensorId>,
        dims: &[usize],
    ) -> Result<TensorId, Refused> {
        let index = self.result(place, position)?;
        let mut tensor = self.tensor_for(index, dims).map_err(Refused::Unsupported)?;
        let first = inputs.first().map(|id| self.model.tensor(*id));
        if tensor.dtype == DType::F32 && first.is_some_and(|input| input.dtype == DType::I8) {
            let settled = settled(&op, first.and_then(|input| input.quantisation.as_ref()));
            if settled.is_none() {
                return unsupported("it computes floats from quantised values");
            }
            (tensor.dtype, tensor.quantisation) = (DType::I8, settled);
        }
        let id = self.push(place, op, inputs, tensor)?;
        let stored = &self.file.tensors[index];
        let fixed = stored.open.is_empty() && !self.resized && !stored.dims.is_empty();
        if fixed && self.shape(id) != stored.dims {
            return Err(Refused::Fault(place.bad(format!(
                "its result is {}, but the file says {}",
                self.model.tensor(id).shape,
                Shape::new(stored.dims.clone())
            ))));
        }
        self.set(place, position, Value::Activated(id))?;
        Ok(id)
    }

    /// Adds a node whose result is the file's only result.
    pub(super) fn emit(
        &mut self,
        place: &Place<'a>,
        op: Op,
        inputs: Vec<TensorId>,
    ) -> Result<TensorId, Refused> {
        self.emit_shaped(place, 0, op, inputs, &[])
    }

    /// Adds a node for an operator that nothing here computes.
    fn opaque(&mut self, place: &Place<'a>, reason: &str) -> Result<(), FormatError> {
        let mut inputs = Vec::new();
        let kept = variables::found(self, place);
        for index in place.inputs.iter().flatten() {
            if let Some(Value::Activated(id)) = &self.values[*index] {
                inputs.push(*id);
            }
        }
        let mut outputs = Vec::new();
        for (position, index) in place.outputs.iter().enumerate() {
            let dims = self.file.tensors[*index].dims.clone();
            let value = match self.tensor_for(*index, &dims) {
                Err(_) => Value::Hidden,
                Ok(tensor) => {
                    let id = self.model.add_tensor(tensor);
                    outputs.push(id);
                    Value::Activated(id)
                }
            };
            self.set(place, position, value)?;
        }
        if !outputs.is_empty() {
            outputs.extend(kept.into_iter().map(|index| variables::left(self, index)));
            let name = match reason {
                "" => place.op.clone(),
                reason => format!("{} ({reason})", place.op),
            };
            let op = Op::Opaque { name };
            self.model.nodes.push(Node { name: place.name.clone(), op, inputs, outputs });
        }
        Ok(())
    }

    /// Element type and quantisation of a tensor of the graph.
    pub(super) fn kind(&self, id: TensorId) -> Kind {
        let tensor = self.model.tensor(id);
        (tensor.dtype, tensor.quantisation.clone())
    }

    /// Element type and quantisation of the file's result `position`.
    pub(super) fn result_kind(&self, place: &Place<'a>, position: usize) -> Result<Kind, Refused> {
        let index = self.result(place, position)?;
        self.kind_of(index).map_err(Refused::Unsupported)
    }

    /// Adds a node whose result the file does not name. A reshape takes `dims`.
    pub(super) fn part(
        &mut self,
        place: &Place<'a>,
        op: Op,
        inputs: Vec<TensorId>,
        (dtype, quantisation): Kind,
        dims: &[usize],
    ) -> Result<TensorId, FormatError> {
        let name = self.unique(&format!("{}.part", place.name));
        let shape = Shape::new(dims);
        self.push(place, op, inputs, Tensor { name, shape, dtype, quantisation, source: None })
    }

    fn push(
        &mut self,
        place: &Place<'a>,
        op: Op,
        inputs: Vec<TensorId>,
        tensor: Tensor,
    ) -> Result<TensorId, FormatError> {
        let name = tensor.name.clone();
        if self.model.nodes.len() >= self.limits.nodes {
            return Err(verified_file::too_many_nodes(self.model.nodes.len() + 1, self.limits));
        }
        let id = self.model.add_tensor(tensor);
        let node = Node { name: name.clone(), op, inputs, outputs: vec![id] };
        let shape = result_shape(&self.model, &node).map_err(|reason| place.bad(reason))?;
        elements(&name, shape.dims(), self.limits)?;
        self.model.tensors[id.0].shape = shape;
        self.model.nodes.push(node);
        Ok(id)
    }
}
