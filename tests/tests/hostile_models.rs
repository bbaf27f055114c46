//! Changed model files and inputs: an error or an answer, never a panic. The fuzzers' corpora are
//! replayed.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::Path;

use tilewright_tests::emulated::project;
use tilewright_tests::hostile::model::{open_and_plan, read_input, reorder};
use tilewright_tests::onnx_file::{Dim, one_node};

/// Calls `visit` with each file of a fuzzer's corpus.
fn corpus(target: &str, mut visit: impl FnMut(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut count = 0;
    for file in fs::read_dir(&folder).unwrap() {
        visit(&fs::read(file.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count > 0, "no corpus in {}", folder.display());
}

#[test]
fn the_model_corpora_never_panic() {
    for target in ["onnx_file", "tflite_file"] {
        corpus(target, |bytes| {
            let _ = open_and_plan(bytes);
        });
    }
}

#[test]
fn the_input_corpus_never_panics() {
    corpus("input_file", |bytes| {
        let _ = read_input(bytes);
    });
}

#[test]
fn changed_models_never_panic() {
    let mut rng = fastrand::Rng::with_seed(5);
    let (mut opened, mut refused) = (0, 0);
    for op in ["Relu", "Softmax", "GlobalAveragePool", "Flatten", "Identity"] {
        let model = one_node(op, "node", &[1, 3, 6, 5].map(Dim::Fixed));
        assert!(open_and_plan(&model), "{op}");
        for _ in 0..400 {
            let mut wrong = model.clone();
            for _ in 0..rng.usize(1..3) {
                let at = rng.usize(..wrong.len());
                wrong[at] = [rng.u8(..), 0, 0xff, wrong[at] ^ 1, wrong[at] ^ 0x80][rng.usize(..5)];
            }
            if open_and_plan(&wrong) { opened += 1 } else { refused += 1 }
        }
    }
    assert!(opened > 50 && refused > 500, "{opened} opened, {refused} refused");
}

#[test]
fn changed_files_are_reordered_or_refused() {
    let mut rng = fastrand::Rng::with_seed(8);
    let file = fs::read(project().join("models/golden/branches.tflite")).unwrap();
    assert!(reorder(&file));
    let (mut written, mut refused) = (0, 0);
    for _ in 0..4000 {
        let mut wrong = file.clone();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..wrong.len());
            wrong[at] = [rng.u8(..), 0, 0xff, wrong[at] ^ 1, wrong[at] ^ 0x80][rng.usize(..5)];
        }
        if reorder(&wrong) { written += 1 } else { refused += 1 }
    }
    assert!(written > 400 && refused > 400, "{written} written, {refused} refused");
}

#[test]
fn changed_tensorflow_lite_files_never_panic() {
    let mut rng = fastrand::Rng::with_seed(7);
    let (mut opened, mut refused) = (0, 0);
    let files = fs::read_dir(project().join("models/golden/operators")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "tflite")) {
        let model = fs::read(file).unwrap();
        for _ in 0..40 {
            let mut wrong = model.clone();
            for _ in 0..rng.usize(1..4) {
                let at = rng.usize(..wrong.len());
                wrong[at] = [rng.u8(..), 0, 0xff, wrong[at] ^ 1, wrong[at] ^ 0x80][rng.usize(..5)];
            }
            if rng.usize(..8) == 0 {
                wrong.truncate(rng.usize(8..wrong.len()));
            }
            if open_and_plan(&wrong) { opened += 1 } else { refused += 1 }
        }
    }
    assert!(opened > 500 && refused > 500, "{opened} opened, {refused} refused");
}

#[test]
fn changed_pictures_never_panic() {
    let mut rng = fastrand::Rng::with_seed(6);
    let samples = fs::read_dir(project().join("models/samples")).unwrap();
    for sample in samples {
        let picture = fs::read(sample.unwrap().path()).unwrap();
        for _ in 0..100 {
            let mut wrong = picture.clone();
            let at = rng.usize(..wrong.len());
            wrong[at] = rng.u8(..);
            let _ = read_input(&wrong);
            let _ = read_input(&wrong[..at]);
        }
    }
}
