//! Why something cannot be planned, or cannot run.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why something cannot be done, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[error("{what}")]
pub struct Unsupported {
    /// What keeps it from being done.
    pub what: String,
    /// The operator, tensor, memory or option that it is about.
    pub place: String,
    /// What helps, in a sentence.
    pub remedy: String,
}

impl Unsupported {
    /// From its three parts.
    #[must_use]
    pub fn new(
        what: impl Into<String>,
        place: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { what: what.into(), place: place.into(), remedy: remedy.into() }
    }
}
