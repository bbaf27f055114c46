//! From the bundled files to an image and a comparison, as the page asks for it.
#![cfg(feature = "importer")]

use super::import::Importer;
use super::plan::Planner;
use crate::message::{ImportReply, ImportRequest, PlanFacts, PlanReply, PlanRequest, PlanSettings};
use crate::view_model::catalogue::{EXAMPLES, Example};

fn file(path: &str) -> Vec<u8> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read(root.join(path)).unwrap()
}

fn opened(importer: &mut Importer, example: &Example) -> Vec<u8> {
    let buffers = vec![file(example.file), file(example.calibration)];
    let name = "model.onnx".to_owned();
    let request = ImportRequest::Open { name, dims: Vec::new() };
    let (reply, mut buffers) = importer.answer(request, buffers, &|_| {}).unwrap();
    assert!(matches!(reply, ImportReply::Opened(_)), "{reply:?}");
    buffers.remove(0)
}

fn settings(sram_bytes: Option<u64>) -> PlanSettings {
    PlanSettings {
        board: "stm32f746g-disco".to_owned(),
        strategy: "resident".to_owned(),
        sram_bytes,
    }
}

fn planned(model: Vec<u8>, settings: PlanSettings) -> (PlanFacts, Vec<Vec<u8>>) {
    let mut planner = Planner::default();
    planner.answer(PlanRequest::Load, &[model]).unwrap();
    let (reply, buffers) = planner.answer(PlanRequest::Plan(settings), &[]).unwrap();
    let PlanReply::Planned(facts) = reply else { panic!("{reply:?}") };
    (*facts, buffers)
}

#[test]
fn a_tensorflow_lite_file_is_put_in_another_order() {
    let mut importer = Importer::default();
    let ask = |importer: &mut Importer, name: &str, bytes| {
        let request = ImportRequest::Reorder { name: name.to_owned() };
        importer.answer(request, vec![bytes], &|_| {})
    };
    let old = file("models/golden/branches.tflite");
    let (reply, buffers) = ask(&mut importer, "two branches.tflite", old.clone()).unwrap();
    let ImportReply::Reordered(reordered) = reply else { panic!("{reply:?}") };
    assert_eq!((reordered.before_bytes, reordered.arena_bytes), (1152, 672));
    assert_eq!(reordered.lower_bound_bytes, reordered.arena_bytes);
    assert_eq!((reordered.moved, reordered.operators), (2, 5));
    assert_eq!(reordered.file.name, "two-branches-reordered.tflite");
    assert_eq!(reordered.file.bytes, buffers[0].len() as u64);
    assert!(buffers[0].len() > old.len());
    let example = file(EXAMPLES[0].file);
    let trouble = ask(&mut importer, "lenet5.onnx", example).unwrap_err();
    assert!(
        trouble.what.contains("lenet5.onnx") && trouble.detail.contains(".tflite"),
        "{trouble:?}"
    );
}

#[test]
fn examples_are_planned_and_their_samples_classified() {
    for example in EXAMPLES {
        let mut importer = Importer::default();
        let model = opened(&mut importer, example);
        let (facts, image) = planned(model, settings(None));
        assert!(facts.report.fits, "{}", example.id);
        assert_eq!(image[0].len() as u64, facts.image.unwrap().bytes);
        let labels = &facts.outputs[0].labels;
        for sample in example.samples {
            let request = ImportRequest::Input { name: sample.file.to_owned() };
            let (reply, _) = importer.answer(request, vec![file(sample.file)], &|_| {}).unwrap();
            let ImportReply::Input(reference) = reply else { panic!("{reply:?}") };
            let scores = &reference.outputs[0];
            let best = (0..scores.len()).max_by_key(|class| scores[*class]).unwrap();
            let found = labels[best].to_lowercase();
            let shown = sample.label.to_lowercase();
            assert!(found.starts_with(&shown), "{}: {found} instead of {shown}", sample.file);
        }
    }
}

#[test]
fn a_small_budget_names_the_operator_and_gives_no_image() {
    let model = opened(&mut Importer::default(), &EXAMPLES[0]);
    let (facts, image) = planned(model, settings(Some(1024)));
    let reason = facts.report.does_not_fit.unwrap();
    assert!(!facts.report.fits && image.is_empty());
    assert!(!reason.operator.is_empty() && !reason.remedies.is_empty(), "{reason:?}");
    assert_eq!(reason.available_bytes.0, 1024);
}

/// What the server would say of a run whose layers gave `layers`.
fn status(outputs: &[i8]) -> Vec<u8> {
    let counts = serde_json::json!({
        "compute_instructions": 1, "dispatch_instructions": 2, "interrupt_instructions": 3,
        "compute_cycles": 1, "dispatch_cycles": 2, "interrupt_cycles": 3, "wait_cycles": 0,
    });
    let status = serde_json::json!({
        "id": "1", "state": "finished", "problem": null,
        "result": {
            "engine": "none", "fault": null, "instructions": 6, "cycles": 6, "latency_us": 0.5,
            "counts": counts, "layers": [], "unknown_registers": [], "console": "done\r\n",
            "outputs": [{ "values": outputs }], "emulation_wall_ns": 1,
            "timeline": {
                "clock_hz": 216_000_000, "instructions_kind": "counted",
                "cycles_kind": "modelled", "lanes": ["core"], "slices": [],
            },
        },
    });
    serde_json::to_vec(&status).unwrap()
}

#[test]
fn a_run_is_judged_layer_by_layer() {
    let mut importer = Importer::default();
    let model = opened(&mut importer, &EXAMPLES[0]);
    let sample = EXAMPLES[0].samples[7].file;
    let request = ImportRequest::Input { name: sample.to_owned() };
    let (_, input) = importer.answer(request, vec![file(sample)], &|_| {}).unwrap();
    let model: tilewright_model::Model = postcard::from_bytes(&model).unwrap();
    let (plan, _) = super::plan::make(&model, &settings(None)).unwrap();
    let values = input[0].iter().map(|byte| byte.cast_signed()).collect();
    let inputs = [tilewright_model::Data::I8(values)];
    let expected = tilewright_check::reference::expected(&plan.plan, &model, &inputs).unwrap();
    let encode = |layers: &[Vec<i8>]| {
        let mut bytes = Vec::new();
        for (number, layer) in (0u32..).zip(layers) {
            bytes.extend(number.to_le_bytes());
            bytes.extend((layer.len() as u32).to_le_bytes());
            bytes.extend(layer.iter().map(|value| value.cast_unsigned()));
        }
        bytes
    };
    let mut judge = |layers: Vec<u8>| {
        let buffers = vec![status(&expected.outputs[0]), layers, input[0].clone()];
        let request = ImportRequest::Judge(settings(None));
        let (reply, _) = importer.answer(request, buffers, &|_| {}).unwrap();
        let ImportReply::Judged(result, comparison) = reply else { panic!("{reply:?}") };
        assert_eq!(result.outputs, expected.outputs);
        comparison
    };
    let same = judge(encode(&expected.layers)).unwrap();
    assert_eq!(same.difference, None);
    assert_eq!(same.layers.len(), expected.layers.len());
    assert!(same.layers.iter().all(|layer| layer.differing == 0 && layer.elements > 0));

    let mut other = expected.layers.clone();
    other[2][5] ^= 1;
    let differs = judge(encode(&other)).unwrap();
    assert_eq!(differs.difference.unwrap().element, 5);
    assert_eq!(differs.layers[2].differing, 1);
    assert!(judge(Vec::new()).is_none(), "layers that were not watched are not compared");
}

#[test]
fn operators_that_nothing_computes_are_named_with_their_nodes() {
    let mut model = tilewright_model::Model::default();
    assert_eq!(super::import::without_meaning("net.onnx", &model), None);
    for index in 0..7 {
        model.nodes.push(tilewright_model::Node {
            name: format!("head/{index}"),
            op: tilewright_model::Op::Opaque { name: "NonMaxSuppression".to_owned() },
            inputs: Vec::new(),
            outputs: Vec::new(),
        });
    }
    let trouble = super::import::without_meaning("net.onnx", &model).unwrap();
    assert!(trouble.detail.contains("NonMaxSuppression (node 'head/0')"), "{trouble:?}");
    assert!(trouble.detail.ends_with("and 2 more."), "{trouble:?}");
}

#[test]
fn bad_files_say_what_and_what_to_do() {
    let mut importer = Importer::default();
    let model = file(EXAMPLES[0].file);
    let cases = [Vec::new(), b"not a model".to_vec(), model[..model.len() / 2].to_vec()];
    for bytes in cases {
        let request = ImportRequest::Open { name: "bad.onnx".to_owned(), dims: Vec::new() };
        let trouble = importer.answer(request, vec![bytes], &|_| {}).unwrap_err();
        assert!(trouble.what.contains("bad.onnx"), "{trouble:?}");
        assert!(!trouble.detail.is_empty() && !trouble.remedy.is_empty(), "{trouble:?}");
    }
    let request = ImportRequest::Input { name: "7.png".to_owned() };
    assert!(importer.answer(request, vec![Vec::new()], &|_| {}).is_err());
}
