//! What a TensorFlow Lite file says of its use: the metadata in one of its buffers, and files packed behind the model as
//! a ZIP archive. From them come class names, and for float models the range of pixels.

use std::io::{Cursor, Read};

use tilewright_model::{DType, Model};
use tilewright_tflite_schema::metadata::{
    AssociatedFileType, ModelMetadata, TensorMetadata, root_as_model_metadata_with_opts,
};
use zip::ZipArchive;

use crate::Limits;
use crate::class_names::{MOST_BYTES, in_lines, name_classes, of_exporter};
use crate::input::Pixels;

/// Most files that are looked at.
const MOST_FILES: usize = 64;

/// A text that is packed behind a model.
struct Packed {
    name: String,
    text: String,
}

/// Notes what the file says. What is damaged says nothing: the model is whole without it.
pub(super) fn describe(model: &mut Model, metadata: &[u8], file: &[u8], limits: &Limits) {
    let options = flatbuffers::VerifierOptions {
        max_tables: limits.records,
        max_apparent_size: metadata.len().saturating_mul(4).saturating_add(1 << 16),
        ignore_missing_null_terminator: true,
        ..flatbuffers::VerifierOptions::default()
    };
    let said = root_as_model_metadata_with_opts(&options, metadata).ok();
    if let Some(pixels) = said.as_ref().and_then(normalisation)
        && is_of_floats(model)
    {
        pixels.set(model);
    }
    let texts = texts(file);
    let named = said.as_ref().and_then(file_of_classes);
    let classes = texts.iter().find(|text| named.is_some_and(|named| text.name == named));
    let names = match classes {
        Some(text) => in_lines(&text.text),
        None => texts
            .iter()
            .map(|text| of_exporter(&text.text))
            .find(|names| !names.is_empty())
            .unwrap_or_default(),
    };
    name_classes(model, &names);
}

/// Integers stand for pixels as they are: there whoever calls the model normalises nothing.
fn is_of_floats(model: &Model) -> bool {
    model.inputs.iter().all(|input| model.tensor(*input).dtype == DType::F32)
}

/// Metadata of the inputs, or of the outputs.
fn tensors<'a>(
    said: &ModelMetadata<'a>,
    are_inputs: bool,
) -> impl Iterator<Item = TensorMetadata<'a>> {
    let graph =
        said.subgraph_metadata().filter(|graphs| !graphs.is_empty()).map(|graphs| graphs.get(0));
    let list = graph.and_then(|graph| match are_inputs {
        true => graph.input_tensor_metadata(),
        false => graph.output_tensor_metadata(),
    });
    list.into_iter().flatten()
}

/// The first normalisation of an input.
fn normalisation(said: &ModelMetadata<'_>) -> Option<Pixels> {
    let units = tensors(said, true).filter_map(|tensor| tensor.process_units());
    let found = units.flatten().find_map(|unit| unit.options_as_normalization_options())?;
    Pixels::new(found.mean()?.iter().collect(), found.std_()?.iter().collect())
}

/// The name of the file that holds an output's classes.
fn file_of_classes<'a>(said: &ModelMetadata<'a>) -> Option<&'a str> {
    let is_list = |kind| {
        [AssociatedFileType::TENSOR_AXIS_LABELS, AssociatedFileType::TENSOR_VALUE_LABELS]
            .contains(&kind)
    };
    let files = tensors(said, false).filter_map(|tensor| tensor.associated_files()).flatten();
    files.filter(|file| is_list(file.type_())).find_map(|file| file.name())
}

/// The texts that are packed behind a model.
fn texts(file: &[u8]) -> Vec<Packed> {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(file)) else { return Vec::new() };
    let mut texts = Vec::new();
    for index in 0..archive.len().min(MOST_FILES) {
        let Ok(packed) = archive.by_index(index) else { continue };
        let (name, mut text) = (packed.name().to_owned(), String::new());
        let is_text = packed.take(MOST_BYTES as u64).read_to_string(&mut text).is_ok();
        if is_text {
            texts.push(Packed { name, text });
        }
    }
    texts
}
