//! Real files, where they are present, against tract.

use std::path::{Path, PathBuf};

use tilewright_model::quantise::{QuantiseOptions, quantise};
use tilewright_model::{Data, Model, float, int8};

use super::against_tract;
use crate::{Limits, input, open};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn check(path: &Path, dims: &[usize]) -> bool {
    let Ok(bytes) = std::fs::read(path) else {
        println!("skipped: {} is not there", path.display());
        return false;
    };
    against_tract(&bytes, &[dims]);
    true
}

#[test]
fn bundled_models() {
    assert!(check(&root().join("models/lenet5.onnx"), &[1, 1, 32, 32]));
    assert!(check(&root().join("models/fashion-mobilenet.onnx"), &[1, 1, 28, 28]));
}

/// Models that are no part of the project, from a folder beside it.
#[test]
fn models_beside_the_project() {
    let folder = root().join("../shared/models");
    check(&folder.join("mlperf_resnet8_float.onnx"), &[1, 3, 32, 32]);
    check(&folder.join("onnx_light_squeezenet.onnx"), &[1, 3, 224, 224]);
    for (file, is_int8) in [
        ("deeploy_CNN_Linear1.onnx", false),
        ("deeploy_miniMobileNet.onnx", false),
        ("mlperf_kws_dscnn_int8_qdq.onnx", true),
        ("mlperf_resnet8_int8_qdq.onnx", true),
        ("onnx_light_bvlc_alexnet.onnx", false),
        ("onnx_light_resnet50.onnx", false),
    ] {
        let Ok(bytes) = std::fs::read(folder.join(file)) else {
            println!("skipped: {file} is not there");
            continue;
        };
        let model = open(file, &bytes, &Limits::default(), &[]).unwrap();
        assert!(model.opaque_operators().is_empty(), "{file}");
        assert_eq!(model.is_int8(), is_int8, "{file}");
    }
}

/// The MLPerf Tiny keyword spotter as a graph of QuantizeLinear and DequantizeLinear, on its test
/// inputs: nine of ten words are understood.
#[test]
fn a_quantised_keyword_spotter_understands_words() {
    let folder = root().join("../shared/models");
    let file = |name: &str| std::fs::read(folder.join(name));
    let (Ok(model), Ok(inputs), Ok(labels)) = (
        file("mlperf_kws_dscnn_int8_qdq.onnx"),
        file("kws01_inputs_int8_1000x49x10.bin"),
        file("kws01_labels.csv"),
    ) else {
        println!("skipped: the keyword spotter is not there");
        return;
    };
    let model = open("kws", &model, &Limits::default(), &[]).unwrap();
    let interpreter = int8::Interpreter::new(&model).unwrap();
    let quantisation = model.tensor(model.inputs[0]).quantisation.clone().unwrap();
    // The test inputs are in steps of the int8 TensorFlow Lite model's input.
    let steps = tilewright_model::Quantisation::per_tensor(0.584_720_1, 83);
    let labels = String::from_utf8(labels).unwrap();
    let mut right = 0;
    let words = 100;
    for (input, label) in inputs.chunks(490).zip(labels.lines()).take(words) {
        let values: Vec<i8> = input.iter().map(|byte| byte.cast_signed()).collect();
        let values = Data::I8(quantisation.quantise(&steps.dequantise(&values)));
        let scores = interpreter.run(&[values], &mut |_, _| {}).unwrap().remove(0);
        let scores = scores.as_i8().unwrap().to_vec();
        let best = (0..scores.len()).max_by_key(|at| (scores[*at], usize::MAX - at)).unwrap();
        right += usize::from(label.trim().parse() == Ok(best));
    }
    println!("{right} of {words} words understood");
    assert!(right * 100 >= words * 85);
}

fn bundled(name: &str) -> (Model, Vec<Vec<Data>>) {
    let path = root().join("models").join(name);
    let bytes = std::fs::read(path.with_extension("onnx")).unwrap();
    let model = open(name, &bytes, &Limits::default(), &[]).unwrap();
    let samples = std::fs::read(path.with_extension("calibration.npy")).unwrap();
    let samples = input::samples(model.tensor(model.inputs[0]), None, &samples).unwrap();
    (model, samples.into_iter().map(|sample| vec![sample]).collect())
}

/// A label as the names of sample pictures have it.
fn slug(label: &str) -> String {
    let dashed: String =
        label.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    dashed.to_ascii_lowercase()
}

fn top(values: &[i8]) -> usize {
    let largest = values.iter().max().unwrap();
    values.iter().position(|value| value == largest).unwrap()
}

#[test]
fn bundled_pictures_are_recognised_by_the_int8_models() {
    for (name, prefix) in [("lenet5", "mnist-"), ("fashion-mobilenet", "fashion-")] {
        let (model, samples) = bundled(name);
        let (quantised, report) = quantise(&model, &samples, &QuantiseOptions::default()).unwrap();
        assert_eq!(report.samples, 128);
        assert!(report.tensors.iter().all(|tensor| tensor.sqnr_db > 20.0), "{report:?}");
        let interpreter = int8::Interpreter::new(&quantised).unwrap();
        let image = quantised.tensor(quantised.inputs[0]);
        let labels = model.labels();
        let mut seen = 0;
        for entry in std::fs::read_dir(root().join("models/samples")).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_stem().unwrap().to_string_lossy().into_owned();
            if !file.starts_with(prefix) {
                continue;
            }
            let input = input::read(image, None, &std::fs::read(&path).unwrap()).unwrap();
            let result = interpreter.run(&[input], &mut |_, _| {}).unwrap();
            let class = &labels[top(result[0].as_i8().unwrap())];
            let named = file.ends_with(&format!("-{}", slug(class)))
                || file.ends_with(&format!("-label{class}"));
            assert!(named, "{file} is taken for {class}");
            seen += 1;
        }
        assert_eq!(seen, 10);
    }
}

fn hash(hash: &mut u64, bytes: impl IntoIterator<Item = u8>) {
    for byte in bytes {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

/// The same bytes on every machine: sums in one order, no fused operations, functions of `libm`.
/// The numbers were found equal on x86-64 and in WebAssembly.
#[test]
fn results_are_the_same_bits_everywhere() {
    for (name, real, integer) in [
        ("lenet5", 0x12a2_829f_0fb5_c6ce, 0x62ca_870f_07d6_4d65),
        ("fashion-mobilenet", 0xabb0_ba27_972e_4e30, 0x7e1a_70a6_0e8e_77c7),
    ] {
        let (model, samples) = bundled(name);
        let mut found = 0xcbf2_9ce4_8422_2325u64;
        float::run(&model, &samples[0], &mut |_, results| {
            for values in results.iter().filter_map(Data::as_f32) {
                hash(&mut found, values.iter().flat_map(|value| value.to_le_bytes()));
            }
        })
        .unwrap();
        assert_eq!(found, real, "{name}: {found:#x}");

        let (quantised, _) = quantise(&model, &samples, &QuantiseOptions::default()).unwrap();
        let scale = quantised.tensor(quantised.inputs[0]).quantisation.clone().unwrap();
        let image = Data::I8(scale.quantise(samples[0][0].as_f32().unwrap()));
        let mut found = 0xcbf2_9ce4_8422_2325u64;
        int8::run(&quantised, &[image], &mut |_, results| {
            for values in results.iter().filter_map(Data::as_i8) {
                hash(&mut found, values.iter().map(|value| *value as u8));
            }
        })
        .unwrap();
        assert_eq!(found, integer, "{name}: {found:#x}");
    }
}
