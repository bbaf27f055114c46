//! `tilewright explore` on emulated boards: operators and genotypes run bit-equal to the reference, and are kept.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tilewright_tests::program::{json, run};

/// A folder of this test, emptied.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn operators_alone_run_bit_equal_to_the_reference_and_are_kept() {
    let rows = folder("operators").join("rows.jsonl");
    let options = ["explore", "operators", "--backbones", "mobilenet-v3-thesis", "--json"];
    let kept = ["--rows", rows.to_str().unwrap()];
    let report = json(&[&options[..], &kept, &["--emulate", "2500"]].concat(), 0);
    let operators = report["cores"][0]["operators"].as_array().unwrap();
    let ran: Vec<_> = operators.iter().filter(|operator| !operator["run"].is_null()).collect();
    assert!(ran.len() >= 10, "{}", ran.len());
    for operator in &ran {
        assert!(operator["macs"].as_u64().unwrap() <= 2500, "{operator}");
        let [counted, predicted] = [&operator["run"]["cycles"], &operator["predicted_cycles"]];
        let off = counted.as_f64().unwrap() / predicted.as_f64().unwrap();
        assert!((0.5..2.0).contains(&off), "{operator}");
    }
    assert_eq!(report["kinds"]["cores[].operators[].run.instructions"], "counted");
    let text = fs::read_to_string(&rows).unwrap();
    assert_eq!(text.lines().count(), ran.len());
    // What is kept is not run again: a figure that was changed stays.
    fs::write(&rows, text.replace("\"cycles\":", "\"cycles\":1")).unwrap();
    let more = ["--emulate", "2500", "--without-data-cache"];
    let changed = json(&[&options[..], &kept, &more].concat(), 0);
    let instructions = |report: &Value, core: usize| -> Vec<Value> {
        let operators = report["cores"][core]["operators"].as_array().unwrap();
        operators.iter().map(|operator| operator["run"]["instructions"].clone()).collect()
    };
    // With the cache off the same instructions run.
    assert_eq!(instructions(&changed, 0), instructions(&report, 0));
    assert_eq!(instructions(&changed, 1), instructions(&report, 0));
    assert_ne!(changed["cores"][0]["operators"], report["cores"][0]["operators"]);
}

#[test]
fn genotypes_run_bit_equal_and_their_costs_are_told() {
    let folder = folder("genotypes");
    let [rows, costs, csv, svg] = ["rows.jsonl", "costs.txt", "all.csv", "all.svg"]
        .map(|name| folder.join(name).to_str().unwrap().to_owned());
    let small = ["--cells", "3", "--channels", "4", "--resolution", "8"];
    let options = [&["explore", "genotypes", "--rows", &rows, "--json"][..], &small].concat();
    let part = json(&[&options[..], &["--count", "2"]].concat(), 0);
    assert_eq!((&part["of"], part["genotypes"].as_array().unwrap().len()), (&2.into(), 2));
    let before = fs::read_to_string(&rows).unwrap();
    let written = ["--count", "4", "--costs", &costs, "--csv", &csv, "--svg", &svg];
    let report = json(&[&options[..], &written].concat(), 0);
    let genotypes = report["genotypes"].as_array().unwrap();
    assert!(fs::read_to_string(&rows).unwrap().starts_with(&before), "runs go on");
    assert_eq!(genotypes.len(), 4);
    assert_eq!(genotypes[..2], part["genotypes"].as_array().unwrap()[..]);
    for one in genotypes {
        let figure = |key: &str| one["row"][key].as_u64().unwrap();
        let run = &one["row"]["run"];
        let off = run["cycles"].as_f64().unwrap() / figure("predicted_cycles") as f64;
        assert!((0.5..2.0).contains(&off), "{one}");
        assert!(run["instructions"].as_u64() > one["costs"]["counted_instructions"].as_u64());
    }
    let kinds = &report["kinds"];
    for (key, kind) in [
        ("genotypes[].row.run.instructions", "counted"),
        ("genotypes[].row.run.cycles", "modelled"),
        ("genotypes[].costs.published", "modelled"),
        ("costs[].instructions", "counted"),
        ("correlations[].kendall", "modelled"),
    ] {
        assert_eq!(kinds[key], kind, "{key}");
    }
    let text = fs::read_to_string(costs).unwrap();
    let lines: Vec<_> = text.lines().map(|line| line.split_once(" = ").unwrap()).collect();
    let names: Vec<_> = lines.iter().map(|(name, _)| *name).collect();
    assert_eq!(names[..3], ["none", "max_pool_3x3", "avg_pool_3x3"]);
    assert_eq!((names.len(), names[3]), (8, "skip_connect"));
    for (line, cost) in lines.iter().zip(report["costs"].as_array().unwrap()) {
        assert_eq!(line.1.parse::<u64>().ok(), cost["cycles"].as_u64(), "{line:?}");
    }
    assert_eq!(fs::read_to_string(csv).unwrap().lines().count(), 5);
    let picture = fs::read_to_string(svg).unwrap();
    assert!(picture.contains("explore genotypes") && picture.contains("(modelled)"), "{picture}");
}

#[test]
fn genotypes_that_no_board_holds_are_told() {
    let large = ["explore", "genotypes", "--count", "1", "--cells", "1", "--resolution", "1024"];
    let said = run(&large);
    assert_eq!(said.status.code(), Some(1), "{said:?}");
    let error = String::from_utf8(said.stderr).unwrap();
    assert!(error.contains("The table of costs has gaps"), "{error}");
}
