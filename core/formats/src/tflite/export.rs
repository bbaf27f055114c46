//! TensorFlow Lite out: int8 models, and float ones. The graph has the format's own order of
//! dimensions, so that operators go over one to one. What the format cannot say as one operator becomes
//! two or three that give the same values: padding that is neither SAME nor VALID goes into an operator
//! in front, a pooling window at odd places is slid by one pixel and its results are picked.
//!
//! An int8 model becomes a file of int8 unless something in it is computed as TensorFlow Lite computes
//! with uint8 alone; then all its tensors of 8 bits are uint8. Inputs and outputs are the graph's:
//! integers also where the model's own file had floats there.

mod functions;
mod graph;
mod kind;
mod node;
mod options;
mod pixels;
mod states;
mod tables;
mod versions;
mod weighted;
mod window;

use thiserror::Error;
use tilewright_model::{Model, VerifyError};

use kind::Eight;

/// Longest file: flat buffers are shorter than 2 GiB.
const LONGEST: u64 = (1 << 31) - 1;

/// Why a model was not written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TfliteError {
    /// The graph is faulty.
    #[error(transparent)]
    Model(#[from] VerifyError),
    /// TensorFlow Lite has no such operator, or not with this arithmetic.
    #[error("node '{node}' ({op}) has no form in TensorFlow Lite: {reason}")]
    Node {
        /// The node.
        node: String,
        /// Its operator.
        op: String,
        /// What is missing, and what may help.
        reason: String,
    },
    /// A tensor of the model's interface cannot be written.
    #[error("'{tensor}' has no form in TensorFlow Lite: {reason}")]
    Tensor {
        /// The tensor, or the value that lives from one run to the next.
        tensor: String,
        /// What is missing.
        reason: String,
    },
    /// The file would be too long.
    #[error("the file would have up to {bytes} bytes; TensorFlow Lite files end at 2 GiB")]
    TooLarge {
        /// Its bytes, from above.
        bytes: u64,
    },
}

/// Writes a model as TensorFlow Lite. Read again, the file gives the same int8 results.
///
/// # Errors
/// If the graph is faulty, an operator, a quantisation or an element type has no exact form in
/// TensorFlow Lite, constants cannot be read, or the file would be longer than 2 GiB.
pub fn export_tflite(model: &Model) -> Result<Vec<u8>, TfliteError> {
    model.verify()?;
    let constants = model.tensors.iter().filter(|tensor| tensor.is_constant());
    let constants = constants.map(|tensor| tensor.bytes().map_or(u64::MAX, |bytes| bytes as u64));
    let bytes = constants.fold(0, u64::saturating_add);
    if bytes > LONGEST {
        return Err(TfliteError::TooLarge { bytes });
    }
    let file = graph::file(model, Eight::of(model))?;
    let bytes = file.most_bytes();
    if bytes > LONGEST {
        return Err(TfliteError::TooLarge { bytes });
    }
    Ok(file.bytes())
}
