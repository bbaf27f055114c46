//! A model file as the campaign takes it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tilewright_app::{Blame, Bounds, Diagnostic, Need, Samples, Silent};
use tilewright_formats::ModelFile;
use tilewright_model::quantise::QuantiseOptions;
use tilewright_model::{Model, Store};

/// What became of a file.
#[derive(Debug)]
pub enum Opened {
    /// An int8 model.
    Runs {
        model: Model,
        /// Whether the file holds it as int8; else it was quantised here, on drawn samples.
        as_int8: bool,
    },
    /// A model of which memory alone is planned, with the operators that nothing here computes.
    Planned(String),
    /// Refused, with the reason.
    Refused(Diagnostic),
}

/// Reads a file and makes an int8 model of it, as the command line does with `--samples random`.
///
/// # Errors
/// If the file cannot be read.
pub fn open(path: &Path) -> Result<Opened, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = |other: &str| -> Result<Option<Arc<dyn Store>>, String> {
        let path = path.with_file_name(other);
        let found = fs::read(path).ok();
        Ok(found.map(|bytes| Arc::new(bytes) as Arc<dyn Store>))
    };
    let file = ModelFile { name: &name, bytes: Arc::new(bytes), beside: &beside };
    Ok(match opened(&file) {
        Ok(opened) => opened,
        Err(problem) => Opened::Refused(problem),
    })
}

/// The size of each dimension that a file leaves open, the batch among them.
const OPEN_DIMENSIONS: usize = 1;

fn opened(file: &ModelFile<'_>) -> Result<Opened, Diagnostic> {
    let host = Silent::default();
    let model = match tilewright_app::import(file, &[], &host) {
        Err(problem) if problem.kind == Blame::BadInput => {
            let dims = open_dimensions(&problem).ok_or(problem)?;
            tilewright_app::import(file, &dims, &host)?
        }
        model => model?,
    };
    let as_int8 = model.is_int8();
    let options = QuantiseOptions::default();
    let prepared =
        tilewright_app::prepare(model, Samples::Random, &options, &Bounds::default(), &host)?;
    if prepared.first.is_empty() && !prepared.model.inputs.is_empty() {
        return Ok(Opened::Planned(prepared.samples));
    }
    Ok(Opened::Runs { model: prepared.model, as_int8 })
}

/// A size for each dimension that a file leaves open, if that is why it is refused.
fn open_dimensions(problem: &Diagnostic) -> Option<Vec<(String, usize)>> {
    let Some(Need::Dimensions(names)) = &problem.needs else { return None };
    Some(names.iter().map(|name| (name.clone(), OPEN_DIMENSIONS)).collect())
}
