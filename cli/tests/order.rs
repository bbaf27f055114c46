//! Orders of least peak from the command line.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

fn order(topology: &str, more: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.json");
    std::fs::write(&path, topology).unwrap();
    let mut command = Command::cargo_bin("tilewright").unwrap();
    command.arg("order").arg(&path).args(more).output().unwrap()
}

/// Two branches of which the second should run first, and a ReLU.
fn topology() -> Value {
    let bytes = [800, 2400, 1600, 1900, 2300, 2000, 1600, 300, 200, 200];
    let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (5, 6), (6, 7), (7, 8), (8, 9)];
    let tensors =
        bytes.iter().enumerate().map(|(n, b)| json!({"name": format!("t{n}"), "bytes": b}));
    let ops = edges.iter().map(|(from, to)| {
        json!({"op": if *to == 9 { "Relu" } else { "Conv" }, "ins": [from], "outs": [to]})
    });
    json!({
        "model": "two branches",
        "tensors": tensors.collect::<Vec<_>>(),
        "ops": ops.collect::<Vec<_>>(),
        "inputs": [0],
        "outputs": [4, 9],
    })
}

#[test]
fn the_order_of_least_peak_is_found_and_placed() {
    let output = order(&topology().to_string(), &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["default_bytes"], 5900);
    assert_eq!(report["peak_bytes"], 5200);
    assert_eq!(report["lower_bound_bytes"], 5200);
    assert_eq!(report["arena_bytes"], 5200);
    assert_eq!(report["proved"], true);
    assert!(report["ms"].as_f64().unwrap() >= 0.0);
    assert_eq!(report["order"].as_array().unwrap().len(), 9);
    assert_eq!(report["buffers"].as_array().unwrap().len(), 10);
    let in_place = order(&topology().to_string(), &["--json", "--in-place"]);
    let report: Value = serde_json::from_slice(&in_place.stdout).unwrap();
    assert_eq!(report["buffers"].as_array().unwrap().len(), 9, "the ReLU has no buffer of its own");
    let text = String::from_utf8(order(&topology().to_string(), &[]).stdout).unwrap();
    assert!(text.contains("no order needs less") && text.contains("← peak"), "{text}");
}

#[test]
fn a_network_of_the_zoo_is_ordered_as_int8() {
    let ordered = |name: &str, code: i32| {
        let mut command = Command::cargo_bin("tilewright").unwrap();
        let output = command.args(["order", name, "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    // Figure 1 of Sudharsan et al.: 5,900 bytes in the file's order, 5,200 in 1-2-5-6-7-8-3-4.
    let report: Value = serde_json::from_slice(&ordered("zoo:two-branches", 0)).unwrap();
    assert_eq!((&report["default_bytes"], &report["peak_bytes"]), (&json!(5900), &json!(5200)));
    assert_eq!(report["order"], json!([0, 1, 4, 5, 6, 7, 2, 3]));
    assert_eq!(report["proved"], true);
    assert!(ordered("zoo:no-such-network", 2).is_empty());
}

#[test]
fn too_little_memory_spent_budgets_and_success_are_different_answers() {
    let asked = |more: &[&str], code: i32| -> Value {
        let output = order(&topology().to_string(), &[&["--json"], more].concat());
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(asked(&[], 0)["answer"], "solved");
    let enough = asked(&["--capacity", "5900"], 0);
    assert_eq!((&enough["answer"], &enough["capacity_bytes"]), (&json!("solved"), &json!(5900)));
    let little = asked(&["--capacity", "3999"], 1);
    assert_eq!(little["answer"], "infeasible");
    let witness = &little["witness"];
    assert!(witness["bytes"].as_u64().unwrap() > 3999, "{witness}");
    let spent = asked(&["--budget", "0", "--capacity", "5200"], 4);
    assert_eq!(spent["answer"], "budget_spent");
    assert!(spent["lower_bound_bytes"].as_u64().unwrap() <= 5200);
    let best = asked(&["--budget", "0"], 0);
    assert_eq!((&best["answer"], &best["proved"]), (&json!("budget_spent"), &json!(false)));
    assert_eq!(best["order"].as_array().unwrap().len(), 9);
    let words = order(&topology().to_string(), &["--capacity", "3999"]);
    assert_eq!(words.status.code(), Some(1));
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.contains("No order needs 3,999 B"), "{words}");
}

#[test]
fn wrong_topologies_are_refused_by_name() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut file = topology();
        change(&mut file);
        let output = order(&file.to_string(), &["--json"]);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(output.stdout.is_empty() && !text.contains("panicked"), "{text}");
        text
    };
    assert!(refused(&|f| f["tensors"][3]["bytes"] = json!(-1)).contains("'t3') has -1 bytes"));
    assert!(refused(&|f| f["tensors"][3]["bytes"] = json!(1.5)).contains("'t3') has 1.5 bytes"));
    assert!(refused(&|f| f["tensors"][3]["bytes"] = json!(u64::MAX)).contains("'t3'"));
    assert!(refused(&|f| f["ops"][2]["ins"] = json!([10])).contains("names tensor 10"));
    assert!(refused(&|f| f["ops"][2]["ins"] = json!([-2])).contains("names tensor -2"));
    assert!(refused(&|f| f["ops"][1]["ins"] = json!([3])).contains("circle"));
    assert!(refused(&|f| f["ops"][1]["outs"] = json!([1])).contains("is written by operator 0"));
    assert!(refused(&|f| f["outputs"] = json!(["x"])).contains("line 1"));
    assert!(refused(&|f| *f = json!([])).contains("no topology"));
}
