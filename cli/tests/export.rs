//! Models in another format, from the command line.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;

use assert_cmd::Command;

fn lenet() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/lenet5.onnx");
    path.to_str().unwrap().to_owned()
}

/// Runs a command whose output file has this name; the file's first bytes.
fn written(arguments: &[&str], name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut command = Command::cargo_bin("tilewright").unwrap();
    let output = command.args(arguments).arg("-o").arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(&path).unwrap();
    let mut inspect = Command::cargo_bin("tilewright").unwrap();
    let output = inspect.arg("inspect").arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    bytes
}

fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TFL3")
}

#[test]
fn the_name_of_the_file_chooses_its_format() {
    let model = lenet();
    let export = ["export", model.as_str()];
    assert!(is_tflite(&written(&export, "int8.tflite")));
    assert!(!is_tflite(&written(&export, "float.onnx")));
    let prune = ["prune", model.as_str(), "--sparsity", "0.5"];
    assert!(is_tflite(&written(&prune, "pruned.TFLITE")));
    let board = ["--board", "stm32f746g-disco", "--tiles", "2x2"];
    let tile = [&["tile", model.as_str()][..], &board].concat();
    assert!(is_tflite(&written(&tile, "tiles.tflite")));
    assert!(!is_tflite(&written(&tile, "tiles.onnx")));
    assert!(is_tflite(&written(&["zoo", "export", "lenet5"], "zoo.tflite")));
}
