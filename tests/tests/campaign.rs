//! The campaign over the committed networks: every strategy on every board and drawn options, by the product's own
//! way from file to verdict, on the emulated board; and its shrinking of what fails.

use std::fs;
use std::path::PathBuf;

use tilewright_tests::campaign::{self, Effort, Engine, Lab, Opened, Verdict};
use tilewright_tests::emulated;
use tilewright_tests::random_model::random_network;

/// Model files of a folder of the project.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(emulated::project().join(folder)).expect("the folder is there");
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_model =
        |path: &PathBuf| path.extension().is_some_and(|end| end == "onnx" || end == "tflite");
    let mut files: Vec<PathBuf> = paths.filter(is_model).collect();
    files.sort();
    files
}

#[test]
fn committed_networks_run_bit_equal_or_say_why_not() {
    let lab = Lab::new();
    let effort = Effort { drawn: 6, emulated_macs: 2_000_000 };
    let mut right = 0;
    let files = files("models");
    assert!(files.len() >= 2, "{files:?}");
    for path in files {
        let opened = campaign::open(&path).expect("the file can be read");
        let Opened::Runs { model, .. } = opened else { panic!("{}: {opened:?}", path.display()) };
        campaign::run(&lab, &model, model.nodes.len() as u64, &effort, &mut |outcome, _| {
            assert!(!outcome.verdict.is_failure(), "{}: {outcome:?}", path.display());
            right += u32::from(matches!(outcome.verdict, Verdict::Right(_)));
        });
    }
    assert!(right > 20, "{right} runs");
}

#[test]
fn networks_like_real_ones_run_bit_equal_on_the_host() {
    let lab = Lab::new();
    let mut right = 0;
    for seed in 0..40 {
        let model = random_network(seed);
        for case in campaign::cases(&model, seed, 6) {
            let verdict = lab.run(&model, &case, Engine::Host, &Default::default());
            assert!(!verdict.is_failure(), "network {seed}, {case}: {verdict}");
            right += u32::from(matches!(verdict, Verdict::Right(_)));
        }
    }
    assert!(right > 400, "{right} runs");
}

#[test]
fn a_failure_is_made_small() {
    let model = random_network(3);
    let last = model.nodes.last().expect("it has nodes").name.clone();
    let small =
        campaign::shrunk(&model, &mut |part| part.nodes.iter().any(|node| node.name == last));
    assert_eq!(small.nodes.len(), 1);
    assert_eq!(small.nodes[0].name, last);
    assert!(small.verify().is_ok());
}
