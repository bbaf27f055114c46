//! Random int8 models and networks of the zoo as TensorFlow Lite files: read again, they give the same
//! values.

use tilewright_formats::{Limits, TfliteError, export_tflite, open};
use tilewright_model::tiling::{Tiling, tile};
use tilewright_model::{Model, Op, int8};
use tilewright_tests::random_model::{random_inputs, random_of_any_kind};

/// Whether the model has a form; if so, it must give what it gave.
fn stays(model: &Model, seed: u64) -> bool {
    let bytes = match export_tflite(model) {
        Ok(bytes) => bytes,
        Err(TfliteError::Node { .. }) => return false,
        Err(error) => panic!("{}: {error}", model.name),
    };
    let again = open("x.tflite", &bytes, &Limits::default(), &[]);
    let again = again.unwrap_or_else(|error| panic!("{}: {error}", model.name));
    let inputs = random_inputs(model, seed);
    let run =
        |model: &Model| int8::run(model, &inputs, &mut |_, _| {}).expect("the model is valid");
    assert_eq!(run(model), run(&again), "{}", model.name);
    true
}

#[test]
fn random_models_give_the_same_values_from_a_file() {
    let (mut written, mut all) = (0, 0);
    for seed in 0..300 {
        let mut model = random_of_any_kind(seed);
        // Old files' zero points of weights and means of uint8 beside scales for each channel are no
        // file of TensorFlow Lite.
        for at in 0..model.nodes.len() {
            if let Op::AveragePool { halves_up, .. } = &mut model.nodes[at].op {
                *halves_up = false;
            }
            if model.nodes[at].op.is_weighted() {
                let weights = model.nodes[at].inputs[1];
                model.tensors[weights.0].quantisation.as_mut().unwrap().zeros.fill(0);
            }
        }
        written += usize::from(stays(&model, seed));
        all += 1;
        if let Ok(tiled) = tile(&model, &Tiling::PUBLISHED) {
            written += usize::from(stays(&tiled.model, seed));
            all += 1;
        }
    }
    assert!(written * 4 > all * 3, "{written} of {all} have a form");
}

#[test]
fn networks_of_the_zoo_give_the_same_values_from_a_file() {
    for name in ["lenet5", "mobilenet-v1-w0.25-r96", "ds-cnn", "resnet8"] {
        let model = tilewright_zoo::network(name).unwrap().int8().unwrap();
        assert!(stays(&model, 1), "{name}");
        if let Ok(tiled) = tile(&model, &Tiling::PUBLISHED) {
            assert!(stays(&tiled.model, 1), "{name} in tiles");
        }
    }
}
