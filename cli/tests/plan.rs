//! Importing, quantising and planning a real model from the command line.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models")
}

fn lenet() -> String {
    models().join("lenet5.onnx").display().to_string()
}

fn tilewright(arguments: &[&str]) -> Output {
    Command::cargo_bin("tilewright").unwrap().args(arguments).output().unwrap()
}

fn plan(model: &str, more: &[&str]) -> Output {
    let mut arguments = vec!["plan", model, "--board", "stm32f746g-disco"];
    arguments.extend(more);
    tilewright(&arguments)
}

fn json(output: &Output, code: i32) -> Value {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(output: &Output, code: i32) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{complaint}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn inspect_gives_the_operators_of_lenet() {
    let inspected = json(&tilewright(&["inspect", &lenet(), "--json"]), 0);
    // Figures of models/README.md, which come from another implementation.
    assert_eq!(inspected["macs"], 416_520);
    assert_eq!(inspected["parameters"], 61_706);
    assert_eq!(inspected["inputs"][0]["shape"], serde_json::json!([1, 32, 32, 1]));
    assert_eq!(inspected["labels"].as_array().unwrap().len(), 10);
    let operators = inspected["operators"].as_array().unwrap();
    assert_eq!(operators[0]["op"], "Conv2D");
    assert_eq!(operators[0]["output"], serde_json::json!([1, 28, 28, 6]));
    let csv = text(&tilewright(&["inspect", &lenet(), "--csv"]), 0);
    assert_eq!(csv.lines().count(), operators.len() + 1);
    assert!(csv.starts_with("name,op,inputs,output,macs,parameters\r\n"), "{csv}");
    assert!(text(&tilewright(&["inspect", &lenet()]), 0).contains("416,520 MACs"));
}

#[test]
fn a_list_names_the_classes_of_files_and_of_the_zoo() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("labels.txt");
    let given = |names: &[String]| std::fs::write(&path, names.join("\n")).unwrap();
    let labels = path.to_str().unwrap();
    let inspected =
        |model: &str| json(&tilewright(&["inspect", model, "--labels", labels, "--json"]), 0);
    let names: Vec<String> = (0..10).map(|class| format!("thing, {class}")).collect();
    given(&names);
    for model in [lenet().as_str(), "zoo:lenet5"] {
        assert_eq!(inspected(model)["labels"], serde_json::json!(names), "{model}");
    }
    given(&names[..3]);
    let shown = inspected(&lenet());
    assert_ne!(shown["labels"], serde_json::json!(names[..3]));
    assert!(shown["notes"].to_string().contains("labels.txt has 3 class names"), "{shown}");
}

#[test]
fn inspect_shows_what_quantising_does() {
    let shown = |options: &[&str]| {
        let lenet = lenet();
        let mut words = vec!["inspect", lenet.as_str(), "--quantisation"];
        words.extend(options);
        tilewright(&words)
    };
    let minmax = json(&shown(&["--json"]), 0);
    assert_eq!(minmax["calibration"], "minmax");
    let tensors = minmax["tensors"].as_array().unwrap();
    assert_eq!((tensors[0]["low"].as_f64(), tensors[0]["high"].as_f64()), (Some(0.0), Some(1.0)));
    assert_eq!(tensors[0]["zero"], -128);
    let mse = json(&shown(&["--json", "--calibration", "mse"]), 0);
    assert_eq!(mse["calibration"], "mse");
    assert!(mse["samples"].as_str().unwrap().ends_with("calibration mse"), "{mse}");
    let names = |shown: &serde_json::Value| -> Vec<String> {
        let tensors = shown["tensors"].as_array().unwrap();
        tensors.iter().map(|tensor| tensor["layer"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&minmax), names(&mse));
    for (wide, cut) in tensors.iter().zip(mse["tensors"].as_array().unwrap()) {
        assert_eq!(wide["high"], cut["high"], "what was seen does not depend on the rule");
        assert!(wide["sqnr_db"].as_f64().unwrap() > 25.0, "{wide}");
        // A pool chooses values, so that it has no error of its own.
        let moves = ["pool1", "pool2", "flatten"].iter().any(|name| wide["layer"] == *name);
        assert_eq!(wide["output_sqnr_db"].is_null(), moves, "{wide}");
    }
    assert_ne!(tensors[1]["scale"], mse["tensors"][1]["scale"]);
    let csv = text(&shown(&["--csv"]), 0);
    assert_eq!(csv.lines().count(), tensors.len() + 1);
    assert!(csv.starts_with("layer,tensor,low,high,scale,zero,saturated_percent,sqnr_db"), "{csv}");
    assert!(text(&shown(&[]), 0).contains("layers alone on 16 of the samples"));
    for wrong in ["max", "percentile=20", "percentile="] {
        text(&shown(&["--calibration", wrong]), 2);
    }
    text(&tilewright(&["inspect", &lenet(), "--calibration", "mse"]), 2);
    text(&shown(&["--pixels", "dark..light"]), 2);
    let signed = json(&shown(&["--json", "--pixels", "-1..1"]), 0);
    let lowest = |shown: &Value| shown["tensors"][0]["low"].as_f64().unwrap();
    assert_eq!((lowest(&mse), lowest(&signed)), (0.0, -1.0));
    text(&tilewright(&["inspect", "zoo:lenet5", "--quantisation"]), 2);
    let plan = json(&plan(&lenet(), &["--json", "--calibration", "percentile=99.9"]), 0);
    let samples = plan["samples"].as_str().unwrap();
    assert!(samples.ends_with("calibration percentile=99.9"), "{samples}");
}

#[test]
fn plan_tells_energy_and_wear_with_their_sources_or_what_is_missing() {
    let swap = |more: &[&str]| {
        let options = ["--strategy", "swap", "--sram", "65536"];
        plan(&lenet(), &[&options, more].concat())
    };
    let report = json(&swap(&["--json", "--frames", "2"]), 0);
    let energy = &report["energy"];
    let states: Vec<_> = energy["states"].as_array().unwrap().iter().collect();
    assert!(states.iter().any(|state| state["state"] == "card"), "{energy}");
    assert!(states.iter().all(|state| !state["source"].as_str().unwrap().is_empty()));
    let middle = report["energy_uj"].as_f64().unwrap();
    assert!(energy["frame_uj"][0].as_f64().unwrap() < middle);
    assert!(middle < energy["frame_uj"][1].as_f64().unwrap());
    let wear = &report["wear"];
    assert_eq!(
        wear["frame_written_bytes"].as_f64().unwrap() * 2.0,
        report["card_written_bytes"].as_f64().unwrap()
    );
    assert!(wear["years"][0].as_f64() < wear["years"][1].as_f64(), "{wear}");
    assert_eq!(report["kinds"]["wear"], "modelled");
    let rare = json(&swap(&["--json", "--period", "1h"]), 0);
    assert_eq!(rare["wear"]["period_us"], 3600e6);
    let said = text(&swap(&[]), 0);
    for part in ["energy", "card takes", "a day", "card lasts", "until cells reach"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    text(&swap(&["--period", "soon"]), 2);
    // A board that no source tells the power of.
    let other = ["plan", &lenet(), "--board", "nucleo-f767zi", "--json"];
    let unknown = json(&tilewright(&other), 0);
    assert!(unknown["energy"].is_null() && unknown["energy_uj"].is_null());
    assert!(unknown["energy_unknown"].as_str().unwrap().contains("no source"), "{unknown}");
}

#[test]
fn buffers_beyond_all_memory_do_not_fit() {
    for buffer in ["4611686018427387904", "18446744073709551615"] {
        let options = ["--json", "--strategy", "swap", "--buffer", buffer];
        let report = json(&plan(&lenet(), &options), 1);
        assert_eq!(report["fits"], false, "{buffer}");
    }
}

#[test]
fn what_does_not_fit_is_told_of_the_frames_that_were_asked_for() {
    let short = |frames: &str| {
        let options = ["--json", "--strategy", "resident", "--sram", "2048", "--frames", frames];
        json(&plan(&lenet(), &options), 1)
    };
    let (one, ten) = (short("1"), short("10"));
    assert_eq!((&ten["fits"], &ten["frames"]), (&false.into(), &10.into()));
    // Energy is that of a frame, however many there are.
    let energy = [&one, &ten].map(|told| told["energy_uj"].as_f64().unwrap());
    assert!((energy[1] / energy[0] - 1.0).abs() < 0.02, "{energy:?}");
}

#[test]
fn plan_gives_the_keys_that_scripts_rely_on() {
    let report = json(&plan(&lenet(), &["--json"]), 0);
    for key in [
        "model",
        "board",
        "strategy",
        "fits",
        "peak_sram_bytes",
        "lower_bound_bytes",
        "proved",
        "flash_bytes",
        "external_bytes",
        "macs",
        "latency_us",
        "compute_us",
        "transfer_us",
        "stall_us",
        "bound_us",
        "read_bytes",
        "written_bytes",
        "energy_uj",
        "energy",
        "energy_unknown",
        "wear",
        "card_written_bytes",
        "card_writes",
        "kinds",
        "samples",
    ] {
        assert!(report.get(key).is_some(), "{key}");
    }
    assert_eq!(report["fits"], true);
    assert_eq!(report["macs"], 416_520);
    assert_eq!(report["kinds"]["latency_us"], "modelled");
    assert!(report["samples"].as_str().unwrap().contains("lenet5.calibration.npy"));
    let all = json(&plan(&lenet(), &["--json", "--strategy", "all"]), 0);
    assert_eq!(all.as_array().unwrap()[0], report);
    assert!(text(&plan(&lenet(), &[]), 0).contains("proved"));
    let columns = text(&plan(&lenet(), &["--strategy", "all"]), 0);
    for strategy in all.as_array().unwrap() {
        assert!(columns.contains(strategy["strategy"].as_str().unwrap()), "{columns}");
    }
    assert!(columns.contains("best of the row"), "{columns}");
}

#[test]
fn a_plan_that_does_not_fit_exits_with_one_and_names_operator_and_bytes() {
    let report = json(&plan(&lenet(), &["--json", "--sram", "2KiB"]), 1);
    assert_eq!(report["fits"], false);
    let reason = &report["does_not_fit"];
    assert_eq!(reason["available_bytes"], 2048);
    assert_eq!(reason["needed_bytes"], report["peak_sram_bytes"]);
    assert!(!reason["operator"].as_str().unwrap().is_empty());
    let parts = reason["parts"].as_array().unwrap();
    let bytes: u64 = parts.iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
    assert_eq!(Some(bytes), reason["needed_bytes"].as_u64(), "the parts are all there is");
    // The board has more than the budget: planned, not guessed.
    let remedy = &reason["remedies"][0];
    assert_eq!((&remedy["change"], &remedy["fits"]), (&"whole_arena".into(), &true.into()));
    assert_eq!(remedy["needed_bytes"], report["peak_sram_bytes"]);
    let said = text(&plan(&lenet(), &["--sram", "2KiB"]), 1);
    assert!(said.contains("2048 are there"), "{said}");
    assert!(said.contains("What would help") && said.contains("no budget"), "{said}");
    assert!(
        said.contains(" of 2,048 B "),
        "of what was allowed, not of what the board has: {said}"
    );
}

#[test]
fn a_network_of_the_zoo_that_does_not_fit_is_offered_in_sizes_that_do() {
    // A board without external memory and card, and a budget in which no rows of all layers together lie: else
    // the network fits as it is.
    let plan = |network: &str| {
        let on = ["--board", "paper-sparse-f767", "--strategy", "reordered", "--sram", "80000"];
        tilewright(&[&["plan", network, "--json"], &on[..]].concat())
    };
    let report = json(&plan("zoo:mobilenet-v2-w0.35-r224"), 1);
    let remedies = report["does_not_fit"]["remedies"].as_array().unwrap();
    let smaller = |remedy: &&Value| remedy["change"]["network"].is_string();
    let smaller: Vec<&Value> = remedies.iter().filter(smaller).collect();
    assert!(!smaller.is_empty(), "{remedies:?}");
    for remedy in smaller {
        assert_eq!(remedy["fits"], true);
        let name = format!("zoo:{}", remedy["change"]["network"].as_str().unwrap());
        let planned = json(&plan(&name), 0);
        assert_eq!(planned["peak_sram_bytes"], remedy["needed_bytes"], "{name}");
        assert_eq!(planned["latency_us"], remedy["latency_us"], "{name}");
    }
}

#[test]
fn samples_come_from_beside_the_model_or_must_be_given() {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("alone.onnx");
    std::fs::copy(models().join("lenet5.onnx"), &alone).unwrap();
    let alone = alone.display().to_string();
    let output = plan(&alone, &[]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("alone.calibration.npy"), "{complaint}");
    assert!(complaint.contains("--samples"), "{complaint}");

    let random = json(&plan(&alone, &["--json", "--samples", "random"]), 0);
    assert!(random["samples"].as_str().unwrap().contains("random"), "{random}");
    let again = json(&plan(&alone, &["--json", "--samples", "random"]), 0);
    assert_eq!(random, again, "the same seed gives the same plan");

    let given = models().join("lenet5.calibration.npy").display().to_string();
    let given = json(&plan(&alone, &["--json", "--samples", &given]), 0);
    assert_eq!(given["peak_sram_bytes"], random["peak_sram_bytes"]);
    let other = models().join("fashion-mobilenet.calibration.npy").display().to_string();
    let output = plan(&alone, &["--samples", &other]);
    assert_eq!(output.status.code(), Some(2), "{:?}", String::from_utf8(output.stderr));
}

#[test]
fn truncated_models_are_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(models().join("lenet5.onnx")).unwrap();
    for length in [1, 17, whole.len() / 2, whole.len() - 1] {
        let path = folder.path().join("cut.onnx");
        std::fs::write(&path, &whole[..length]).unwrap();
        let output = tilewright(&["inspect", &path.display().to_string()]);
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{length}: {complaint}");
        assert!(complaint.contains("cut.onnx"), "{complaint}");
    }
}

#[test]
fn a_dimension_that_the_model_does_not_have_is_refused() {
    for command in ["inspect", "plan"] {
        let mut arguments = vec![command];
        let lenet = lenet();
        arguments.extend([lenet.as_str(), "--dim", "hieght=32"]);
        if command == "plan" {
            arguments.extend(["--board", "stm32f746g-disco"]);
        }
        let output = tilewright(&arguments);
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.contains("'hieght'"), "{complaint}");
        assert!(complaint.contains("fixed") || complaint.contains("these are"), "{complaint}");
    }
}
