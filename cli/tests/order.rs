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
