//! Why there is no comparison.

use thiserror::Error;
use tilewright_formats::FormatError;
use tilewright_model::RunError;

/// Why a model could not be compared with its float form. Each has a remedy: [`FloatError::what_to_do`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FloatError {
    /// The file is int8 already, and no ONNX file, which tract could run.
    #[error("the file is int8 already, and holds no float model to compare with")]
    NoFloat,
    /// There is nothing to run on.
    #[error("comparing needs at least one sample")]
    NoSamples,
    /// The file's bytes are not there, or not any more.
    #[error("the file cannot be read")]
    Unreadable,
    /// The file has more bytes than are read into memory.
    #[error("the file and those beside it have {bytes} bytes, more than the {limit} that are held")]
    TooLarge {
        /// Bytes of the file and of the values beside it, as far as they were counted.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The importer cannot read the file's inputs, or values beside it.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// An input of the file is not one of the model, or of a kind without values.
    #[error("input '{input}': {reason}")]
    Input {
        /// The input.
        input: String,
        /// What is wrong.
        reason: String,
    },
    /// tract does not run the file.
    #[error("tract does not run this file: {reason}")]
    Tract {
        /// What it says.
        reason: String,
    },
    /// One of our interpreters does not run the model.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The caller asked for an end.
    #[error("the comparison was stopped")]
    Stopped,
}

impl FloatError {
    /// What helps.
    #[must_use]
    pub const fn what_to_do(&self) -> &'static str {
        match self {
            Self::NoFloat => {
                "Give the float model that it was made from; or its ONNX file, if it has one."
            }
            Self::NoSamples => "Give some real inputs as a .npy file.",
            Self::Unreadable => "Open the file again.",
            Self::TooLarge { .. } => "Give a smaller model.",
            Self::Format(_) => "Export the model again, with the files that belong to it.",
            Self::Input { .. } => "Export the model with inputs of 32-bit floats.",
            Self::Tract { .. } => {
                "Export the model with operators of ONNX itself, of operator set 13 to 18; or give its \
                 float form as a TensorFlow Lite file."
            }
            Self::Run(_) => "Give a model whose operators are all supported.",
            Self::Stopped => "Start it again if you still need it.",
        }
    }
}
