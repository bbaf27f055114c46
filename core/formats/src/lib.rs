//! Model files: ONNX in and out, TensorFlow Lite in and out, and in another order. Inputs in: PNG, NumPy arrays, raw bytes,
//! labelled images.
//!
//! Hosts have the files: bytes in memory, or whatever else gives parts of them.
#![warn(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

mod class_names;
pub mod error;
mod file;
mod idx;
pub mod input;
mod labelled;
mod numbers;
mod onnx;
mod tflite;

use std::sync::Arc;

use tilewright_model::{Model, passes};

pub use class_names::take_class_file;
pub use error::{FormatError, UnsupportedOperator};
pub use file::{Beside, ModelFile, inside};
pub use idx::{IdxError, IdxImages, idx_images, idx_labels};
pub use labelled::{LabelledError, LabelledImages, MOST_UNPACKED, unpacked};
pub use onnx::{ExportError, FileInput, export};
pub use tflite::export::{TfliteError, export_tflite};
pub use tflite::reorder;

/// What an import may take. Its memory stays below 10 times the file's bytes that are no large
/// tensors' plus 16 for each of `total_elements`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest file in bytes.
    pub file_bytes: usize,
    /// Most elements of one tensor, activation or constant.
    pub tensor_elements: usize,
    /// Most elements of all constants together.
    pub total_elements: usize,
    /// Most nodes.
    pub nodes: usize,
    /// Most fields of nodes, values and attributes together.
    pub records: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // What protobuf and flat buffers can address.
            file_bytes: i32::MAX as usize,
            tensor_elements: 1 << 27,
            total_elements: 1 << 28,
            nodes: 10_000,
            records: 1 << 20,
        }
    }
}

/// Reads a model: ONNX or TensorFlow Lite, told apart by their bytes. It is float or int8 as the
/// file is. `name` is the file's name, for the model's; `dims` gives sizes to symbolic
/// dimensions of the inputs by name (an unnamed one is `input[axis]`). A symbolic first dimension
/// is the batch and defaults to 1.
///
/// Activations of rank 4 become NHWC; an input that the file takes as NCHW is NHWC in the model.
/// The graph has been through [`tilewright_model::passes::optimise`].
///
/// # Errors
/// Says what is wrong with the file and where; never panics on any bytes.
pub fn open(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    dims: &[(String, usize)],
) -> Result<Model, FormatError> {
    if tflite::is_tflite(bytes) && bytes.len() <= limits.file_bytes {
        return tflite::open(name, bytes, limits, dims);
    }
    open_file(&ModelFile::alone(name, Arc::new(bytes.to_vec())), limits, dims)
}

/// As [`open`], of a file that is read in parts, with others beside it. Weights of a million
/// elements and more are not kept in memory: the model has them as [`tilewright_model::Ranged`].
///
/// # Errors
/// As [`open`]; [`FormatError::MissingData`] where a file that it names is not beside it.
pub fn open_file(
    file: &ModelFile<'_>,
    limits: &Limits,
    dims: &[(String, usize)],
) -> Result<Model, FormatError> {
    let size = file.bytes.size();
    if size > limits.file_bytes as u64 {
        return Err(FormatError::TooLarge {
            what: "the file's bytes".to_owned(),
            size: size.to_string(),
            limit: limits.file_bytes,
        });
    }
    let read = |length: u64| {
        let bytes = usize::try_from(length).ok().and_then(|length| file.bytes.read(0, length));
        bytes.ok_or_else(|| FormatError::Damaged { reason: "it cannot be read".to_owned() })
    };
    if tflite::is_tflite(&read(size.min(64))?) {
        return tflite::open(file.name, &read(size)?, limits, dims);
    }
    onnx::open(file, limits, dims)
}

/// How an ONNX file takes its inputs, those that are constants left out; nothing of a TensorFlow
/// Lite file, which takes them as the model does. `dims` is that of [`open_file`].
///
/// # Errors
/// As [`open_file`], of the file's inputs alone.
pub fn file_inputs(
    file: &ModelFile<'_>,
    limits: &Limits,
    dims: &[(String, usize)],
) -> Result<Option<Vec<FileInput>>, FormatError> {
    let head = usize::try_from(file.bytes.size().min(64)).unwrap_or(64);
    let head = file.bytes.read(0, head);
    let head =
        head.ok_or_else(|| FormatError::Damaged { reason: "it cannot be read".to_owned() })?;
    if tflite::is_tflite(&head) { Ok(None) } else { onnx::inputs(file, limits, dims).map(Some) }
}

/// The model after all passes, without outputs that turned out to be constant.
fn optimised(model: Model) -> Result<Model, FormatError> {
    let mut model = passes::optimise(model)?.0;
    model.leave_out_constant_outputs();
    if model.outputs.is_empty() {
        let reason = "no output depends on an input: all are constant".to_owned();
        return Err(FormatError::Interface { name: model.name, reason });
    }
    Ok(model)
}

/// A file's name without its folders and `ending`.
fn stem<'n>(name: &'n str, ending: &str) -> &'n str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.strip_suffix(ending).unwrap_or(file)
}

/// Number of elements of a shape.
fn elements(name: &str, dims: &[usize], limits: &Limits) -> Result<usize, FormatError> {
    let count = dims.iter().try_fold(1usize, |product, dim| product.checked_mul(*dim));
    count.filter(|count| *count <= limits.tensor_elements).ok_or_else(|| FormatError::TooLarge {
        what: format!("elements of '{name}' {dims:?}"),
        size: count.map_or("beyond the address space".to_owned(), |count| count.to_string()),
        limit: limits.tensor_elements,
    })
}
