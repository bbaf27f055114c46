//! TensorFlow Lite. The flatbuffer is verified once, by the schema's own verifier and then by
//! [`file`]; nothing is read from it before. Shapes come from the graph IR's inference as nodes are
//! added and must be those that the file states.
//!
//! Activations of uint8 become int8 by subtracting 128 from values and zero points, which changes
//! no real value.

mod decoding;
mod described;
mod dilation;
pub(crate) mod export;
mod importer;
mod ops;
mod quantised;
pub mod reorder;
mod sparse;
mod variables;
mod verified_file;

use tilewright_model::Model;

use crate::{FormatError, Limits};

/// Whether the bytes carry the format's identifier.
pub(crate) fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TFL3")
}

pub(crate) fn open(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    dims: &[(String, usize)],
) -> Result<Model, FormatError> {
    let file = verified_file::File::read(bytes, limits)?;
    let mut model = importer::import(&file, limits, dims)?;
    crate::stem(name, ".tflite").clone_into(&mut model.name);
    described::describe(&mut model, file.metadata, bytes, limits);
    crate::optimised(model)
}

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "the tests choose numbers that fit"
)]
mod tests;
