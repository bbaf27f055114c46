//! An int8 model and the float model that it was made from, to be held against each other.
//!
//! `core/float` does that. It stands above this crate, since it links tract, which takes long to build.

use tilewright_formats::ModelFile;
use tilewright_model::Model;
use tilewright_report::FloatComparison;

use crate::host::Host;
use crate::quantise::Samples;
use tilewright_report::Diagnostic;

/// What is compared.
#[derive(Debug)]
pub struct FloatSubject<'s> {
    /// The model's file, with those beside it; nothing if the model comes from elsewhere.
    pub file: Option<&'s ModelFile<'s>>,
    /// Sizes of dimensions that the file leaves open.
    pub dims: &'s [(String, usize)],
    /// The model as it was imported.
    pub model: &'s Model,
    /// The int8 model.
    pub int8: &'s Model,
    /// What both run on.
    pub samples: Samples<'s>,
}

/// Compares a model with its float form; in a program that links tract there is one.
pub type CompareFloat = fn(&FloatSubject<'_>, &dyn Host) -> Result<FloatComparison, Diagnostic>;
