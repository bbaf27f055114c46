//! The sample models beside tract, and a quantisation that was broken on purpose.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

use tilewright_formats::{Limits, ModelFile, input, open};
use tilewright_model::quantise::{QuantiseOptions, Range, quantise, quantise_with};
use tilewright_model::{Data, Model, float, interpret};
use tilewright_report::FloatComparison;

use super::*;

struct Sample {
    bytes: Vec<u8>,
    float: Model,
    samples: Vec<Vec<Data>>,
}

fn sample(name: &str) -> Sample {
    let path = |ending: &str| {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../models/{name}.{ending}"))
    };
    let bytes = std::fs::read(path("onnx")).unwrap();
    let float = open(name, &bytes, &Limits::default(), &[]).unwrap();
    let array = std::fs::read(path("calibration.npy")).unwrap();
    let all = input::samples(float.tensor(float.inputs[0]), None, &array).unwrap();
    Sample { bytes, float, samples: all.into_iter().take(4).map(|one| vec![one]).collect() }
}

fn compared(sample: &Sample, int8: &Model) -> FloatComparison {
    let file = ModelFile::alone("model.onnx", Arc::new(sample.bytes.clone()));
    let subject = Subject {
        file: Some(&file),
        dims: &[],
        float: Some(&sample.float),
        int8,
        samples: &sample.samples,
    };
    compare(&subject, &mut |_, _| {}, &interpret::never).unwrap()
}

#[test]
fn the_sample_models_agree_with_tract_and_lose_little_in_int8() {
    for name in ["lenet5", "fashion-mobilenet"] {
        let sample = sample(name);
        let (int8, _) =
            quantise(&sample.float, &sample.samples, &QuantiseOptions::default()).unwrap();
        let found = compared(&sample, &int8);
        assert_eq!((found.opinion.as_str(), found.samples), (FloatComparison::TRACT, 4));
        assert!(found.not_compared.is_empty(), "{name}: {:?}", found.not_compared);
        assert_eq!(found.layers.len(), sample.float.nodes.len() + 1, "{name}");
        assert_eq!((&found.first_float_loss, &found.first_int8_loss), (&None, &None), "{name}");
        for layer in &found.layers[1..] {
            let float = layer.float.as_ref().unwrap();
            assert!(float.sqnr_db.is_none_or(|ratio| ratio > 90.0), "{name}: {layer:?}");
            assert!(float.cosine.is_none_or(|cosine| cosine > 0.999_999), "{name}: {layer:?}");
            assert!(layer.int8.as_ref().unwrap().sqnr_db.unwrap() > 20.0, "{name}: {layer:?}");
        }
        let output = &found.outputs[0];
        assert_eq!(output.int8.as_ref().unwrap().top1_agreement, Some(1.0));
        assert_eq!(output.float.as_ref().unwrap().top1_agreement, Some(1.0));
    }
}

/// Ranges of all tensors over the samples, as calibration sees them.
fn ranges(model: &Model, samples: &[Vec<Data>]) -> Vec<Range> {
    let mut ranges = vec![Range::default(); model.tensors.len()];
    let mut widen = |id: usize, data: &Data| {
        for value in data.as_f32().unwrap_or(&[]) {
            let range = &mut ranges[id];
            (range.low, range.high) = (range.low.min(*value), range.high.max(*value));
        }
    };
    for sample in samples {
        sample.iter().zip(&model.inputs).for_each(|(data, id)| widen(id.0, data));
        let mut results = Vec::new();
        let mut observe = |_, made: &[Data]| results.push(made[0].clone());
        float::run(model, sample, &mut observe).unwrap();
        model.nodes.iter().zip(&results).for_each(|(node, data)| widen(node.outputs[0].0, data));
    }
    ranges
}

#[test]
fn a_layer_with_a_wrong_range_is_blamed() {
    let sample = sample("fashion-mobilenet");
    let right = ranges(&sample.float, &sample.samples);
    let convolution = |node: &&tilewright_model::Node| node.op.name() == "Conv2D";
    let node = sample.float.nodes.iter().filter(convolution).nth(3).unwrap();
    for (low, high) in [(0.0, 1e-3), (-2000.0, 2000.0)] {
        let mut wrong = right.clone();
        wrong[node.outputs[0].0] = Range { low, high };
        let int8 = quantise_with(&sample.float, &wrong).unwrap();
        let found = compared(&sample, &int8);
        let loss = found.first_int8_loss.unwrap();
        assert_eq!(loss.layer, node.name);
        assert!(loss.sqnr_db < 20.0 && loss.before_sqnr_db.unwrap() > 25.0, "{loss:?}");
        assert_eq!(found.first_float_loss, None, "the importer is not to blame");
    }
}

#[test]
fn calibration_on_zeros_is_blamed_on_the_first_layer() {
    let sample = sample("lenet5");
    let zeros = vec![vec![Data::F32(vec![0.0; 32 * 32])]];
    let (int8, _) = quantise(&sample.float, &zeros, &QuantiseOptions::default()).unwrap();
    let found = compared(&sample, &int8);
    // Digits are nearly black and white: their pixels outlive a scale of 1.
    assert_eq!(found.first_int8_loss.unwrap().layer, "conv1");
    assert_eq!(found.first_float_loss, None);
}

#[test]
fn a_fault_of_the_importer_is_told_from_one_of_the_quantiser() {
    let mut sample = sample("lenet5");
    let weights = sample.float.nodes.iter().find(|node| node.op.is_weighted()).unwrap();
    let (name, id) = (weights.name.clone(), weights.inputs[1]);
    let source = sample.float.tensor(id).source.clone().unwrap();
    let mut values = source.values().as_f32().unwrap().to_vec();
    values.reverse();
    let source = tilewright_model::Source::inline(Data::F32(values));
    sample.float.tensors[id.0].source = Some(source);
    let (int8, _) = quantise(&sample.float, &sample.samples, &QuantiseOptions::default()).unwrap();
    let found = compared(&sample, &int8);
    assert_eq!(found.first_float_loss.unwrap().layer, name);
}

#[test]
fn without_a_file_the_interpreter_is_the_opinion_and_without_a_float_model_there_is_none() {
    let sample = sample("lenet5");
    let (int8, _) = quantise(&sample.float, &sample.samples, &QuantiseOptions::default()).unwrap();
    let subject = Subject {
        file: None,
        dims: &[],
        float: Some(&sample.float),
        int8: &int8,
        samples: &sample.samples,
    };
    let mut told = Vec::new();
    let mut progress = |done, all| told.push((done, all));
    let found = compare(&subject, &mut progress, &interpret::never).unwrap();
    assert_eq!(found.opinion, FloatComparison::INTERPRETER);
    assert!(found.layers.iter().all(|layer| layer.float.is_none() && layer.int8.is_some()));
    assert!(found.not_compared.is_empty());
    assert_eq!(told, [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]);
    let none = Subject { float: None, ..subject };
    let error = compare(&none, &mut |_, _| {}, &interpret::never).unwrap_err();
    assert_eq!(error, FloatError::NoFloat);
    let none = Subject { samples: &[], ..subject };
    let error = compare(&none, &mut |_, _| {}, &interpret::never).unwrap_err();
    assert_eq!(error, FloatError::NoSamples);
}

#[test]
fn whoever_waits_can_end_it() {
    let sample = sample("lenet5");
    let (int8, _) = quantise(&sample.float, &sample.samples, &QuantiseOptions::default()).unwrap();
    let file = ModelFile::alone("model.onnx", Arc::new(sample.bytes.clone()));
    let subject = Subject {
        file: Some(&file),
        dims: &[],
        float: Some(&sample.float),
        int8: &int8,
        samples: &sample.samples,
    };
    for most in [0, 5, 40] {
        let asked = Cell::new(0);
        let cancel = || {
            asked.set(asked.get() + 1);
            asked.get() > most
        };
        let error = compare(&subject, &mut |_, _| {}, &cancel).unwrap_err();
        assert_eq!(error, FloatError::Stopped);
    }
}

#[test]
fn a_comparison_travels_both_ways() {
    let sample = sample("lenet5");
    let (int8, _) = quantise(&sample.float, &sample.samples, &QuantiseOptions::default()).unwrap();
    let found = compared(&sample, &int8);
    let text = serde_json::to_string(&found).unwrap();
    assert!(text.contains("\"sqnr_db\"") && text.contains("\"max_difference\""), "{text}");
    let bytes = postcard::to_allocvec(&found).unwrap();
    let back: FloatComparison = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(back, found);
    let back: FloatComparison = serde_json::from_str(&text).unwrap();
    assert_eq!(back.layers.len(), found.layers.len());
}

#[test]
fn a_tflite_file_is_held_against_our_interpreter() {
    let sample = sample("lenet5");
    let bytes = tilewright_formats::export_tflite(&sample.float).unwrap();
    let float = open("lenet5.tflite", &bytes, &Limits::default(), &[]).unwrap();
    assert!(!float.is_int8());
    let (int8, _) = quantise(&float, &sample.samples, &QuantiseOptions::default()).unwrap();
    let file = ModelFile::alone("lenet5.tflite", Arc::new(bytes));
    let subject = Subject {
        file: Some(&file),
        dims: &[],
        float: Some(&float),
        int8: &int8,
        samples: &sample.samples,
    };
    let found = compare(&subject, &mut |_, _| {}, &interpret::never).unwrap();
    assert_eq!(found.opinion, FloatComparison::INTERPRETER);
    assert!(found.not_compared.is_empty(), "{:?}", found.not_compared);
    assert_eq!(found.outputs[0].int8.as_ref().unwrap().top1_agreement, Some(1.0));
    // Without the float model there is nothing left to compare with.
    let none = Subject { float: None, ..subject };
    let error = compare(&none, &mut |_, _| {}, &interpret::never).unwrap_err();
    assert_eq!(error, FloatError::NoFloat);
}

/// An ONNX file of convolutions over signals, of 3 taps and 4 channels, one after the other.
fn signal(layers: usize) -> Vec<u8> {
    use prost::Message;
    use tract_onnx::pb;
    let dimension = |size| pb::tensor_shape_proto::Dimension {
        value: Some(pb::tensor_shape_proto::dimension::Value::DimValue(size)),
        ..Default::default()
    };
    let shape = pb::TensorShapeProto { dim: [1, 4, 20].map(dimension).to_vec() };
    let tensor = pb::type_proto::Tensor { elem_type: 1, shape: Some(shape) };
    let typed = |name: String| pb::ValueInfoProto {
        name,
        r#type: Some(pb::TypeProto {
            value: Some(pb::type_proto::Value::TensorType(tensor.clone())),
            ..Default::default()
        }),
        ..Default::default()
    };
    let weights = |layer: usize| pb::TensorProto {
        name: format!("w{layer}"),
        dims: vec![4, 4, 3],
        data_type: 1,
        float_data: (0..48).map(|at| ((at * 7 + layer) % 11) as f32 / 10.0 - 0.5).collect(),
        ..Default::default()
    };
    let pads = pb::AttributeProto {
        name: "pads".to_owned(),
        r#type: 7,
        ints: vec![1, 1],
        ..Default::default()
    };
    let node = |layer: usize| pb::NodeProto {
        name: format!("conv{layer}"),
        op_type: "Conv".to_owned(),
        input: vec![format!("t{layer}"), format!("w{layer}")],
        output: vec![format!("t{}", layer + 1)],
        attribute: vec![pads.clone()],
        ..Default::default()
    };
    let graph = pb::GraphProto {
        node: (0..layers).map(node).collect(),
        initializer: (0..layers).map(weights).collect(),
        input: vec![typed("t0".to_owned())],
        output: vec![typed(format!("t{layers}"))],
        ..Default::default()
    };
    let opset = pb::OperatorSetIdProto { domain: String::new(), version: 17 };
    let model = pb::ModelProto {
        ir_version: 8,
        opset_import: vec![opset],
        graph: Some(graph),
        ..Default::default()
    };
    model.encode_to_vec()
}

#[test]
fn convolutions_over_signals_are_compared_too() {
    let bytes = signal(3);
    let float = open("signal.onnx", &bytes, &Limits::default(), &[]).unwrap();
    let values = (0..80).map(|at| ((at * 13) % 17) as f32 / 8.0 - 1.0).collect();
    let samples = vec![vec![Data::F32(values)]];
    let (int8, _) = quantise(&float, &samples, &QuantiseOptions::default()).unwrap();
    let found = compared(&Sample { bytes, float, samples }, &int8);
    assert_eq!(found.not_compared, []);
    let convolutions: Vec<_> = found.layers.iter().filter(|layer| layer.op == "Conv2D").collect();
    assert_eq!(convolutions.len(), 3);
    for layer in convolutions {
        let float = layer.float.as_ref().unwrap();
        assert!(float.sqnr_db.is_none_or(|ratio| ratio > 90.0), "{layer:?}");
        assert!(layer.int8.as_ref().unwrap().sqnr_db.unwrap() > 20.0, "{layer:?}");
    }
}
