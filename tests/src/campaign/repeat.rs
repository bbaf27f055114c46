//! A failure in a file, to be repeated.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tilewright_model::{Model, Source};

use super::{Case, Engine};

/// A network and a case of it that failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// The network, with its weights.
    pub model: Model,
    pub case: Case,
    /// Where it ran.
    pub engine: Engine,
}

impl Failure {
    /// A failure of a network whose weights may still lie in its file.
    #[must_use]
    pub fn new(mut model: Model, case: Case, engine: Engine) -> Self {
        for tensor in &mut model.tensors {
            tensor.source =
                tensor.source.take().map(|source| Source::inline(source.values().into_owned()));
        }
        Self { model, case, engine }
    }

    /// Writes it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let bytes = postcard::to_allocvec(self).map_err(|error| error.to_string())?;
        fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Reads it.
    ///
    /// # Errors
    /// If the file cannot be read, or holds none.
    pub fn read(path: &Path) -> Result<Self, String> {
        let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        postcard::from_bytes(&bytes).map_err(|error| format!("{}: {error}", path.display()))
    }
}
