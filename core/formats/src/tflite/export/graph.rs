//! The graph as it grows.

use std::collections::BTreeMap;

use tilewright_model::{DType, Data, Model, Node, Tensor, TensorId};
use tilewright_tflite_schema::{self as fb, BuiltinOperator as Code};

use super::TfliteError;
use super::kind::Eight;
use super::options::Options;
use super::tables::{File, Graph, Operator, Scaled, Tensor as Written};
use super::weighted::ints;
use super::{states, versions};

/// Something with a form in the format, or the reason why there is none.
pub(super) type Made<T> = Result<T, String>;

/// A number as the format has it.
pub(super) fn int(value: usize) -> Made<i32> {
    i32::try_from(value).map_err(|_| format!("{value} does not fit 32 bits"))
}

pub(super) struct Writer<'m> {
    pub(super) model: &'m Model,
    pub(super) eight: Eight,
    /// Whether it computes with 8 bits: some tensor has such.
    pub(super) is_int8: bool,
    pub(super) graph: Graph,
    tensors: BTreeMap<TensorId, i32>,
    /// Weights, and whether they are those of a convolution of one pixel.
    pub(super) weights: BTreeMap<(TensorId, bool), i32>,
    /// Biases by their scales' bits.
    pub(super) biases: BTreeMap<(TensorId, Vec<u32>), i32>,
    /// Constant integers by dimensions and values.
    integers: BTreeMap<(Vec<i32>, Vec<i32>), i32>,
}

/// The file of a verified model.
pub(super) fn file(model: &Model, eight: Eight) -> Result<File, TfliteError> {
    let mut writer = Writer {
        model,
        eight,
        is_int8: model.tensors.iter().any(|tensor| tensor.dtype == DType::I8),
        graph: Graph { name: "main", ..Graph::default() },
        tensors: BTreeMap::new(),
        weights: BTreeMap::new(),
        biases: BTreeMap::new(),
        integers: BTreeMap::new(),
    };
    let port = |writer: &mut Writer<'_>, id: TensorId| {
        writer.tensor(id).map_err(|reason| {
            let tensor = model.tensor(id).name.clone();
            TfliteError::Tensor { tensor, reason }
        })
    };
    for (at, id) in model.inputs.iter().enumerate() {
        let index = port(&mut writer, *id)?;
        if !model.states.iter().any(|state| state.input == at) {
            writer.graph.inputs.push(index);
        }
    }
    let states = states::begin(&mut writer)?;
    for node in &model.nodes {
        writer.node(node).map_err(|reason| TfliteError::Node {
            node: node.name.clone(),
            op: node.op.name().to_owned(),
            reason,
        })?;
    }
    for (at, id) in model.outputs.iter().enumerate() {
        let index = port(&mut writer, *id)?;
        if !model.states.iter().any(|state| state.output == Some(at)) {
            writer.graph.outputs.push(index);
        }
    }
    states.end(&mut writer)?;
    let description = model.metadata.get("description").cloned();
    let graphs = [Some(writer.graph), states.graph].into_iter().flatten().collect();
    Ok(File { graphs, description })
}

impl<'m> Writer<'m> {
    pub(super) fn dims(&self, id: TensorId) -> &'m [usize] {
        self.model.tensor(id).shape.dims()
    }

    pub(super) fn name(&self, id: TensorId) -> &'m str {
        &self.model.tensor(id).name
    }

    pub(super) fn kind(&self, tensor: &Tensor) -> Made<fb::TensorType> {
        match (tensor.dtype, self.eight) {
            (DType::F32, _) => Ok(fb::TensorType::FLOAT32),
            (DType::I8, Eight::Signed) => Ok(fb::TensorType::INT8),
            (DType::I8, Eight::Unsigned) => Ok(fb::TensorType::UINT8),
            (DType::I32, _) => Ok(fb::TensorType::INT32),
            (other, _) => Err(format!("'{}' is of {}, without a scale", tensor.name, other.name())),
        }
    }

    /// A zero point as the file has it.
    pub(super) fn zero(&self, zero: i32) -> i64 {
        match self.eight {
            Eight::Signed => i64::from(zero),
            Eight::Unsigned => i64::from(zero) + 128,
        }
    }

    /// Values of 8 bits as the file has them.
    pub(super) fn eight_bits(&self, values: &[i8]) -> Vec<u8> {
        let flipped = if self.eight == Eight::Unsigned { 0x80 } else { 0 };
        values.iter().map(|value| value.cast_unsigned() ^ flipped).collect()
    }

    /// Scale and zero point of a tensor of 8 bits.
    fn scaled(&self, tensor: &Tensor) -> Made<Option<Scaled>> {
        let Some(quantisation) = &tensor.quantisation else { return Ok(None) };
        if tensor.dtype != DType::I8 {
            return Ok(None);
        }
        if quantisation.axis.is_some() && quantisation.scales.len() != 1 {
            return Err(format!("'{}' has a scale for each channel", tensor.name));
        }
        let zeros = vec![self.zero(quantisation.zero())];
        Ok(Some(Scaled { scales: vec![quantisation.scale(0)], zeros, axis: 0 }))
    }

    /// An activation or a constant operand.
    pub(super) fn tensor(&mut self, id: TensorId) -> Made<i32> {
        if let Some(known) = self.tensors.get(&id) {
            return Ok(*known);
        }
        let tensor = self.model.tensor(id);
        if tensor.shape.elements() == Some(0) {
            return Err(format!("'{}' has no elements", tensor.name));
        }
        let data = match &tensor.source {
            None => None,
            Some(source) => {
                let values = source.values();
                if values.len() != source.len() {
                    return Err(format!("the values of '{}' cannot be read", tensor.name));
                }
                Some(match values.as_ref() {
                    Data::I8(values) => self.eight_bits(values),
                    Data::F32(values) => words(values, |value| value.to_le_bytes()),
                    Data::I32(values) => words(values, |value| value.to_le_bytes()),
                })
            }
        };
        let written = Written {
            name: tensor.name.clone(),
            dims: ints(tensor.shape.dims())?,
            kind: self.kind(tensor)?,
            scaled: self.scaled(tensor)?,
            data,
        };
        let index = self.graph.tensor(written);
        self.tensors.insert(id, index);
        Ok(index)
    }

    /// A tensor between two operators that are one node: of type and quantisation of `id`, with a name
    /// after the node's result.
    pub(super) fn like(
        &mut self,
        node: &Node,
        id: TensorId,
        what: &str,
        dims: &[usize],
    ) -> Made<i32> {
        let tensor = self.model.tensor(id);
        let written = Written {
            name: format!("{}.{what}", self.name(node.outputs[0])),
            dims: ints(dims)?,
            kind: self.kind(tensor)?,
            scaled: self.scaled(tensor)?,
            data: None,
        };
        Ok(self.graph.tensor(written))
    }

    /// A constant of one element: of type and quantisation of `id`, a step of it or a real value.
    pub(super) fn scalar(
        &mut self,
        node: &Node,
        id: TensorId,
        what: &str,
        (step, real): (i8, f32),
    ) -> Made<i32> {
        let index = self.like(node, id, what, &[1])?;
        let data = match self.model.tensor(id).dtype {
            DType::I8 => self.eight_bits(&[step]),
            DType::F32 => real.to_le_bytes().to_vec(),
            _ => i32::from(step).to_le_bytes().to_vec(),
        };
        if let Some(tensor) = self.graph.tensors.last_mut() {
            tensor.data = Some(data);
        }
        Ok(index)
    }

    /// Constant 32-bit integers.
    pub(super) fn integers(&mut self, name: &str, dims: &[i32], values: &[i32]) -> i32 {
        let key = (dims.to_vec(), values.to_vec());
        if let Some(known) = self.integers.get(&key) {
            return *known;
        }
        let index = self.graph.tensor(Written {
            name: name.to_owned(),
            dims: dims.to_vec(),
            kind: fb::TensorType::INT32,
            scaled: None,
            data: Some(words(values, |value| value.to_le_bytes())),
        });
        self.integers.insert(key, index);
        index
    }

    pub(super) fn push(&mut self, code: Code, options: Options, inputs: &[i32], outputs: &[i32]) {
        let version = versions::version(code, &options, inputs.len(), self.is_int8);
        let (inputs, outputs) = (inputs.to_vec(), outputs.to_vec());
        self.graph.operators.push(Operator { code, version, options, inputs, outputs });
    }

    /// The same values under another shape.
    pub(super) fn reshape(&mut self, from: i32, to: i32, dims: &[usize]) -> Made<()> {
        let dims = ints(dims)?;
        let shape = self.integers("shape", &[int(dims.len())?], &dims);
        self.push(Code::RESHAPE, Options::Reshape(dims), &[from, shape], &[to]);
        Ok(())
    }
}

fn words<T: Copy>(values: &[T], bytes: impl Fn(T) -> [u8; 4]) -> Vec<u8> {
    values.iter().flat_map(|value| bytes(*value)).collect()
}
