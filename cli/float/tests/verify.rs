//! `tilewright verify --float`, by the program that it becomes.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn verify(model: &str, options: &[&str]) -> Output {
    let mut command = Command::cargo_bin("tilewright-float").unwrap();
    command.arg("verify").arg(model).args(options).output().unwrap()
}

fn lenet() -> String {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    models.join("lenet5.onnx").display().to_string()
}

fn said(output: &Output, code: i32) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{complaint}");
    if code == 0 { String::from_utf8(output.stdout.clone()).unwrap() } else { complaint }
}

#[test]
fn a_model_is_compared_with_tract_without_a_board() {
    let text = said(&verify(&lenet(), &["--float", "--json"]), 0);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["opinion"], "tract-onnx 0.23");
    assert_eq!(found["samples"], 8);
    assert_eq!(found["outputs"][0]["tensor"], "probabilities");
    assert_eq!(found["outputs"][0]["float"]["top1_agreement"], 1.0);
    assert_eq!(found["outputs"][0]["int8"]["top1_agreement"], 1.0);
    assert!(found["outputs"][0]["int8"]["sqnr_db"].as_f64().unwrap() > 20.0);
    assert_eq!(found["not_compared"], serde_json::json!([]));
    assert!(found["first_float_loss"].is_null() && found["first_int8_loss"].is_null());
    let text = said(&verify(&lenet(), &["--float", "--samples", "random"]), 0);
    for part in ["opinion: tract-onnx 0.23, 8 samples", "importer is right", "probabilities"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn networks_of_the_zoo_are_compared_with_our_interpreter() {
    let text = said(&verify("zoo:mobilenet-v2-w0.35-r48", &["--float"]), 0);
    assert!(text.contains("opinion: float interpreter"), "{text}");
}

#[test]
fn an_int8_tflite_file_has_no_float_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.tflite").display().to_string();
    let mut command = Command::cargo_bin("tilewright-float").unwrap();
    command.args(["export", &lenet(), "-o", &path]).assert().success();
    let text = said(&verify(&path, &["--float"]), 2);
    assert!(text.contains("int8 already") && text.contains("Give the float model"), "{text}");
}

#[test]
fn a_board_is_needed_without_it_and_refused_with_it() {
    let text = said(&verify("x.onnx", &[]), 2);
    assert!(text.contains("--board"), "{text}");
    let text = said(&verify("x.onnx", &["--float", "--board", "stm32f746g-disco"]), 2);
    assert!(text.contains("cannot be used with"), "{text}");
}
