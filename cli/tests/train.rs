//! `tilewright train`: what it writes runs, goes on where it was, and bad networks and data are named.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

const CELLS: &str = "cells 3\nchannels 4\nresolution 8\ncolours 1\n\
    Genotype(normal=[('sep_conv_3x3', 0), ('max_pool_3x3', 1)], normal_concat=[2], \
    reduce=[('skip_connect', 0), ('dil_conv_3x3', 1)], reduce_concat=[2])\n";

fn tilewright(arguments: &[&str]) -> Output {
    Command::cargo_bin("tilewright").unwrap().args(arguments).output().unwrap()
}

fn said(output: &Output, code: i32) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{complaint}");
    if code == 0 { String::from_utf8(output.stdout.clone()).unwrap() } else { complaint }
}

fn digits() -> String {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    models.join("lenet5.calibration.npy").display().to_string()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        std::fs::write(folder.at("cells.txt"), CELLS).unwrap();
        folder
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn train(&self, data: &str, arguments: &[&str]) -> Output {
        let (cells, output) = (self.at("cells.txt"), self.at("out.onnx"));
        let usual = ["train", &cells, "--data", data, "--batch", "16", "-o", &output];
        tilewright(&[&usual[..], arguments].concat())
    }
}

#[test]
fn a_trained_network_is_written_with_its_samples_and_planned() {
    let folder = Folder::new();
    let json = ["--epochs", "30", "--json"];
    let trained: Value = serde_json::from_str(&said(&folder.train(&digits(), &json), 0)).unwrap();
    assert_eq!((&trained["steps"], &trained["of"]), (&240.into(), &240.into()));
    let loss = |epoch: usize| trained["epochs"][epoch]["loss"].as_f64().unwrap();
    assert!(loss(29) < 0.5 * loss(0), "{trained}");
    // An array holds no images that were not learnt from.
    assert_eq!(trained["accuracy"], Value::Null);
    let plan = ["plan", &folder.at("out.onnx"), "--board", "stm32f746g-disco", "--json"];
    let plan: Value = serde_json::from_str(&said(&tilewright(&plan), 0)).unwrap();
    assert!(plan.to_string().contains("out.calibration.npy"), "{plan}");
}

#[test]
fn accuracy_is_of_images_that_were_not_learnt_from() {
    let folder = Folder::new();
    let mut images = [0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 8, 0, 0, 0, 8].to_vec();
    images.extend((0..40 * 64).map(|at| if at / 64 % 2 == 0 { at % 8 * 30 } else { 200 } as u8));
    let mut labels = [0, 0, 8, 1, 0, 0, 0, 40].to_vec();
    labels.extend((0..40).map(|at| at % 2));
    for part in ["train", "t10k"] {
        std::fs::write(folder.at(&format!("{part}-images-idx3-ubyte")), &images).unwrap();
        std::fs::write(folder.at(&format!("{part}-labels-idx1-ubyte")), &labels).unwrap();
    }
    let text = said(&folder.train(&folder.at(""), &["--epochs", "20"]), 0);
    for part in ["float", "100.00 % of 40 other images", "counted", "tilewright run"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_training_goes_on_where_it_was() {
    let folder = Folder::new();
    let state = folder.at("state");
    let options = ["--epochs", "2", "--json", "--state", &state];
    let whole = said(&folder.train(&digits(), &options), 0);
    let written = std::fs::read(folder.at("out.onnx")).unwrap();
    // All is done: it only writes once more what was learnt.
    assert_eq!(said(&folder.train(&digits(), &options), 0), whole);
    assert_eq!(std::fs::read(folder.at("out.onnx")).unwrap(), written);
    let other = folder.train(&digits(), &[&options[..], &["--seed", "1"]].concat());
    assert!(said(&other, 2).contains("other settings"));
}

#[test]
fn what_cannot_be_trained_is_named() {
    let folder = Folder::new();
    let train = |model: &str, output: &str, more: &[&str]| {
        let usual = ["train", model, "--data", &digits(), "-o", output];
        said(&tilewright(&[&usual[..], more].concat()), 2)
    };
    let (cells, output) = (folder.at("cells.txt"), folder.at("out.onnx"));
    assert!(train("zoo:mobilenet-v3-large-r96", &output, &[]).contains("no operator that can"));
    assert!(train("zoo:ds-cnn", &output, &[]).contains("one image"));
    assert!(train(&cells, &folder.at("out.tflite"), &[]).contains("tilewright export"));
    assert!(train(&cells, &cells, &[]).contains("cells.txt"));
    assert!(train(&cells, &output, &["--batch", "2"]).contains("4 to 1024"));
    assert!(train(&cells, &output, &["--rate", "nan"]).contains("learning rate"));
    let text = train(&cells, &output, &["--rate", "1e30", "--batch", "16"]);
    assert!(text.contains("diverged in step") && text.contains("--rate"), "{text}");
}
