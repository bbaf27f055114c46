//! A model file as the campaign takes it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use tilewright_formats::ModelFile;
use tilewright_model::quantise::QuantiseOptions;
use tilewright_model::{Model, Store};
use tilewright_server::pipeline::{self, Bounds, Samples};
use tilewright_server::{Blame, Cancel, Problem};

/// What became of a file.
#[derive(Debug)]
pub enum Opened {
    /// An int8 model.
    Runs {
        /// The model.
        model: Model,
        /// Whether the file holds it as int8; else it was quantised here, on drawn samples.
        as_int8: bool,
    },
    /// A model of which memory alone is planned, with the operators that nothing here computes.
    Planned(String),
    /// Refused, with the reason.
    Refused(Problem),
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
    let cancel = Cancel::default();
    Ok(match opened(&file, &cancel) {
        Ok(opened) => opened,
        Err(problem) => Opened::Refused(problem),
    })
}

/// The size of each dimension that a file leaves open, the batch among them.
const OPEN_DIMENSIONS: usize = 1;

fn opened(file: &ModelFile<'_>, cancel: &Cancel) -> Result<Opened, Problem> {
    let quiet = &mut |_| {};
    let model = match pipeline::import(file, &[], quiet, cancel) {
        Err(problem) if problem.kind == Blame::BadInput => {
            let dims = open_dimensions(&problem).ok_or(problem)?;
            pipeline::import(file, &dims, quiet, cancel)?
        }
        model => model?,
    };
    let as_int8 = model.is_int8();
    let options = QuantiseOptions::default();
    let prepared =
        pipeline::prepare(model, Samples::Random, &options, &Bounds::default(), quiet, cancel)?;
    if prepared.first.is_empty() && !prepared.model.inputs.is_empty() {
        return Ok(Opened::Planned(prepared.samples));
    }
    Ok(Opened::Runs { model: prepared.model, as_int8 })
}

/// The names in what a problem says to do about dimensions that a file leaves open: `--dim 'NAME=SIZE'`.
fn open_dimensions(problem: &Problem) -> Option<Vec<(String, usize)>> {
    let named = problem.what_to_do.split("--dim '").skip(1);
    let names: Vec<_> = named
        .filter_map(|rest| rest.split_once("=SIZE'"))
        .map(|(name, _)| (name.to_owned(), OPEN_DIMENSIONS))
        .collect();
    (!names.is_empty()).then_some(names)
}
