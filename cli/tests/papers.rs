//! `tilewright papers`: figures beside those that are printed.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn papers(arguments: &[&str]) -> Output {
    let program = &mut Command::cargo_bin("tilewright").unwrap();
    program.arg("papers").args(arguments).output().unwrap()
}

fn text(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    String::from_utf8(if code == 0 { &output.stdout } else { &output.stderr }.clone()).unwrap()
}

#[test]
fn all_papers_are_listed_and_others_are_not_known() {
    let list = text(&papers(&[]), 0);
    for id in ["order", "ping-pong", "tinyops", "swapnn", "sparse-tiled"] {
        assert!(list.contains(id), "{list}");
    }
    assert!(text(&papers(&["mcunet"]), 2).contains("sparse-tiled"));
}

#[test]
fn all_forms_say_the_same_figures() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (csv, svg) = (at("order.csv"), at("order.svg"));
    let said = text(&papers(&["order", "--csv", &csv, "--svg", &svg]), 0);
    let report: Value = serde_json::from_str(&text(&papers(&["order", "--json"]), 0)).unwrap();
    let figures = report["figures"].as_array().unwrap();
    assert_eq!(std::fs::read_to_string(csv).unwrap().lines().count(), 1 + figures.len());
    assert!(std::fs::read_to_string(svg).unwrap().contains("tilewright papers order"));
    assert!(said.contains("18 printed figures, 12 of them more than 10 % off"), "{said}");
    let first = &figures[0];
    assert_eq!((&first["of"], &first["kind"]), (&"MobileNetV1".into(), &"counted".into()));
    assert_eq!((&first["ours"], &first["printed"]), (&98.304.into(), &98.304.into()));
    let ping_pong: Value =
        serde_json::from_str(&text(&papers(&["ping-pong", "--json"]), 0)).unwrap();
    assert_eq!(ping_pong["figures"][2]["plan"]["strategy"], "ping-pong");
}

#[test]
fn layers_are_bound_as_the_papers_table_says() {
    let arguments = ["inspect", "zoo:vgg16", "--intensity", "--json"];
    let output = Command::cargo_bin("tilewright").unwrap().args(arguments).output().unwrap();
    let rows: Value = serde_json::from_str(&text(&output, 0)).unwrap();
    let rows = rows.as_array().unwrap();
    // Table 1 of SwapNN: block1_conv2 and fc1.
    let near = |row: &Value, key: &str, printed: f64| {
        let ours = row[key].as_f64().unwrap();
        assert!((ours / printed - 1.0).abs() < 0.05, "{key}: {ours} and {printed}");
    };
    let (conv, dense) = (&rows[1], rows.iter().find(|row| row["op"] == "FullyConnected").unwrap());
    near(conv, "mega_operations", 1849.69);
    near(conv, "traffic_megabytes", 6.46);
    near(conv, "most_n", 178.97);
    near(dense, "most_n", 0.62);
    assert_eq!((&conv["bound_by"], &dense["bound_by"]), (&"compute".into(), &"card".into()));
}
