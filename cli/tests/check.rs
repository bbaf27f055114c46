//! `tilewright check`: limits and baselines, and what continuous integration reads of it.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn tilewright(arguments: &[&str]) -> Output {
    Command::cargo_bin("tilewright").unwrap().args(arguments).output().unwrap()
}

/// What a check of a small network says, on either stream.
fn check(arguments: &[&str], code: i32) -> String {
    let usual = ["check", "zoo:vww", "--board", "stm32f746g-disco", "--strategy", "resident"];
    let output = tilewright(&[&usual[..], arguments].concat());
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(output.status.code(), Some(code), "{text}");
    text
}

#[test]
fn limits_are_held_and_written_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (markdown, junit) = (at("summary.md"), at("junit.xml"));
    let files = ["--markdown", &markdown, "--junit", &junit];
    assert!(check(&[&["--max-sram", "1MiB"], &files[..]].concat(), 0).contains("passed"));
    let text = check(&[&["--max-sram", "1KiB", "--max-latency", "1h"], &files[..]].concat(), 1);
    assert!(text.contains("over its limit"), "{text}");
    let text = std::fs::read_to_string(&markdown).unwrap();
    // One below the other, as a job's summary collects them.
    assert_eq!(text.matches("### vww on stm32f746g-disco, resident").count(), 2, "{text}");
    assert_eq!(text.matches("**over its limit**").count(), 1, "{text}");
    let text = std::fs::read_to_string(&junit).unwrap();
    assert!(text.contains("tests=\"5\"") && text.contains("failures=\"1\""), "{text}");
    let json = check(&["--max-sram", "1KiB", "--json"], 1);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["passed"], false);
    assert_eq!(json["judgements"][0]["judgement"], "over_limit");
}

#[test]
fn a_baseline_is_accepted_and_then_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("baseline.json");
    let baseline = ["--baseline", path.to_str().unwrap()];
    assert!(check(&baseline, 2).contains("--accept"));
    let accept = [&baseline[..], &["--accept"]].concat();
    // What is over its limit is not accepted.
    check(&[&accept[..], &["--max-sram", "1KiB"]].concat(), 1);
    assert!(!path.exists());
    assert!(check(&accept, 0).contains("Accepted"));
    assert!(check(&baseline, 0).contains("+0.0 %"));
    let mut kept: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let sram = &mut kept["accepted"][0]["needs"]["peak_sram_bytes"];
    *sram = (sram.as_u64().unwrap() - 1000).into();
    std::fs::write(&path, kept.to_string()).unwrap();
    assert!(check(&baseline, 1).contains("more than accepted"));
    check(&[&baseline[..], &["--tolerance", "5"]].concat(), 0);
    // Another board has nothing yet.
    let other = ["check", "zoo:vww", "--board", "nucleo-f767zi", "--strategy", "resident"];
    let output = tilewright(&[&other[..], &baseline].concat());
    assert!(String::from_utf8(output.stdout).unwrap().contains("nothing of it yet"));
    std::fs::write(&path, "[]").unwrap();
    assert!(check(&baseline, 2).contains("no baseline"));
}

#[test]
fn a_model_that_does_not_fit_fails() {
    let text = check(&["--sram", "1KiB"], 1);
    assert!(text.contains("failed:"), "{text}");
}

#[test]
fn the_action_knows_the_options() {
    let action = Path::new(env!("CARGO_MANIFEST_DIR")).join("../action.yml");
    let action = std::fs::read_to_string(action).unwrap();
    let (inputs, steps) = action.split_once("\nruns:").unwrap();
    let help = String::from_utf8(tilewright(&["check", "--help"]).stdout).unwrap();
    let (_, steps) = steps.split_once("options=(").unwrap();
    let options: Vec<&str> = steps
        .split(|c: char| c.is_whitespace() || "()".contains(c))
        .filter(|word| word.starts_with("--"))
        .collect();
    assert!(options.len() > 8, "{options:?}");
    for option in options {
        assert!(
            help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n")),
            "{option}"
        );
        let input = format!("\n  {}:", option.trim_start_matches("--"));
        assert!(inputs.contains(&input) || option == "--markdown", "{option}");
    }
}
