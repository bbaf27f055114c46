//! Models that are pruned on their way in.

use super::*;
use crate::message::{ModelFacts, SparsityFacts};
use crate::view_model::sparsity::{rows, sum};

fn open(
    source: ModelSource,
    sparsity: u16,
    files: Vec<Vec<u8>>,
) -> (Importer, ModelFacts, Vec<u8>) {
    let mut importer = Importer::default();
    let calibrating = Calibrating { sparsity, ..Calibrating::default() };
    let request = ImportRequest::Open(source, calibrating);
    let (reply, mut buffers) = importer.answer(request, files, &|_| {}).unwrap();
    let ImportReply::Opened(facts) = reply else { panic!("{reply:?}") };
    (importer, facts, buffers.remove(0))
}

fn example(sparsity: u16) -> (Importer, ModelFacts, Vec<u8>) {
    let files = files_of(&EXAMPLES[1]);
    open(from("model.onnx"), sparsity, files)
}

#[test]
fn zeros_make_the_plan_smaller_and_its_image_is_of_the_pruned_model() {
    let (_, dense, model) = example(0);
    assert_eq!(dense.sparsity, SparsityFacts::default(), "nothing is pruned, nothing is counted");
    let (dense_plan, dense_image) = planned(model, settings(None));
    let (mut importer, pruned, model) = example(800);
    let SparsityFacts { sparsity, layers, obstacle } = &pruned.sparsity;
    assert!((*sparsity, obstacle.as_str()) == (800, "") && layers.len() > 5, "{layers:?}");
    let parsed: tilewright_model::Model = postcard::from_bytes(&model).unwrap();
    for layer in layers {
        assert_eq!(parsed.nodes[layer.node as usize].name, layer.name);
        let share = layer.zeros as f64 / layer.weights as f64;
        assert!((0.75..0.85).contains(&share) && layer.zeros_before < layer.zeros, "{layer:?}");
    }
    let (plan, image) = planned(model, settings(None));
    assert!(plan.report.flash_bytes < dense_plan.report.flash_bytes);
    assert!(plan.report.latency_us.unwrap().0 < dense_plan.report.latency_us.unwrap().0);
    assert_ne!(plan.image.as_ref().unwrap().plan_id, dense_plan.image.unwrap().plan_id);
    assert!(image[0].len() < dense_image[0].len(), "what is downloaded and run is smaller too");
    // Figures of the layers are those of the plan.
    let rows = rows(&pruned.sparsity, &plan);
    let sum = sum(&rows);
    assert!(sum.sparse > 0 && sum.bytes < sum.dense_bytes && sum.us < sum.dense_us, "{sum:?}");
    assert_eq!(sum.bytes as i64 - sum.dense_bytes as i64, *plan.report.packing_flash_bytes);
    // The reference is of the pruned model.
    let request = ImportRequest::Input { name: "a.png".to_owned() };
    let sample = || vec![file(EXAMPLES[1].samples[0].file)];
    let answer = |importer: &mut Importer| match ask(importer, request.clone(), sample()) {
        ImportReply::Input(facts) => facts.outputs,
        reply => panic!("{reply:?}"),
    };
    let (mut whole, ..) = example(0);
    assert_ne!(answer(&mut importer), answer(&mut whole));
}

#[test]
fn int8_files_and_networks_of_the_zoo_are_pruned_too() {
    let (_, facts, model) = open(ModelSource::Zoo("resnet8".to_owned()), 700, Vec::new());
    assert_eq!(facts.calibration, Calibration::Analytic);
    assert!(facts.sparsity.layers.iter().all(|layer| layer.zeros * 10 > layer.weights * 6));
    let tflite = file("fuzz/corpus/tflite_file/conv-stride2x1-int8.tflite");
    let (_, facts, _) = open(from("m.tflite"), 700, vec![tflite]);
    assert_eq!(facts.calibration, Calibration::NotNeeded);
    assert!(!facts.sparsity.layers.is_empty());
    assert!(!planned(model, settings(None)).0.report.layers.is_empty());
}

#[test]
fn what_cannot_be_pruned_says_why_and_opens_whole() {
    let large = ModelSource::Zoo("vgg16".to_owned());
    let (_, facts, _) = open(large.clone(), 0, Vec::new());
    assert!(facts.sparsity.obstacle.contains("million weights"), "{:?}", facts.sparsity);
    let request =
        ImportRequest::Open(large, Calibrating { sparsity: 500, ..Calibrating::default() });
    let trouble = Importer::default().answer(request, Vec::new(), &|_| {}).unwrap_err();
    assert!(trouble.what.contains("cannot be pruned"), "{trouble:?}");
}
