//! What a file holds, as the runtime sees it.

use tilewright_model::file_graph::{FileGraph, FileOperator, FileSubgraph, FileTensor, Storage};
use tilewright_tflite_schema as fb;

use super::{OFFSETS, ReorderError, state};
use crate::tflite::is_tflite;
use crate::tflite::verified_file::{code, damaged, verified};
use crate::{FormatError, Limits};

/// Metadata that names operators by their positions.
const CONTROL: &str = "model_control_dependencies";

/// Operator of the runtime whose results can lie in memory that the next one of its kind reuses.
const DECODE: &str = "TFLM_DECODE";

/// Letters of a name in messages.
const NAME_LETTERS: usize = 60;

/// The graphs of a TensorFlow Lite file, with the offsets that it prescribes, if it does.
///
/// # Errors
/// [`ReorderError`] says what is wrong with the file, or why it must stay as it is.
pub fn graph(bytes: &[u8], limits: &Limits) -> Result<FileGraph, ReorderError> {
    if bytes.len() > limits.file_bytes {
        return Err(ReorderError::File(FormatError::TooLarge {
            what: "the file's bytes".to_owned(),
            size: bytes.len().to_string(),
            limit: limits.file_bytes,
        }));
    }
    if !is_tflite(bytes) {
        return Err(ReorderError::NotTfLite);
    }
    let model = verified(bytes, limits)?;
    for metadata in model.metadata().iter().flatten() {
        if metadata.name() == Some(CONTROL) {
            let reason = format!("its metadata '{CONTROL}' names operators by their positions");
            return Err(ReorderError::Fixed { reason });
        }
    }
    let filled = filled(&model)?;
    let graphs = model.subgraphs();
    let count = graphs.map_or(0, |graphs| graphs.len());
    if count == 0 {
        let reason = "it holds no graph".to_owned();
        return Err(ReorderError::File(FormatError::NotAModel { reason }));
    }
    let mut subgraphs = Vec::with_capacity(count);
    let mut nodes = 0usize;
    for graph in graphs.iter().flatten() {
        nodes = nodes.saturating_add(graph.operators().map_or(0, |operators| operators.len()));
        if nodes > limits.nodes {
            return Err(ReorderError::File(FormatError::TooLarge {
                what: "nodes".to_owned(),
                size: nodes.to_string(),
                limit: limits.nodes,
            }));
        }
        subgraphs.push(subgraph(&model, &graph, &filled, count)?);
    }
    let tensors = subgraphs.iter().map(|graph| graph.tensors.len()).sum();
    let offsets = offsets(&model, tensors);
    Ok(FileGraph { subgraphs, offsets })
}

/// Of each buffer whether it holds bytes.
fn filled(model: &fb::Model<'_>) -> Result<Vec<bool>, ReorderError> {
    let buffers = model.buffers();
    let mut filled = Vec::with_capacity(buffers.map_or(0, |buffers| buffers.len()));
    for (index, buffer) in buffers.iter().flatten().enumerate() {
        // 0 and 1 stand for no position.
        if buffer.offset() > 1 {
            return Err(ReorderError::Outside { what: format!("buffer {index}") });
        }
        filled.push(buffer.data().is_some_and(|data| !data.is_empty()));
    }
    Ok(filled)
}

fn subgraph(
    model: &fb::Model<'_>,
    graph: &fb::SubGraph<'_>,
    filled: &[bool],
    graphs: usize,
) -> Result<FileSubgraph, ReorderError> {
    let mut tensors = Vec::with_capacity(graph.tensors().map_or(0, |tensors| tensors.len()));
    for (index, stored) in graph.tensors().iter().flatten().enumerate() {
        tensors.push(tensor(index, &stored, filled)?);
    }
    let known = |value: i32, place: &dyn Fn() -> String| {
        usize::try_from(value).ok().filter(|index| *index < tensors.len()).ok_or_else(|| {
            let (place, count) = (place(), tensors.len());
            ReorderError::File(damaged(format!("{place} names tensor {value} of {count}")))
        })
    };
    let interface = |list: Option<flatbuffers::Vector<'_, i32>>, what: &str| {
        let place = || format!("the graph's list of {what}s");
        list.iter().flatten().map(|value| known(value, &place)).collect::<Result<Vec<_>, _>>()
    };
    let mut operators = Vec::new();
    let mut touches = Vec::new();
    for (number, stored) in graph.operators().iter().flatten().enumerate() {
        let place = || format!("operator {number}");
        let (code, kind) = code(model, &stored, number)?;
        if stored.large_custom_options_offset() > 1 {
            return Err(ReorderError::Outside { what: format!("the options of {}", place()) });
        }
        if code == fb::BuiltinOperator::CUSTOM && kind.ends_with(DECODE) {
            let reason = format!("{kind} ({}) unpacks weights for what follows it", place());
            return Err(ReorderError::Fixed { reason });
        }
        let read: Vec<i32> = stored.inputs().iter().flatten().collect();
        let inputs = read.iter().filter(|value| **value != -1).map(|value| known(*value, &place));
        let inputs = inputs.collect::<Result<Vec<usize>, _>>()?;
        let written = stored.outputs();
        let outputs = written.iter().flatten().map(|value| known(value, &place));
        let outputs = outputs.collect::<Result<Vec<usize>, _>>()?;
        let keeps_bytes = code == fb::BuiltinOperator::RESHAPE
            && outputs.len() == 1
            && read.first().is_some_and(|value| *value != -1);
        let result = outputs.first().map_or("", |output| tensors[*output].name.as_str());
        let name = shortened(&format!("{kind} '{result}'"));
        let calls = calls(&stored, number, graphs)?;
        touches.push(state::touch(code, &stored, &tensors, &inputs, &outputs));
        let after = Vec::new();
        operators.push(FileOperator { name, inputs, outputs, after, keeps_bytes, calls });
    }
    for (operator, after) in operators.iter_mut().zip(state::after(&touches)) {
        operator.after = after;
    }
    let inputs = interface(graph.inputs(), "input")?;
    let outputs = interface(graph.outputs(), "output")?;
    Ok(FileSubgraph { tensors, operators, inputs, outputs })
}

/// Graphs that run inside an operator.
fn calls(
    operator: &fb::Operator<'_>,
    number: usize,
    graphs: usize,
) -> Result<Vec<usize>, ReorderError> {
    let mut called = Vec::new();
    if let Some(options) = operator.builtin_options_as_if_options() {
        called.extend([options.then_subgraph_index(), options.else_subgraph_index()]);
    } else if let Some(options) = operator.builtin_options_as_while_options() {
        called.extend([options.cond_subgraph_index(), options.body_subgraph_index()]);
    } else if let Some(options) = operator.builtin_options_as_call_once_options() {
        called.push(options.init_subgraph_index());
    }
    let index = |value: i32| {
        usize::try_from(value).ok().filter(|index| *index < graphs).ok_or_else(|| {
            let fault = format!("operator {number} calls graph {value} of {graphs}");
            ReorderError::File(damaged(fault))
        })
    };
    called.into_iter().filter(|value| *value != -1).map(index).collect()
}

fn tensor(
    index: usize,
    stored: &fb::Tensor<'_>,
    filled: &[bool],
) -> Result<FileTensor, ReorderError> {
    let name = match stored.name() {
        None | Some("") => format!("tensor {index}"),
        Some(name) => shortened(name),
    };
    if stored.external_buffer() != 0 {
        return Err(ReorderError::Outside { what: format!("'{name}'") });
    }
    let has_values = filled.get(stored.buffer() as usize).copied().ok_or_else(|| {
        let (buffer, count) = (stored.buffer(), filled.len());
        ReorderError::File(damaged(format!("'{name}' names buffer {buffer} of {count}")))
    })?;
    let storage = match (stored.is_variable(), has_values) {
        (true, _) => Storage::Variable,
        (false, true) => Storage::Constant,
        (false, false) => Storage::Arena,
    };
    let bytes = match storage {
        Storage::Constant => 0,
        Storage::Variable => bytes(stored).unwrap_or(0),
        Storage::Arena => {
            bytes(stored).map_err(|reason| ReorderError::Tensor { tensor: name.clone(), reason })?
        }
    };
    Ok(FileTensor { name, bytes, storage })
}

/// Bytes that the runtime gives a tensor, or why it cannot.
fn bytes(tensor: &fb::Tensor<'_>) -> Result<u64, String> {
    let kind = tensor.type_();
    let width = match kind {
        // Two values of four bits take two bytes.
        fb::TensorType::INT8
        | fb::TensorType::UINT8
        | fb::TensorType::BOOL
        | fb::TensorType::INT4 => 1,
        fb::TensorType::FLOAT16 | fb::TensorType::INT16 | fb::TensorType::UINT16 => 2,
        fb::TensorType::FLOAT32
        | fb::TensorType::INT32
        | fb::TensorType::UINT32
        | fb::TensorType::RESOURCE => 4,
        fb::TensorType::FLOAT64
        | fb::TensorType::INT64
        | fb::TensorType::UINT64
        | fb::TensorType::COMPLEX64 => 8,
        fb::TensorType::COMPLEX128 => 16,
        _ => {
            let word = kind.variant_name().map_or_else(|| kind.0.to_string(), str::to_lowercase);
            return Err(format!("TensorFlow Lite Micro has no size for elements of type {word}"));
        }
    };
    let mut bytes: u64 = width;
    for dim in tensor.shape().iter().flatten() {
        let dim = u64::try_from(dim)
            .map_err(|_| "TensorFlow Lite Micro needs a fixed size for each dimension")?;
        bytes = bytes.saturating_mul(dim);
    }
    // The runtime counts elements in 32 bits.
    if bytes > i32::MAX as u64 {
        return Err(format!("{bytes} bytes are more than TensorFlow Lite Micro can count"));
    }
    Ok(bytes)
}

/// The start of a name: many operators may share one that is long.
fn shortened(name: &str) -> String {
    match name.char_indices().nth(NAME_LETTERS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// The offsets that the file prescribes; nothing if they are not for its tensors.
fn offsets(model: &fb::Model<'_>, tensors: usize) -> Option<Vec<i32>> {
    // The runtime takes the last of several.
    let metadata = model.metadata()?;
    let last = metadata.iter().rfind(|metadata| metadata.name() == Some(OFFSETS))?;
    let buffers = model.buffers()?;
    let index = Some(last.buffer() as usize).filter(|index| *index < buffers.len())?;
    let data = buffers.get(index).data()?;
    let words = data.bytes().chunks_exact(4);
    let mut words = words.map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let count = words.nth(2)?;
    let offsets: Vec<i32> = words.take(tensors).collect();
    (usize::try_from(count) == Ok(tensors) && offsets.len() == tensors).then_some(offsets)
}
