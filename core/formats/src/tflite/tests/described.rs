use std::io::{Cursor, Write};

use flatbuffers::FlatBufferBuilder;
use tilewright_model::Model;
use tilewright_tflite_schema::{self as fb, metadata as said};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::build::{File, Tensor};
use crate::input::Pixels;
use crate::{Limits, open};

/// What a file says: its input's mean and deviation, and where its output's classes stand.
fn metadata(mean: &[f32], deviation: &[f32], classes: &str) -> Vec<u8> {
    let mut b = FlatBufferBuilder::new();
    let (mean, std_) = (Some(b.create_vector(mean)), Some(b.create_vector(deviation)));
    let options =
        said::NormalizationOptions::create(&mut b, &said::NormalizationOptionsArgs { mean, std_ });
    let unit = said::ProcessUnitArgs {
        options_type: said::ProcessUnitOptions::NormalizationOptions,
        options: Some(options.as_union_value()),
    };
    let unit = said::ProcessUnit::create(&mut b, &unit);
    let process_units = Some(b.create_vector(&[unit]));
    let input = said::TensorMetadataArgs { process_units, ..Default::default() };
    let input = said::TensorMetadata::create(&mut b, &input);
    let name = Some(b.create_string(classes));
    let file =
        said::AssociatedFileArgs { name, type_: said::AssociatedFileType::TENSOR_AXIS_LABELS };
    let file = said::AssociatedFile::create(&mut b, &file);
    let associated_files = Some(b.create_vector(&[file]));
    let output = said::TensorMetadataArgs { associated_files, ..Default::default() };
    let output = said::TensorMetadata::create(&mut b, &output);
    let graph = said::SubGraphMetadataArgs {
        input_tensor_metadata: Some(b.create_vector(&[input])),
        output_tensor_metadata: Some(b.create_vector(&[output])),
    };
    let graph = said::SubGraphMetadata::create(&mut b, &graph);
    let subgraph_metadata = Some(b.create_vector(&[graph]));
    let model = said::ModelMetadata::create(&mut b, &said::ModelMetadataArgs { subgraph_metadata });
    said::finish_model_metadata_buffer(&mut b, model);
    b.finished_data().to_vec()
}

/// A model with these files packed behind it.
fn packed(model: &[u8], files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    [model, archive.finish().unwrap().get_ref()].concat()
}

/// A model of one activation.
fn relu(kind: fb::TensorType, metadata: Vec<u8>) -> Vec<u8> {
    let tensor = |name| match kind {
        fb::TensorType::INT8 => Tensor::int8(name, &[1, 1, 1, 3], 0.5, 0),
        _ => Tensor::new(name, &[1, 1, 1, 3], kind),
    };
    let file = File { metadata, ..File::default() };
    file.tensor(tensor("in"))
        .tensor(tensor("out"))
        .operator(fb::BuiltinOperator::RELU, &[0], &[1], None)
        .interface(&[0], &[1])
        .bytes()
}

fn opened(bytes: &[u8]) -> Model {
    open("model.tflite", bytes, &Limits::default(), &[]).unwrap()
}

#[test]
fn classes_and_the_range_of_pixels_are_read() {
    let classes = [("other.txt", "x"), ("classes.txt", "tench, Tinca tinca\ncock\n???\n")];
    let bytes = relu(fb::TensorType::FLOAT32, metadata(&[127.5], &[127.5], "classes.txt"));
    let model = opened(&packed(&bytes, &classes));
    assert_eq!(model.labels(), ["tench, Tinca tinca", "cock", "???"]);
    assert_eq!(Pixels::of(&model), "-1..1".parse().ok());
    // Callers of an int8 model normalise nothing.
    let bytes = relu(fb::TensorType::INT8, metadata(&[127.5], &[127.5], "classes.txt"));
    assert_eq!(Pixels::of(&opened(&packed(&bytes, &classes))), None);
}

#[test]
fn the_exporter_of_yolo_packs_a_list() {
    let list = [("metadata.json", r#"{"stride": 32, "names": {"0": "cat", "1": "dog"}}"#)];
    let model = opened(&packed(&relu(fb::TensorType::FLOAT32, Vec::new()), &list));
    assert_eq!(model.labels(), ["cat", "dog"]);
}

#[test]
fn what_is_damaged_says_nothing() {
    let mut wrong = metadata(&[0.0], &[0.0], "classes.txt");
    let whole = relu(fb::TensorType::FLOAT32, wrong.clone());
    let model = opened(&whole);
    assert_eq!((Pixels::of(&model), model.labels()), (None, Vec::new()));
    for at in 0..wrong.len() {
        wrong[at] ^= 0xff;
        let model =
            opened(&packed(&relu(fb::TensorType::FLOAT32, wrong.clone()), &[("a", "\u{0}")]));
        assert_eq!(model.labels(), Vec::<String>::new());
        wrong[at] ^= 0xff;
    }
    let archive = packed(&[], &[("classes.txt", "a\nb")]);
    for length in 0..archive.len() {
        opened(&[&whole[..], &archive[..length]].concat());
    }
}
