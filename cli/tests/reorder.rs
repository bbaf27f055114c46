//! TensorFlow Lite files in another order, from the command line.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn branches() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/golden/branches.tflite")
}

fn order(file: &Path, more: &[&str]) -> Output {
    let mut command = Command::cargo_bin("tilewright").unwrap();
    command.arg("order").arg(file).args(more).output().unwrap()
}

fn report(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_file_is_written_in_its_best_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.tflite");
    let new = path.to_str().unwrap();
    let first = report(&order(&branches(), &["-o", new, "--json"]));
    // The arena of TensorFlow Lite Micro for the old file, as it says itself: models/golden.
    assert_eq!(first["default_bytes"], 1152);
    assert_eq!(first["arena_bytes"], 672);
    assert_eq!(first["lower_bound_bytes"], 672);
    assert_eq!(first["proved"], true);
    assert_eq!((&first["operators"], &first["moved"]), (&5.into(), &2.into()));
    // What was written is as good as it gets, and the runtime keeps to its offsets.
    let second = report(&order(&path, &["--json"]));
    assert_eq!((&second["default_bytes"], &second["moved"]), (&672.into(), &0.into()));
    let text = String::from_utf8(order(&branches(), &["-o", new]).stdout).unwrap();
    assert!(text.contains("41.7 % less") && text.contains("2 of 5"), "{text}");
    assert!(text.contains("new.tflite"), "{text}");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |name: &str, content: &[u8], more: &[&str]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let output = order(&path, more);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(output.stdout.is_empty() && !text.contains("panicked"), "{text}");
        text
    };
    let model = std::fs::read(branches()).unwrap();
    assert!(refused("cut.tflite", &model[..600], &[]).contains("cut off or damaged"));
    assert!(refused("other.tflite", b"no model at all", &[]).contains("Only TensorFlow Lite"));
    assert!(refused("in-place.tflite", &model, &["--in-place"]).contains("--in-place"));
    let topology = br#"{"tensors": [], "ops": [], "inputs": [], "outputs": []}"#;
    assert!(refused("graph.json", topology, &["-o", "new.tflite"]).contains("Only a .tflite"));
}
