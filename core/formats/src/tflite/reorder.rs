//! A file with its operators in another order and with offsets for the tensors in the arena of
//! TensorFlow Lite Micro; everything else stays byte for byte as it is.
//!
//! [`graph`] says what is in the file, whoever finds order and offsets, [`write`] puts them in. The
//! order changes the list of operators alone. Offsets are metadata of the name that the runtime
//! looks for; see [`write`] for how they get into a finished flat buffer.
//!
//! References in flat buffers point forwards, so the new file is a permuted list of operators and, before the old bytes, a new root with one
//! more buffer and one more metadata entry. Options need not be understood, and weights are not copied.

mod graph;
mod head;
mod state;
mod write;

use thiserror::Error;

use crate::FormatError;

pub use graph::graph;
pub use write::write;

/// Name of the metadata that holds offsets.
pub(crate) const OFFSETS: &str = "OfflineMemoryAllocation";

/// Why a file cannot be reordered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReorderError {
    /// It is no TensorFlow Lite file.
    #[error("only TensorFlow Lite files (.tflite) can be written in another order")]
    NotTfLite,
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FormatError),
    /// Something lies outside the flat buffer, by its position in the file or in another file.
    #[error(
        "{what} lies outside the flat buffer: TensorFlow Lite Micro cannot read such files, and \
         they cannot be written here"
    )]
    Outside {
        /// What does.
        what: String,
    },
    /// The order of operators is part of the file's meaning.
    #[error("the operators must stay in their order: {reason}")]
    Fixed {
        /// Why.
        reason: String,
    },
    /// A tensor of the arena that has no size for the runtime.
    #[error("'{tensor}': {reason}")]
    Tensor {
        /// The tensor.
        tensor: String,
        /// What about it.
        reason: String,
    },
    /// Order or offsets that are not for this file.
    #[error("{0}")]
    NotForThis(String),
    /// Parts of the file lie inside each other, so that a change of one changes another.
    #[error("parts of the file lie inside each other; convert the model again")]
    Entangled,
}
