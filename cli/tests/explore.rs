//! `tilewright explore`: forms of the answer, what it says of bad tables, and Ctrl-C.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn scale(arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("tilewright").unwrap();
    command.args(["explore", "scale"]).args(arguments).output().unwrap()
}

fn complaint(arguments: &[&str]) -> String {
    let output = scale(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert!(!text.contains("panicked"), "{text}");
    text
}

fn table(folder: &Path, rows: &str) -> String {
    let file = folder.join("accuracy.csv");
    std::fs::write(&file, format!("network,int8_percent,fp32_percent,source\n{rows}")).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn all_forms_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("sizes.csv");
    let svg = folder.path().join("sizes.svg");
    let drawn = ["--csv", csv.to_str().unwrap(), "--svg", svg.to_str().unwrap()];
    let output = scale(&[&["--limits", "520,0.001", "--json"], &drawn[..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let [target] = &report["targets"].as_array().unwrap()[..] else { panic!("{report}") };
    let sizes = target["sizes"].as_array().unwrap();
    assert_eq!((sizes.len(), &report["of"]), (165, &Value::from(165)));
    let limits = &target["limits"];
    let network = "mobilenet-v3-thesis-w0.65-r128";
    assert_eq!(
        (&limits[0]["network"], &limits[1]["network"]),
        (&Value::from(network), &Value::Null)
    );
    for (key, kind) in [
        ("targets[].sizes[].plan.fits", "proved"),
        ("targets[].sizes[].macs", "counted"),
        ("targets[].sizes[].plan.latency_us", "modelled"),
        ("targets[].sizes[].accuracy.int8_percent", "measured"),
    ] {
        assert_eq!(report["kinds"][key], kind);
    }
    let picture = std::fs::read_to_string(&svg).unwrap();
    // The 13 of known accuracy and two of the legend; and the command that draws it again.
    assert_eq!(picture.matches("<path ").count(), 15);
    assert!(picture.contains("tilewright explore scale --limits 520,0.001"), "{picture}");
    let text = std::fs::read_to_string(csv).unwrap();
    assert_eq!(text.lines().count(), 166);
    let row = text.lines().find(|line| line.starts_with(&format!("{network},"))).unwrap();
    let size = sizes.iter().find(|size| size["network"] == network).unwrap();
    let latency = format!("{:.0}", size["plan"]["latency_us"].as_f64().unwrap());
    assert!(row.contains(&latency) && row.contains("60.58,61.29,table 5.2"), "{row}");
    let words = String::from_utf8(scale(&["--limits", "520"]).stdout).unwrap();
    for said in [network, "60.58 %", "520 ms", "(modelled)", "(measured)", "w0.75-r144 on"] {
        assert!(words.contains(said), "{said} in {words}");
    }
}

#[test]
fn boards_and_strategies_stand_below_each_other_and_rows_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (rows, csv, svg) = (path("rows.jsonl"), path("sizes.csv"), path("sizes.svg"));
    let options = ["--limits", "1000", "--rows", &rows];
    let well = |arguments: &[&str]| -> String {
        let output = scale(&[&options[..], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let of = |text: String| -> Value { serde_json::from_str(&text).unwrap() };
    let one = of(well(&["--board", "stm32f746g-disco", "--json"]));
    assert_eq!(std::fs::read_to_string(&rows).unwrap().lines().count(), 165);
    let several =
        ["--board", "stm32f746g-disco,stm32f469i-disco", "--strategy", "overlay,resident"];
    let report = of(well(&[&several[..], &["--json", "--csv", &csv, "--svg", &svg]].concat()));
    assert_eq!(std::fs::read_to_string(&rows).unwrap().lines().count(), 4 * 165);
    let targets = report["targets"].as_array().unwrap();
    let names: Vec<String> = targets
        .iter()
        .map(|target| format!("{} {}", target["board"], target["strategy"]).replace('"', ""))
        .collect();
    let [f746, f469] = ["stm32f746g-disco", "stm32f469i-disco"];
    let expected =
        [f746, f469].map(|board| ["overlay", "resident"].map(|s| format!("{board} {s}")));
    assert_eq!(names, expected.concat());
    assert_eq!(targets[0], one["targets"][0]);
    let chosen = |target: &Value| target["limits"][0]["network"].clone();
    assert_ne!(chosen(&targets[0]), chosen(&targets[2]), "boards differ in speed");
    assert_eq!(std::fs::read_to_string(&csv).unwrap().lines().count(), 1 + 4 * 165);
    let picture = std::fs::read_to_string(&svg).unwrap();
    for target in ["stm32f469i-disco, resident", "stm32f746g-disco, overlay"] {
        assert!(picture.contains(&format!("mobilenet-v3-thesis on {target}")), "{target}");
    }
    // All rows are known: they are told at once, and are rows of a sweep.
    let words = well(&several);
    assert_eq!(words.matches("Most accurate within each limit").count(), 4, "{words}");
    assert_eq!(words.matches("never chosen").count(), 1, "{words}");
    let network = "zoo:mobilenet-v3-thesis-w0.3-r64";
    let board = ["--board", f746, "--strategy", "overlay", "--rows", &rows, "--json"];
    let swept = explore(&[&["sweep", network], &board[..]].concat());
    let swept = of(String::from_utf8(swept.stdout).unwrap());
    assert_eq!(swept["rows"][0]["plan"], targets[0]["sizes"][0]["plan"]);
    assert_eq!(std::fs::read_to_string(&rows).unwrap().lines().count(), 4 * 165);
}

#[test]
fn a_table_of_ones_own_decides() {
    let folder = tempfile::tempdir().unwrap();
    let file = table(folder.path(), "mobilenet-v2-w0.35-r96,40.5,,ours\n");
    let output = scale(&[
        "--backbone",
        "zoo:mobilenet-v2",
        "--accuracy",
        &file,
        "--limits",
        "5000",
        "--json",
    ]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let limit = &report["targets"][0]["limits"][0];
    assert_eq!(limit["network"], "mobilenet-v2-w0.35-r96");
    assert_eq!(limit["of_known_accuracy"], 1);
}

#[test]
fn what_is_wrong_is_said() {
    let folder = tempfile::tempdir().unwrap();
    for (rows, said) in [
        ("", "no row follows"),
        ("mobilenet-v3-thesis,70\n", "line 2: 2 fields"),
        ("mobilenet-v3-thesis,,71,me\n", "line 2: no int8_percent"),
        ("mobilenet-v3-thesis,170,,me\n", "line 2: '170' is no accuracy"),
        ("mobilenet-v3-these,70,,me\n", "nearest are mobilenet-v3-thesis"),
        (
            "mobilenet-v3-thesis,70,,a\nmobilenet-v3-thesis-w1,70,,b\n",
            "line 3: mobilenet-v3-thesis again",
        ),
        ("mobilenet-v2,70,,me\n", "no accuracy of mobilenet-v3-thesis"),
    ] {
        let text = complaint(&["--accuracy", &table(folder.path(), rows)]);
        assert!(text.contains(said), "{said} in {text}");
    }
    std::fs::write(folder.path().join("accuracy.csv"), [0xff, 0xfe, 0]).unwrap();
    let file = folder.path().join("accuracy.csv");
    assert!(complaint(&["--accuracy", file.to_str().unwrap()]).contains("UTF-8"));
    let same = ["--accuracy", file.to_str().unwrap(), "--csv", file.to_str().unwrap()];
    assert!(complaint(&same).contains("accuracy.csv"));
    assert!(complaint(&["--rows", "r", "--svg", "r"]).contains("Two things would be written"));
    assert_eq!(std::fs::read(&file).unwrap(), [0xff, 0xfe, 0]);
    assert!(complaint(&["--accuracy", "nowhere.csv"]).contains("nowhere.csv"));
    assert!(complaint(&["--backbone", "lenet5"]).contains("lenet5"));
    assert!(complaint(&["--limits", "520,-1"]).contains("'-1' is no number of milliseconds"));
    assert!(complaint(&["--board", "pdp-11"]).contains("stm32f746g-disco"));
    assert!(complaint(&["--board", "stm32f746g-disco,pdp-11"]).contains("No board 'pdp-11'"));
    assert!(complaint(&["--strategy", "overlay,guess"]).contains("guess"));
}

/// It takes a minute by `auto`; Ctrl-C comes within the first seconds of it.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_what_is_there() {
    use std::process::{Command, Stdio};

    let child = Command::new(assert_cmd::cargo::cargo_bin("tilewright"))
        .args(["explore", "scale", "--strategy", "auto", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let done = report["targets"][0]["sizes"].as_array().unwrap().len();
    assert!(done < 165, "{done}");
    assert_eq!(report["of"], 165);
}

fn sweep(arguments: &[&str]) -> Output {
    explore(&[&["sweep", "zoo:vww", "zoo:mcunet-in0", "--json"], arguments].concat())
}

#[test]
fn a_sweep_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let rows = folder.path().join("rows.jsonl");
    let kept = ["--rows", rows.to_str().unwrap(), "--strategy", "resident,stream"];
    let one = ["--board", "stm32f746g-disco"];
    let two = ["--board", "stm32f746g-disco,stm32f469i-disco"];
    let report = |output: Output| -> Value {
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(report(sweep(&[&kept[..], &one[..]].concat()))["of"], 4);
    // As if it had been killed while it wrote.
    let text = std::fs::read_to_string(&rows).unwrap();
    assert_eq!(text.lines().count(), 4);
    std::fs::write(&rows, &text[..text.len() - 10]).unwrap();
    let whole = report(sweep(&[&kept[..], &two[..]].concat()));
    assert_eq!(whole, report(sweep(&[&kept[2..], &two[..]].concat())), "as if it began anew");
    assert_eq!(whole["rows"].as_array().unwrap().len(), 8);
    assert_eq!(whole["kinds"]["rows[].plan.latency_us"], "modelled");
    // What is kept is not planned again: a figure that was changed stays.
    let changed = std::fs::read_to_string(&rows)
        .unwrap()
        .replace("\"frames\":1,\"macs\":", "\"frames\":1,\"macs\":1");
    std::fs::write(&rows, changed).unwrap();
    let again = report(sweep(&[&kept[..], &two[..]].concat()));
    assert_ne!(again["rows"][0]["macs"], whole["rows"][0]["macs"]);
}

#[test]
fn models_that_cannot_be_opened_are_rows_and_are_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (bad, missing, rows, csv) =
        (path("bad.tflite"), path("missing.onnx"), path("rows.jsonl"), path("rows.csv"));
    std::fs::write(&bad, [0x5a; 4096]).unwrap();
    let options =
        ["--board", "stm32f746g-disco,stm32f469i-disco", "--strategy", "resident", "--rows", &rows];
    let swept = |models: &[&str], form: &[&str], code: i32| -> String {
        let output = explore(&[&["sweep"], models, &options[..], form].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{models:?}: {text}");
        assert_eq!(text, "", "{models:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let models = [&*bad, "zoo:vww", &missing, "zoo:mobilenet-v9"];
    let report: Value =
        serde_json::from_str(&swept(&models, &["--json", "--csv", &csv], 0)).unwrap();
    let problems: Vec<&str> = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["macs"].is_null() && row["parameters"].is_null() && row["plan"].is_null())
        .map(|row| row["problem"].as_str().unwrap())
        .collect();
    let [damaged, _, absent, _, unknown, _] = problems[..] else { panic!("{report}") };
    assert!(damaged.starts_with("Not a model: "), "{damaged}");
    assert_eq!(absent, "The model cannot be read: there is no such file.");
    assert!(unknown.contains("mobilenet-v9"), "{unknown}");
    let table = std::fs::read_to_string(&csv).unwrap();
    assert!(table.contains("missing.onnx,stm32f469i-disco,resident,,,,1,,,,,,,,,,,The model"));
    // Those of the zoo's network alone are kept; a file that is there now is opened.
    assert_eq!(std::fs::read_to_string(&rows).unwrap().lines().count(), 2);
    let zoo = ["zoo", "export", "lenet5", "-o", &missing];
    Command::cargo_bin("tilewright").unwrap().args(zoo).assert().success();
    let words = swept(&models, &[], 0);
    assert!(words.contains("8 rows, 4 fit") && words.contains("cannot be opened"), "{words}");
    assert!(words.contains(damaged) && !words.contains(absent), "{words}");
    assert_eq!(std::fs::read_to_string(&rows).unwrap().lines().count(), 4);
    // Nothing at all can be opened.
    assert!(swept(&[&bad], &[], 2).contains(damaged));
}

/// Opening all files takes a minute of a core, each some tens of milliseconds.
#[cfg(unix)]
#[test]
fn ctrl_c_while_models_are_opened_is_no_problem_of_theirs() {
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let network = folder.path().join("network.onnx");
    let zoo = ["zoo", "export", "mobilenet-v2-w0.35-r96", "-o", network.to_str().unwrap()];
    let program = assert_cmd::cargo::cargo_bin("tilewright");
    assert!(Command::new(&program).args(zoo).stdout(Stdio::null()).status().unwrap().success());
    let names: Vec<String> = (0..600).map(|number| format!("{number}.onnx")).collect();
    for name in &names {
        std::fs::hard_link(&network, folder.path().join(name)).unwrap();
    }
    let child = Command::new(program)
        .args(["explore", "sweep", "--json", "--strategy", "resident"])
        .args(["--board", "stm32f746g-disco,stm32f469i-disco"])
        .args(names)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert!(rows.len() < 1200 && rows.iter().all(|row| !row["macs"].is_null()), "{report}");
    assert_eq!(report["of"], 1200);
}

#[test]
fn bad_sweeps_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.jsonl");
    std::fs::write(&file, "{}\n").unwrap();
    let board = ["--board", "stm32f746g-disco"];
    for (arguments, said) in [
        (&["--board", "pdp-11"][..], "pdp-11"),
        (&["--rows", file.to_str().unwrap(), board[0], board[1]], "Line 1 is no row of a sweep"),
        (&["--card", "floppy", board[0], board[1]], "floppy"),
        (&["--rows", "r", "--csv", "r", board[0], board[1]], "Two things would be written"),
        (&["--frames", "0", board[0], board[1]], "1 to"),
        (&["--clock-mhz", "0", board[0], board[1]], "1..=10000"),
        (&[][..], "--board"),
    ] {
        let output = sweep(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(said) && !text.contains("panicked"), "{arguments:?}: {text}");
    }
}

fn explore(arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("tilewright").unwrap();
    command.arg("explore").args(arguments).output().unwrap()
}

#[test]
fn cores_stand_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("operators.csv");
    let options = ["operators", "--backbones", "mnasnet-thesis", "--without-data-cache"];
    let boards = ["--board", "stm32f746g-disco,stm32l552e-ev,stm32f746g-disco"];
    let output = explore(&[&options[..], &boards, &["--csv", csv.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let words = String::from_utf8(output.stdout).unwrap();
    for said in ["cortex-m7", "cortex-m33", "off", "none", "Depthwise 7x7 (modelled)", "holds in"] {
        assert!(words.contains(said), "{said} in {words}");
    }
    let text = std::fs::read_to_string(csv).unwrap();
    let of = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    let places = of("stm32l552e-ev,cortex-m33,none,mnasnet-thesis,");
    assert_eq!(places, 65 * 228);
    for cache in ["on", "off"] {
        assert_eq!(of(&format!("stm32f746g-disco,cortex-m7,{cache},")), places, "{cache}");
    }
    assert_eq!(text.lines().count(), 1 + 3 * places);
}

#[test]
fn bad_genotypes_and_operators_are_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.jsonl");
    std::fs::write(&file, "{\"of\":{}}\n").unwrap();
    let file = file.to_str().unwrap();
    for (arguments, said) in [
        (&["genotypes", "--count", "0"][..], "from 1 to 10000"),
        (&["genotypes", "--cells", "0"], "0 cells: give 1 to 64"),
        (&["genotypes", "--channels", "7"], "7 channels: give an even number"),
        (&["genotypes", "--resolution", "3"], "3 pixels: give 4 to 1024"),
        (&["genotypes", "--board", "pdp-11"], "pdp-11"),
        (&["genotypes", "--rows", file], "Line 1 is no row of an experiment with genotypes"),
        (&["genotypes", "--rows", file, "--costs", file], "Two things would be written"),
        (&["operators", "--board", "pdp-11"], "pdp-11"),
        (&["operators", "--board", ""], "No board ''"),
        (&["operators", "--rows", file], "Line 1 is no row of a benchmark of operators"),
    ] {
        let output = explore(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(said) && !text.contains("panicked"), "{arguments:?}: {text}");
    }
}
