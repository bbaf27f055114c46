//! `tilewright explore search`: what it finds, how it goes on, and what it says of bad data.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// Small enough for a second.
const SMALL: [&str; 12] = [
    "--resolution",
    "8",
    "--cells",
    "3",
    "--cell-steps",
    "2",
    "--channels",
    "4",
    "--batch",
    "8",
    "--architecture-rate",
    "0.1",
];

fn tilewright(arguments: &[&str]) -> Output {
    Command::cargo_bin("tilewright").unwrap().args(arguments).output().unwrap()
}

fn search(data: &str, arguments: &[&str]) -> Output {
    tilewright(&[&["explore", "search", "--data", data], &SMALL[..], arguments].concat())
}

fn digits() -> String {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    models.join("lenet5.calibration.npy").display().to_string()
}

fn said(output: &Output, code: i32) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{complaint}");
    if code == 0 { String::from_utf8(output.stdout.clone()).unwrap() } else { complaint }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn cells_are_found_kept_drawn_and_built() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (cells, log, svg) = (at("cells.txt"), at("log.csv"), at("figures.svg"));
    let files = ["-o", &cells, "--log", &log, "--svg", &svg];
    let output =
        search(&digits(), &[&["--steps", "12", "--trade-off", "0,1"], &files[..]].concat());
    let text = said(&output, 0);
    for part in ["12 of 12", "Γ = 1, seed 0", "tilewright train", "cells.g1.txt --data"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let rows = std::fs::read_to_string(log).unwrap();
    assert!(rows.starts_with("trade_off,seed,step,training_loss,"), "{rows}");
    assert_eq!(rows.lines().count(), 1 + 2 * 12);
    let picture = std::fs::read_to_string(svg).unwrap();
    // Eight figures, of two series each with its mark in the legend.
    assert_eq!(picture.matches("<path class").count(), 8 * 2 * (12 + 1));
    let (found, network) = (at("cells.g1.txt"), at("cells.onnx"));
    assert!(std::fs::read_to_string(&found).unwrap().contains("channels 4\nresolution 8"));
    said(&tilewright(&["export", &found, "-o", &network]), 0);
}

#[test]
fn a_search_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state").display().to_string();
    let options = ["--steps", "6", "--trade-off", "0.02", "--json", "--state", &state];
    let found = |output: &Output| -> Value { serde_json::from_str(&said(output, 0)).unwrap() };
    let whole = found(&search(&digits(), &options[..5]));
    assert_eq!((&whole[0]["steps"], &whole[0]["of"]), (&6.into(), &6.into()));
    assert_eq!(found(&search(&digits(), &options)), whole);
    // All is done: it only says once more what was found.
    assert_eq!(found(&search(&digits(), &options)), whole);
    let other = search(&digits(), &[&options[..], &["--seed", "1"]].concat());
    assert!(said(&other, 2).contains("other settings"));
    std::fs::write(&state, b"nothing").unwrap();
    assert!(said(&search(&digits(), &options), 2).contains("no whole state"));
}

#[test]
fn costs_of_ones_own_decide() {
    let folder = tempfile::tempdir().unwrap();
    let costs = folder.path().join("costs.txt").display().to_string();
    let options = ["--steps", "20", "--trade-off", "1", "--costs", &costs];
    std::fs::write(&costs, "# counted\nskip_connect = 9000000\nmax_pool_3x3 = 0\n").unwrap();
    let text = said(&search(&digits(), &options), 0);
    assert!(text.contains("max_pool_3x3") && !text.contains("skip_connect"), "{text}");
    std::fs::write(&costs, "skip = 9\n").unwrap();
    let text = said(&search(&digits(), &options), 2);
    assert!(text.contains("line 1") && text.contains("skip_connect"), "{text}");
}

#[test]
fn a_search_that_diverges_keeps_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let wild = ["--weight-rate", "1e30", "--trade-off", "0", "--log", log.to_str().unwrap()];
    let output = search(&digits(), &wild);
    let text = said(&output, 2);
    assert!(text.contains("diverged in step") && text.contains("--weight-rate"), "{text}");
    assert!(std::fs::read_to_string(log).unwrap().lines().count() > 1);
    assert!(String::from_utf8_lossy(&output.stdout).contains("Genotype("));
}

#[test]
fn idx_files_are_read_and_bad_data_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let one_step = ["--steps", "1", "--trade-off", "0"];
    assert!(said(&search(&path, &one_step), 2).contains("images-idx3-ubyte"));
    assert!(said(&search(&format!("{path}/none"), &one_step), 2).contains("no such file"));
    let mut images = [0, 0, 8, 3, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 8].to_vec();
    images.extend((0..512).map(|at| (at * 37 % 251) as u8));
    let labels = [&[0, 0, 8, 1, 0, 0, 0, 8], &[0, 1, 2, 0, 1, 2, 0, 1][..]].concat();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(format!("{name}-ubyte.gz")), bytes).unwrap();
    };
    write("t10k-images-idx3", &packed(&images));
    write("t10k-labels-idx1", &packed(&labels));
    assert!(said(&search(&path, &one_step), 0).contains("1 of 1"));
    write("t10k-labels-idx1", &packed(&[&[0, 0, 8, 1, 0, 0, 0, 2], &[0, 1][..]].concat()));
    assert!(said(&search(&path, &one_step), 2).contains("2 labels for 8 images"));
    write("t10k-images-idx3", &packed(&images[..100]));
    assert!(said(&search(&path, &one_step), 2).contains("damaged"));
    write("t10k-images-idx3", &packed(&images)[..60]);
    assert!(said(&search(&path, &one_step), 2).contains("cannot be unpacked"));
    let array = folder.path().join("array.npy");
    std::fs::write(&array, b"\x93NUMPY").unwrap();
    assert!(said(&search(array.to_str().unwrap(), &one_step), 2).contains("array is wrong"));
    let few = search(&digits(), &[&one_step[..], &["--images", "3"]].concat());
    assert!(said(&few, 2).contains("3 images"));
}

/// Steps that the same search has done when Ctrl-C comes: as soon as its file is written once more.
#[cfg(unix)]
fn interrupted(state: &Path, options: &[&str]) -> u64 {
    use std::process::{Command, Stdio};

    let written = || std::fs::metadata(state).and_then(|about| about.modified()).ok();
    let before = written();
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("tilewright"))
        .args(["explore", "search", "--data", &digits(), "--json"])
        .args(SMALL)
        .args(options)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while written() == before {
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found[0]["log"].as_array().unwrap().len() as u64, found[0]["steps"]);
    found[0]["steps"].as_u64().unwrap()
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_search() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let kept = state.to_str().unwrap();
    let options = ["--steps", "1000000", "--trade-off", "0.01", "--state", kept];
    let first = interrupted(&state, &options);
    assert!((20..1_000_000).contains(&first), "{first}");
    let second = interrupted(&state, &options);
    assert!(second > first, "{second} after {first}");
}
