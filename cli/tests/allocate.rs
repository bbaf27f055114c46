//! `tilewright allocate`: answers, exit codes, files out, and what it says of bad files.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// Five buffers whose least height, 12, is their largest sum of live bytes.
const SMALL: &str = "id,lower,upper,size\nb1,0,3,4\nb2,3,9,4\nb3,0,9,4\nb4,9,21,4\nb5,0,21,4\n";

fn allocate(folder: &Path, text: &str, more: &[&str]) -> Output {
    let file = folder.join("buffers.csv");
    std::fs::write(&file, text).unwrap();
    let mut command = Command::cargo_bin("tilewright").unwrap();
    command.arg("allocate").arg(file).args(more).output().unwrap()
}

fn json(output: &Output, code: i32) -> Value {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{complaint}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_least_height_is_proved_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("placed.csv");
    let output = allocate(folder.path(), SMALL, &["--json", "-o", out.to_str().unwrap()]);
    let report = json(&output, 0);
    assert_eq!(report["answer"], "solved");
    assert_eq!(report["height_bytes"], 12);
    assert_eq!(report["lower_bound_bytes"], 12);
    assert_eq!(report["proved"], true);
    assert!(report["ms"].as_f64().unwrap() >= 0.0);
    // What was written is a problem with fixed offsets, and it has a solution.
    let placed = std::fs::read_to_string(out).unwrap();
    assert!(placed.starts_with("id,lower,upper,size,offset\nb1,0,3,4,"), "{placed}");
    let again = json(&allocate(folder.path(), &placed, &["--json", "--capacity", "12"]), 0);
    assert_eq!(again["height_bytes"], 12);
}

#[test]
fn too_little_memory_exits_with_one_and_a_witness() {
    let folder = tempfile::tempdir().unwrap();
    let report = json(&allocate(folder.path(), SMALL, &["--json", "--capacity", "11"]), 1);
    assert_eq!(report["answer"], "infeasible");
    assert_eq!(report["height_bytes"], Value::Null);
    assert_eq!(report["witness"]["kind"], "live_bytes");
    assert_eq!(report["witness"]["bytes"], 12);
    assert_eq!(report["witness"]["ids"].as_array().unwrap().len(), 3);
}

#[test]
fn more_memory_than_can_be_addressed_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    for capacity in [(1u64 << 62) - 1, 1 << 62, u64::MAX] {
        let capacity = capacity.to_string();
        let report = json(&allocate(folder.path(), SMALL, &["--json", "--capacity", &capacity]), 0);
        assert_eq!(report["answer"], "solved", "{capacity}");
        assert!(report["height_bytes"].as_u64().unwrap() >= 12);
    }
}

#[test]
fn a_file_is_not_replaced_by_what_is_made_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let same = folder.path().join("buffers.csv");
    let output = allocate(folder.path(), SMALL, &["-o", same.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(same).unwrap(), SMALL);
}

#[test]
fn a_spent_budget_is_another_answer() {
    let folder = tempfile::tempdir().unwrap();
    let report = json(&allocate(folder.path(), SMALL, &["--json", "--budget", "0"]), 4);
    assert_eq!(report["answer"], "budget_spent");
    assert_eq!(report["lower_bound_bytes"], 12);
}

#[test]
fn bad_files_name_the_line() {
    let folder = tempfile::tempdir().unwrap();
    for (text, line, word) in [
        ("id,lower,upper,size\na,0,2,8\na,1,3,8\n", 3, "line 2"),
        ("id,lower,upper,size\na,0,2,-8\n", 2, "negative"),
        ("id,lower,upper,size\na,0,2,8\n\nb,5,2,8\n", 4, "before it starts"),
        ("id,lower,upper,size\na,0,2,18446744073709551615\n", 2, "2^62"),
        ("id,lower,upper,size\na,0,2,99999999999999999999\n", 2, "too large"),
        ("id,lower,upper,size\na,0,2,4611686018427387000\nb,0,1,4611686018427387000\n", 3, "2^62"),
        ("id,lower,upper,size\na,0,x,8\n", 2, "no whole number"),
        ("id,lower,upper,size\na,0,2\n", 2, "4 columns"),
        ("id,lower,size\na,0,2\n", 1, "upper"),
        ("id,lower,upper,size,colour\na,0,2,8,red\n", 1, "colour"),
        ("id,lower,upper,size,alignment\na,0,2,8,0\n", 2, "alignment"),
        ("id,lower,upper,size,alignment,offset\na,0,2,8,4,6\n", 2, "multiple of 4"),
    ] {
        let output = allocate(folder.path(), text, &[]);
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}: {complaint}");
        assert!(complaint.contains(&format!("line {line}")), "{text}: {complaint}");
        assert!(complaint.contains(word), "{text}: {complaint}");
    }
}

#[test]
fn buffers_of_no_bytes_or_no_life_need_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let text = "id,lower,upper,size\na,0,2,0\nb,1,1,8\nc,0,2,16\n";
    let report = json(&allocate(folder.path(), text, &["--json"]), 0);
    assert_eq!(report["height_bytes"], 16);
    let none = json(&allocate(folder.path(), "id,lower,upper,size\n", &["--json"]), 0);
    assert_eq!(none["height_bytes"], 0);
}
