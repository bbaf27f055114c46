//! Model files: ONNX in and out, TensorFlow Lite in, and out in another order. Inputs in: PNG, NumPy arrays, raw bytes.
//!
//! Everything works on bytes in memory; hosts read the files.

pub mod error;
pub mod input;
mod onnx;
mod tflite;

use tilewright_model::Model;

pub use error::{FormatError, UnsupportedOperator};
pub use onnx::{ExportError, export};
pub use tflite::reorder;

/// What an import may take. Its memory stays below 10 times the file plus 16 bytes for each of
/// `total_elements`.
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
            file_bytes: 600 << 20,
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
    if bytes.len() > limits.file_bytes {
        return Err(FormatError::TooLarge {
            what: "the file's bytes".to_owned(),
            size: bytes.len().to_string(),
            limit: limits.file_bytes,
        });
    }
    if tflite::is_tflite(bytes) {
        return tflite::open(name, bytes, limits, dims);
    }
    onnx::open(name, bytes, limits, dims)
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
