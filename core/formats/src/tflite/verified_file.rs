//! A verified file: every index, size and type that later code relies on is checked here.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tilewright_tflite_schema as fb;

use super::dilation::{self, Spread};
use super::{sparse, variables};
use crate::{FormatError, Limits, elements};

/// Deepest nesting of tables; a model without subgraphs in subgraphs needs six.
const DEEPEST: usize = 16;

/// Longest name of a tensor in bytes: names go into nodes, of which many may name one tensor.
const LONGEST_NAME: usize = 4096;

/// Characters of a custom operator's name that are kept, for the same reason.
const LONGEST_OPERATOR: usize = 100;

/// Name of the buffer that says what the model is for.
const METADATA: &str = "TFLITE_METADATA";

/// Most dimensions of a tensor.
const MOST_DIMENSIONS: usize = 8;

/// How integers stand for real numbers, as the file says it: real = scale × (q − zero).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stated {
    pub(super) scales: Vec<f32>,
    /// They are those of 8 bits.
    pub(super) zeros: Vec<i16>,
    /// The dimension that several scales run along.
    pub(super) axis: usize,
}

/// A tensor of the file.
#[derive(Clone, Debug)]
pub(super) struct Stored<'a> {
    pub(super) name: String,
    /// Sizes; an open dimension has the size that the file gives it for now.
    pub(super) dims: Vec<usize>,
    /// Dimensions that the file leaves open.
    pub(super) open: Vec<usize>,
    pub(super) kind: fb::TensorType,
    pub(super) quantisation: Option<Stated>,
    /// Values, if constant: as many bytes as shape and type need.
    pub(super) data: Option<Cow<'a, [u8]>>,
    /// Whether operators find in it what they left there in the run before.
    pub(super) is_variable: bool,
    /// Why the tensor cannot be used, if so; an error only where it is.
    pub(super) fault: Option<String>,
}

impl Stored<'_> {
    pub(super) fn bad(&self, reason: impl Into<String>) -> FormatError {
        FormatError::Interface { name: self.name.clone(), reason: reason.into() }
    }

    /// Name of the element type.
    pub(super) fn kind_name(&self) -> String {
        self.kind.variant_name().map_or_else(|| format!("{:?}", self.kind), str::to_lowercase)
    }
}

/// Where an operator stands.
#[derive(Clone)]
pub(super) struct Place<'a> {
    pub(super) operator: fb::Operator<'a>,
    pub(super) code: fb::BuiltinOperator,
    /// Operator type as users know it.
    pub(super) op: String,
    /// Index in the file.
    pub(super) index: usize,
    /// Name of its first result.
    pub(super) name: String,
    /// Tensors of the file; nothing where an optional operand is left out.
    pub(super) inputs: Vec<Option<usize>>,
    pub(super) outputs: Vec<usize>,
    /// Of a convolution that the file spreads over batches.
    pub(super) spread: Option<Spread>,
}

impl Place<'_> {
    pub(super) fn bad(&self, reason: impl Into<String>) -> FormatError {
        FormatError::Node {
            node: self.name.clone(),
            index: self.index,
            op: self.op.clone(),
            reason: reason.into(),
        }
    }
}

pub(super) struct File<'a> {
    /// What variables are assigned before the first run.
    pub(super) initial: BTreeMap<String, Stored<'a>>,
    pub(super) description: Option<&'a str>,
    /// What it says of its use: a flat buffer that is not verified; empty if there is none.
    pub(super) metadata: &'a [u8],
    pub(super) tensors: Vec<Stored<'a>>,
    pub(super) places: Vec<Place<'a>>,
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
}

pub(super) fn damaged(reason: impl Into<String>) -> FormatError {
    FormatError::Damaged { reason: reason.into() }
}

/// The root of a file whose every reference lies inside it.
pub(super) fn verified<'a>(bytes: &'a [u8], limits: &Limits) -> Result<fb::Model<'a>, FormatError> {
    let options = flatbuffers::VerifierOptions {
        max_depth: DEEPEST,
        max_tables: limits.records,
        // Tables that share their parts make the verifier walk these again.
        max_apparent_size: bytes.len().saturating_mul(4).saturating_add(1 << 16),
        ignore_missing_null_terminator: true,
    };
    let model = fb::root_as_model_with_opts(&options, bytes)
        .map_err(|error| damaged(one_line(&error.to_string())))?;
    if model.version() != 3 {
        return Err(FormatError::NotAModel {
            reason: format!("version {} of TensorFlow Lite's schema, not 3", model.version()),
        });
    }
    Ok(model)
}

impl<'a> File<'a> {
    pub(super) fn read(bytes: &'a [u8], limits: &Limits) -> Result<Self, FormatError> {
        let model = verified(bytes, limits)?;
        let graph = model
            .subgraphs()
            .filter(|graphs| !graphs.is_empty())
            .map(|graphs| graphs.get(0))
            .ok_or_else(|| FormatError::NotAModel { reason: "it holds no graph".to_owned() })?;
        let buffers: Vec<&'a [u8]> = model
            .buffers()
            .iter()
            .flatten()
            .map(|buffer| buffer.data().map_or(&[][..], |data| data.bytes()))
            .collect();
        let mut made = 0;
        let tensors = graph
            .tensors()
            .iter()
            .flatten()
            .enumerate()
            .map(|(index, tensor)| {
                let stored = stored(index, tensor, &buffers, limits)?;
                if let Some(Cow::Owned(bytes)) = &stored.data {
                    made += bytes.len();
                }
                match made > limits.total_elements {
                    true => Err(stored.bad("with it sparse tensors take too much memory")),
                    false => Ok(stored),
                }
            })
            .collect::<Result<Vec<_>, _>>()?;
        let index = |value: i32, place: &dyn Fn() -> String| {
            usize::try_from(value).ok().filter(|index| *index < tensors.len()).ok_or_else(|| {
                damaged(format!("{} names tensor {value} of {}", place(), tensors.len()))
            })
        };
        let interface = |list: Option<flatbuffers::Vector<'a, i32>>, what: &str| {
            let place = || format!("the graph's list of {what}s");
            list.iter().flatten().map(|value| index(value, &place)).collect::<Result<Vec<_>, _>>()
        };
        let count = graph.operators().map_or(0, |operators| operators.len());
        if count > limits.nodes {
            return Err(too_many_nodes(count, limits));
        }
        let mut places = Vec::with_capacity(count);
        for (number, operator) in graph.operators().iter().flatten().enumerate() {
            let place = || format!("operator {number}");
            let (code, op) = code(&model, &operator, number)?;
            let inputs = operator
                .inputs()
                .iter()
                .flatten()
                .map(|value| if value == -1 { Ok(None) } else { index(value, &place).map(Some) })
                .collect::<Result<_, _>>()?;
            let outputs = operator
                .outputs()
                .iter()
                .flatten()
                .map(|value| index(value, &place))
                .collect::<Result<Vec<usize>, _>>()?;
            let name = outputs.first().map_or_else(place, |output| tensors[*output].name.clone());
            let index = number;
            places.push(Place { operator, code, op, index, name, inputs, outputs, spread: None });
        }
        let outputs = interface(graph.outputs(), "output")?;
        let metadata =
            model.metadata().iter().flatten().find(|entry| entry.name() == Some(METADATA));
        let metadata = metadata.and_then(|entry| buffers.get(entry.buffer() as usize).copied());
        Ok(Self {
            initial: variables::initial(&model, &graph, &buffers, limits)?,
            description: model.description(),
            metadata: metadata.unwrap_or_default(),
            inputs: interface(graph.inputs(), "input")?,
            places: dilation::gather(places, &tensors, &outputs),
            outputs,
            tensors,
        })
    }
}

pub(super) fn too_many_nodes(count: usize, limits: &Limits) -> FormatError {
    let (what, size) = ("nodes".to_owned(), count.to_string());
    FormatError::TooLarge { what, size, limit: limits.nodes }
}

/// The verifier's message with its trace, which names byte offsets, on one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An operator's type, and how users know it.
pub(super) fn code(
    model: &fb::Model<'_>,
    operator: &fb::Operator<'_>,
    number: usize,
) -> Result<(fb::BuiltinOperator, String), FormatError> {
    let codes = model.operator_codes();
    let count = codes.map_or(0, |codes| codes.len());
    let index = operator.opcode_index() as usize;
    let entry = codes.filter(|_| index < count).map(|codes| codes.get(index)).ok_or_else(|| {
        damaged(format!("operator {number} has type {index}, but the file lists {count} types"))
    })?;
    // Old files have the type in a byte, new ones in a wider field besides.
    let wide = entry.builtin_code();
    let old = fb::BuiltinOperator(i32::from(entry.deprecated_builtin_code()));
    let code = if wide.0 >= old.0 { wide } else { old };
    let name = match (code, entry.custom_code()) {
        (fb::BuiltinOperator::CUSTOM, Some(custom)) => {
            let name: String = custom.chars().take(LONGEST_OPERATOR).collect();
            format!("custom operator {name}")
        }
        (code, _) => {
            code.variant_name().map_or_else(|| format!("operator type {}", code.0), str::to_owned)
        }
    };
    Ok((code, name))
}

pub(super) fn stored<'a>(
    index: usize,
    tensor: fb::Tensor<'a>,
    buffers: &[&'a [u8]],
    limits: &Limits,
) -> Result<Stored<'a>, FormatError> {
    let name = match tensor.name() {
        None | Some("") => format!("tensor {index}"),
        Some(name) if name.len() > LONGEST_NAME => {
            return Err(damaged(format!("the name of tensor {index} has {} bytes", name.len())));
        }
        Some(name) => name.to_owned(),
    };
    let bad = |reason: String| FormatError::Interface { name: name.clone(), reason };
    let shape: Vec<i32> = tensor.shape().iter().flatten().collect();
    let signature: Vec<i32> = tensor.shape_signature().iter().flatten().collect();
    if shape.len() > MOST_DIMENSIONS {
        return Err(bad(format!("{} dimensions, at most {MOST_DIMENSIONS}", shape.len())));
    }
    let is_open = |axis: usize| {
        shape[axis] == -1 || (signature.len() == shape.len() && signature[axis] == -1)
    };
    let open: Vec<usize> = (0..shape.len()).filter(|axis| is_open(*axis)).collect();
    let dims = shape
        .iter()
        .map(|dim| if *dim == -1 { Some(1) } else { usize::try_from(*dim).ok() })
        .collect::<Option<Vec<usize>>>()
        .ok_or_else(|| bad(format!("dimensions {shape:?}")))?;
    let count = elements(&name, &dims, limits)?;
    let kind = tensor.type_();
    let bytes = buffers.get(tensor.buffer() as usize).copied().ok_or_else(|| {
        bad(format!("its values are buffer {} of {}", tensor.buffer(), buffers.len()))
    })?;
    let mut fault = None;
    let mut data = None;
    if let (Some(sparsity), Some(width)) = (tensor.sparsity(), width(kind)) {
        match sparse::dense(sparsity, &dims, width, bytes) {
            Ok(bytes) => data = Some(bytes),
            Err(reason) => fault = Some(reason),
        }
    } else if !bytes.is_empty() {
        match width(kind) {
            Some(width) if count.checked_mul(width) != Some(bytes.len()) => {
                return Err(bad(format!(
                    "{} bytes of values for {dims:?} of {width} bytes each",
                    bytes.len()
                )));
            }
            _ => data = Some(Cow::Borrowed(bytes)),
        }
    }
    let quantisation = quantisation(&tensor, &dims, kind, data.is_some()).map_err(bad)?;
    let is_variable = tensor.is_variable();
    Ok(Stored { name, dims, open, kind, quantisation, data, is_variable, fault })
}

/// Bytes of an element; nothing for types whose elements are no whole bytes.
const fn width(kind: fb::TensorType) -> Option<usize> {
    Some(match kind {
        fb::TensorType::FLOAT32 | fb::TensorType::INT32 | fb::TensorType::UINT32 => 4,
        fb::TensorType::FLOAT16 | fb::TensorType::INT16 | fb::TensorType::UINT16 => 2,
        fb::TensorType::FLOAT64
        | fb::TensorType::INT64
        | fb::TensorType::UINT64
        | fb::TensorType::COMPLEX64 => 8,
        fb::TensorType::INT8 | fb::TensorType::UINT8 | fb::TensorType::BOOL => 1,
        fb::TensorType::COMPLEX128 => 16,
        _ => return None,
    })
}

fn quantisation(
    tensor: &fb::Tensor<'_>,
    dims: &[usize],
    kind: fb::TensorType,
    is_constant: bool,
) -> Result<Option<Stated>, String> {
    let Some(table) = tensor.quantization() else { return Ok(None) };
    let scales: Vec<f32> = table.scale().iter().flatten().collect();
    if scales.is_empty() {
        return Ok(None);
    }
    // The converter writes scales for biases too, which follow from those of input and weights.
    if !matches!(kind, fb::TensorType::INT8 | fb::TensorType::UINT8) {
        return Ok(None);
    }
    if let Some(scale) = scales.iter().find(|scale| !scale.is_finite() || **scale <= 0.0) {
        return Err(format!("its scale {scale} is not positive and finite"));
    }
    let range = if kind == fb::TensorType::UINT8 { 0..=255 } else { -128..=127 };
    let zero = |zero: i64| {
        let of_8_bits = i16::try_from(zero).ok().filter(|zero| range.contains(zero));
        of_8_bits.ok_or_else(|| format!("its zero point {zero} is outside {range:?}"))
    };
    let zeros = table.zero_point();
    let zeros = zeros.iter().flatten().map(|value| zero(i64::from(*value)));
    let mut zeros: Vec<i16> = zeros.collect::<Result<_, _>>()?;
    if zeros.is_empty() {
        zeros.push(0);
    }
    if zeros.len() == 1 {
        zeros.resize(scales.len(), zeros[0]);
    }
    let axis = usize::try_from(table.quantized_dimension()).unwrap_or(usize::MAX);
    let slices = if scales.len() == 1 { Some(1) } else { dims.get(axis).copied() };
    if slices != Some(scales.len()) || zeros.len() != scales.len() {
        return Err(format!(
            "{} scales and {} zero points along dimension {axis} of {dims:?}",
            scales.len(),
            zeros.len()
        ));
    }
    if scales.len() > 1 && !is_constant {
        return Err("a scale for each channel of an activation is not supported".to_owned());
    }
    Ok(Some(Stated { scales, zeros, axis }))
}
