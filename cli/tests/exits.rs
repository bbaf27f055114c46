//! Early exits on the command line.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use assert_cmd::Command;
use serde_json::Value;

const NETWORK: &str = "zoo:mobilenet-v3-thesis-exits-w0.1-r48";
const BOARD: [&str; 2] = ["--board", "nucleo-f767zi"];

fn tilewright(arguments: &[&str]) -> std::process::Output {
    Command::cargo_bin("tilewright").unwrap().args(arguments).args(BOARD).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = tilewright(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_plan_tells_what_each_exit_costs() {
    let plan = json(&["plan", NETWORK, "--exits", "--exit-confidence", "0.9", "--json"]);
    let exits = plan["exits"].as_array().unwrap();
    assert_eq!(exits.len(), 9);
    let of = |key: &str| exits.iter().map(|exit| exit[key].as_f64().unwrap()).collect::<Vec<_>>();
    for key in ["macs", "latency_us", "exit_us"] {
        assert!(of(key).is_sorted(), "{key}: {:?}", of(key));
    }
    // On the way to a later exit the earlier ones are computed too.
    let [alone, taken] = ["latency_us", "exit_us"].map(of);
    assert!(alone.iter().zip(&taken).skip(1).all(|(alone, taken)| alone < taken));
    assert_eq!(json(&["plan", NETWORK, "--json"])["exits"], serde_json::json!([]));
}

#[test]
fn without_images_latencies_alone_are_told() {
    let report = json(&["explore", "exits", NETWORK, "--thresholds", "0.01", "--json"]);
    assert_eq!(report["exits"].as_array().unwrap().len(), 9);
    assert_eq!((&report["images"], &report["best"]), (&Value::from(0), &Value::Null));
}

#[test]
fn what_cannot_be_is_said_in_words() {
    for (arguments, words) in [
        (&["plan", "zoo:lenet5", "--exits"][..], "has one output"),
        (&["plan", NETWORK, "--exit-confidence", "1.5"], "no confidence"),
        (&["plan", NETWORK, "--exit-confidence", "-1"], "no confidence"),
        (&["plan", NETWORK, "--exit-confidence", "1"], "no exit would ever be taken"),
        (&["plan", NETWORK, "--exit-confidence", "0.5", "--frames", "2"], ""),
        (&["explore", "exits", NETWORK, "--thresholds", "2"], "no confidence"),
        (&["explore", "exits", NETWORK, "--data", "/nowhere"], "no images-idx3-ubyte"),
        (&["run", NETWORK, "--limits", "5"], "unknown unit"),
        (&["image", "zoo:lenet5", "--with", "zoo:nothing", "-o", "/nowhere"], "nothing"),
    ] {
        let output = tilewright(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        if words.is_empty() {
            assert_eq!(output.status.code(), Some(0), "{arguments:?}: {said}");
            continue;
        }
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}
