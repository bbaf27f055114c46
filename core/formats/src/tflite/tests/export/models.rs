//! Whole models: the samples, and all that was recorded of TensorFlow Lite and ONNX Runtime.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use tilewright_model::prune::{Pruning, prune};
use tilewright_model::tiling::{Tiling, tile};
use tilewright_model::{Data, Model, State, float, quantise};

use super::{Build, again, assert_same, inputs};
use crate::{Limits, open};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|kind| kind == "tflite" || kind == "onnx"));
    files.sort();
    files
}

fn opened(path: &Path) -> Model {
    let bytes = std::fs::read(path).unwrap();
    open(&path.to_string_lossy(), &bytes, &Limits::default(), &[]).unwrap()
}

/// As it is, and in tiles where it can be.
fn assert_whole_and_in_tiles(model: &Model) {
    assert_same(model);
    if let Ok(tiled) = tile(model, &Tiling::PUBLISHED) {
        assert_same(&tiled.model);
    }
}

#[test]
fn recorded_models_stay_as_they_are() {
    let mut written = 0;
    for folder in ["golden", "golden/operators", "golden/whole", "golden/onnx"] {
        for path in files(folder) {
            let model = opened(&path);
            // Its weights have one zero point, and a product of scales that uint8 does not have.
            let has_none = path.to_string_lossy().contains("-of-bytes-");
            if model.opaque_in_words().is_none() && model.is_int8() && !has_none {
                assert_whole_and_in_tiles(&model);
                written += 1;
            }
        }
    }
    assert!(written > 150, "{written} models");
}

#[test]
fn samples_stay_as_they_are_in_tiles_and_pruned() {
    for real in files("").iter().map(|path| opened(path)).filter(|model| !model.is_int8()) {
        let pruning =
            Pruning { sparsity: 700, group: NonZeroUsize::new(4).unwrap(), is_global: false };
        let (pruned, _) = prune(&real, &pruning).unwrap();
        for real in [real, pruned] {
            let samples = [inputs(&real, 1), inputs(&real, 2)];
            let (model, _) = quantise::quantise(&real, &samples, &Default::default()).unwrap();
            assert_whole_and_in_tiles(&model);
            assert_near(&real);
            assert_near(&tile(&real, &Tiling::PUBLISHED).unwrap().model);
        }
    }
}

/// Floats are added in another order where padding is another.
fn assert_near(model: &Model) {
    let again = again(model);
    let given = inputs(model, 3);
    let run = |model: &Model| float::run(model, &given, &mut |_, _| {}).unwrap();
    for (before, after) in run(model).iter().zip(&run(&again)) {
        let (before, after) = (before.as_f32().unwrap(), after.as_f32().unwrap());
        let largest = before.iter().fold(1.0f32, |most, value| most.max(value.abs()));
        let is_near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-5 * largest;
        assert!(before.iter().zip(after).all(is_near), "{}", model.name);
    }
}

#[test]
fn what_lives_from_run_to_run_is_a_variable() {
    let mut build = Build::default();
    let x = build.input(&[1, 4], 0.5, 3);
    let before = build.input(&[1, 4], 0.5, 3);
    let sum = build.tensor(&[1, 4], 0.5, 3);
    let activation = tilewright_model::Activation::None;
    build.node(tilewright_model::Op::Add { activation }, &[x, before], sum);
    let shown = build.tensor(&[1, 4], 0.5, 3);
    let relu = tilewright_model::Op::Activation(tilewright_model::Activation::Relu);
    build.node(relu, &[sum], shown);
    let initial = Some(Data::I8(vec![5, -7, 90, -128]));
    let name = "memory".to_owned();
    build.model.states.push(State { name, input: 1, output: Some(1), initial });
    build.model.outputs.push(shown);
    let model = build.done(sum);
    let again = assert_same(&model);
    assert_eq!(again.states, model.states);
}
