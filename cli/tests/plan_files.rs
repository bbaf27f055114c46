//! What `plan` writes: the memory map as CSV, JSON and SVG, and the trace.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn lenet() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/lenet5.onnx").display().to_string()
}

fn plan(more: &[&str]) -> Output {
    let lenet = lenet();
    let mut arguments = vec!["plan", lenet.as_str(), "--board", "stm32f746g-disco"];
    arguments.extend(more);
    Command::cargo_bin("tilewright").unwrap().args(arguments).output().unwrap()
}

fn said(more: &[&str]) -> String {
    let output = plan(more);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{complaint}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_memory_map_is_the_same_in_csv_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.csv");
    let report: Value =
        serde_json::from_str(&said(&["--json", "--csv", &path.display().to_string()])).unwrap();
    let map = fs::read_to_string(&path).unwrap();
    let mut lines = map.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let operators = report["memory"]["operators"].as_array().unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|row| row.split(',').collect()).collect();
    assert_eq!(rows.len(), operators.len());
    assert_eq!(rows.len(), report["layers"].as_array().unwrap().len());
    let mut most = 0;
    for (row, operator) in rows.iter().zip(operators) {
        let bytes = |key: &str| {
            let column = heads.iter().position(|head| *head == key).unwrap();
            let bytes: u64 = row[column].parse().unwrap();
            assert_eq!(operator[key].as_u64(), Some(bytes), "{key}: {row:?}");
            bytes
        };
        let [input, output, other] = ["input_bytes", "output_bytes", "other_bytes"].map(bytes);
        let [scratch, shared, live] = ["scratch_bytes", "shared_bytes", "live_bytes"].map(bytes);
        let [reserved, weights] = ["reserved_bytes", "weight_bytes"].map(bytes);
        let sum = input + output + other + weights + scratch + reserved;
        assert_eq!(sum - shared, live, "{row:?}");
        let tensors = operator["tensors"].as_array().unwrap().len();
        assert_eq!(row[13].split(' ').count(), tensors, "{row:?}");
        most = most.max(live);
    }
    assert_eq!(report["memory"]["peak_live_bytes"].as_u64(), Some(most));
    assert_eq!(report["memory"]["arena_bytes"], report["peak_sram_bytes"]);
}

#[test]
fn the_picture_is_well_formed_and_shows_each_strategy() {
    let picture = said(&["--strategy", "all", "--svg", "-"]);
    assert!(picture.starts_with("<?xml") && picture.trim_end().ends_with("</svg>"));
    for strategy in ["resident", "reordered"] {
        assert!(picture.contains(&format!("strategy {strategy}")), "{strategy}");
    }
    assert!(picture.contains("peak 5,880 B (5.7 KiB)"), "the first pool: 28·28·6 + 14·14·6");
}

#[test]
fn the_trace_has_a_track_for_the_core_and_every_layer_on_it() {
    let trace: Value = serde_json::from_str(&said(&["--perfetto", "-"])).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let track = events.iter().find(|event| event["name"] == "thread_name").unwrap();
    assert_eq!(track["args"]["name"], "core");
    let on_it = events.iter().filter(|e| e["ph"] == "X" && e["tid"] == track["tid"]);
    let mut until = 0.0;
    let [mut computed, mut handled] = [0, 0];
    for slice in on_it {
        let (start, length) = (slice["ts"].as_f64().unwrap(), slice["dur"].as_f64().unwrap());
        assert!(start >= until - 1e-6 && length > 0.0, "{slice}");
        until = start + length;
        match slice["cat"].as_str().unwrap() {
            "compute" => computed += 1,
            "driver_overhead" => handled += 1,
            other => panic!("{other}"),
        }
    }
    let report: Value = serde_json::from_str(&said(&["--json"])).unwrap();
    let layers = report["layers"].as_array().unwrap().len();
    assert_eq!([computed, handled], [layers; 2], "each layer is one step here");
    assert!((until - report["latency_us"].as_f64().unwrap()).abs() < 1e-3);
}

#[test]
fn the_schedule_is_the_same_in_all_its_files() {
    let swap = ["--strategy", "swap", "--frames", "2"];
    let asked = |file: &str| said(&[&swap[..], &[file, "-"]].concat());
    let trace: Value = serde_json::from_str(&asked("--perfetto")).unwrap();
    let all: Value = serde_json::from_str(&asked("--schedule-json")).unwrap();
    let table = asked("--schedule-csv");
    let slices = all["predicted"]["slices"].as_array().unwrap();
    assert_eq!(table.lines().count(), 1 + slices.len());
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &str| -> Vec<&Value> { events.iter().filter(|e| e["ph"] == phase).collect() };
    assert_eq!(of("X").len(), slices.len());
    for ((row, slice), event) in table.lines().skip(1).zip(slices).zip(of("X")) {
        let fields: Vec<&str> = row.split(',').collect();
        let [start, end] = [7, 8].map(|at| fields[at].parse::<f64>().unwrap());
        let [ts, length] = ["ts", "dur"].map(|key| event[key].as_f64().unwrap());
        assert!((ts - start).abs() < 1e-3 && (ts + length - end).abs() < 2e-3, "{row} {event}");
        assert_eq!(
            event["args"]["cycles"],
            slice["end"].as_u64().unwrap() - slice["start"].as_u64().unwrap()
        );
        assert_eq!(fields[2], slice["kind"], "{row}");
    }
    // What of SRAM is held is what the page draws, not the activations of another strategy.
    let held = |of: &Value| ["inputs", "weights", "results"].map(|key| of[key].as_u64().unwrap());
    let most = of("C").iter().map(|e| held(&e["args"]).iter().sum::<u64>()).max().unwrap();
    let changes = all["occupancy"]["changes"].as_array().unwrap();
    let bytes = |change: &Value| -> u64 {
        change["bytes"].as_array().unwrap().iter().map(|bytes| bytes.as_u64().unwrap()).sum()
    };
    assert_eq!(Some(most), changes.iter().map(bytes).max());
    assert!(most > 0);
    // Every arrow begins in a slice that works and ends in one that had waited.
    let slice_at = |end: &Value| {
        let holds = |e: &&&Value| {
            let [ts, length, at] = [&e["ts"], &e["dur"], &end["ts"]].map(|v| v.as_f64().unwrap());
            e["tid"] == end["tid"] && ts <= at && at <= ts + length && e["cat"] != "stall"
        };
        of("X").iter().any(|event| holds(&event))
    };
    assert!(!of("s").is_empty());
    assert!(of("s").iter().chain(&of("f")).all(|end| slice_at(end)));
    let several = plan(&["--strategy", "all", "--schedule-csv", "-"]);
    assert_eq!(several.status.code(), Some(2), "a table holds one schedule");
}

#[test]
fn standard_output_holds_one_thing_and_files_are_whole_or_untouched() {
    for both in [&["--csv", "-", "--json"][..], &["--csv", "-", "--svg", "-"]] {
        assert_eq!(plan(both).status.code(), Some(2), "{both:?}");
    }
    assert!(said(&["--csv", "-"]).starts_with("strategy,position,"));
    let folder = tempfile::tempdir().unwrap();
    let one = folder.path().join("one").display().to_string();
    for files in [&["--csv", &one, "--svg", &one][..], &["--csv", &lenet()]] {
        assert_eq!(plan(files).status.code(), Some(2), "{files:?}");
    }
    let nowhere = folder.path().join("none/map.csv").display().to_string();
    assert_eq!(plan(&["--csv", &nowhere]).status.code(), Some(2));
    let path = folder.path().join("map.csv");
    fs::write(&path, "before").unwrap();
    said(&["--csv", &path.display().to_string()]);
    assert!(fs::read_to_string(&path).unwrap().starts_with("strategy,"));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(left, [path], "no half file stays behind");
    #[cfg(unix)]
    {
        said(&["--csv", "/dev/null"]);
        assert!(
            !fs::metadata("/dev/null").unwrap().is_file(),
            "a device is written to, not replaced"
        );
    }
}
