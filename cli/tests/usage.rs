//! What the program says and how it exits when it is asked wrongly, and what needs no model.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use assert_cmd::Command;
use serde_json::Value;

fn tilewright(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("tilewright").unwrap();
    command.args(arguments).env_remove("TILEWRIGHT_DIST").env_remove("TILEWRIGHT_WORKER");
    command
}

/// Standard error of a command that must exit with `code` and print nothing else.
fn complaint(arguments: &[&str], code: i32) -> String {
    let output = tilewright(arguments).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    assert!(!text.contains("panicked"), "{text}");
    assert!(!text.contains('\x1b'), "colours without a terminal: {text:?}");
    text
}

const BOARD: [&str; 2] = ["--board", "stm32f746g-disco"];

#[test]
fn wrong_usage_exits_with_two() {
    complaint(&["fly"], 2);
    complaint(&["plan"], 2);
    complaint(&["plan", "x.onnx"], 2);
    complaint(&["plan", "x.onnx", BOARD[0], BOARD[1], "--sram", "much"], 2);
    for (option, wrong, said) in [
        ("--sram", "-1", "'-1' is no whole number of bytes"),
        ("--buffer", "1.5", "'1.5' is no whole number of bytes"),
        ("--sram", "7 apples", "unknown unit 'apples'"),
        ("--buffer", "99999999999999999999", "too large"),
        ("--frames", "-3", "from 1 to 1000"),
        ("--frames", "1000000", "from 1 to 1000"),
    ] {
        let text = complaint(&["plan", "x.onnx", BOARD[0], BOARD[1], option, wrong], 2);
        assert!(text.contains(said), "{text}");
    }
    complaint(&["inspect", "x.onnx", "--json", "--csv"], 2);
    let text = complaint(&["plan", "x.onnx", BOARD[0], BOARD[1], "--strategy", "guess"], 2);
    assert!(text.contains("resident") && text.contains("all"), "{text}");
    let text = complaint(&["plan", "x.onnx", "--board", "pdp-11"], 2);
    assert!(text.contains("stm32f746g-disco"), "{text}");
}

#[test]
fn help_names_all_commands() {
    let output = tilewright(&["--help"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8(output.stdout).unwrap();
    for command in [
        "boards", "zoo", "inspect", "plan", "run", "verify", "image", "order", "allocate", "serve",
        "worker",
    ] {
        assert!(text.contains(command), "{command} in {text}");
    }
}

#[test]
fn boards_are_an_array_with_names() {
    let output = tilewright(&["boards", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let boards: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(boards[0]["name"], "stm32f746g-disco");
    for key in ["title", "core", "clock_hz", "sram_bytes", "arena_bytes", "flash_bytes"] {
        assert!(!boards[0][key].is_null(), "{key}");
    }
    let all = tilewright(&["boards", "--all", "--json"]).output().unwrap();
    let all: Value = serde_json::from_slice(&all.stdout).unwrap();
    let named = |boards: &Value, name: &str| {
        boards.as_array().unwrap().iter().any(|board| board["name"] == name)
    };
    assert!(named(&all, "paper-sparse-f767") && !named(&boards, "paper-sparse-f767"));
    let output = tilewright(&["boards"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("cortex-m7") && text.contains("216 MHz"), "{text}");
}

#[test]
fn files_that_cannot_be_a_model_are_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("empty.onnx"), "").unwrap();
    // A file of a terabyte that takes no place.
    std::fs::File::create(path("huge.onnx")).unwrap().set_len(1 << 40).unwrap();
    std::fs::write(path("noise.onnx"), [0x5a; 4096]).unwrap();
    std::fs::create_dir(path("folder.onnx")).unwrap();
    for (name, reason) in [
        ("missing.onnx", "no such file"),
        ("empty.onnx", "is empty"),
        ("folder.onnx", "is a folder"),
        ("huge.onnx", "more than the"),
        ("noise.onnx", ""),
    ] {
        let file = path(name);
        for arguments in [
            vec!["inspect", &file],
            vec!["plan", &file, BOARD[0], BOARD[1], "--samples", "random"],
            vec!["plan", &file, BOARD[0], BOARD[1]],
        ] {
            let text = complaint(&arguments, 2);
            assert!(text.contains(reason) && text.contains(name), "{text}");
            assert!(text.contains("what to do:"), "{text}");
        }
    }
}

#[test]
fn without_built_things_run_and_image_say_what_to_build() {
    let folder = tempfile::tempdir().unwrap();
    let dist = folder.path().join("nothing");
    std::fs::create_dir(&dist).unwrap();
    for command in [vec!["run", "m.onnx"], vec!["verify", "m.onnx"]] {
        let output =
            tilewright(&command).args(BOARD).env("TILEWRIGHT_DIST", &dist).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("cargo xtask build"), "{text}");
    }
    let gone = folder.path().join("gone");
    let mut image = tilewright(&["image", "m.onnx", "-o", "out"]);
    let output = image.args(BOARD).env("TILEWRIGHT_DIST", &gone).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("TILEWRIGHT_DIST"), "{text}");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    use std::process::{Command, Stdio};
    let program = assert_cmd::cargo::cargo_bin("tilewright");
    let mut child = Command::new(program)
        .args(["boards", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_takes_nothing_is_named() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let program = assert_cmd::cargo::cargo_bin("tilewright");
    let mut command = std::process::Command::new(program);
    let output = command.args(["boards", "--json"]).stdout(full).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("standard output") && !text.contains("defect"), "{text}");
}

#[test]
fn the_zoo_is_an_array_with_names() {
    let output = tilewright(&["zoo", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let zoo: Value = serde_json::from_slice(&output.stdout).unwrap();
    let named = |name: &str| zoo.as_array().unwrap().iter().find(|n| n["name"] == name).unwrap();
    assert_eq!(named("vgg16")["parameters"], 138_357_544);
    assert_eq!(named("mobilenet-v2")["resolution"]["default"], 224.0);
    assert_eq!(named("mobilenet-v2")["publications"][0]["our_parameters"], 3_504_872);
    let output = tilewright(&["zoo"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("mcunet-in4") && text.contains("138,357,544"), "{text}");
}

#[test]
fn networks_of_the_zoo_stand_where_files_do() {
    let output = tilewright(&["inspect", "zoo:lenet5", "--json"]).output().unwrap();
    let lenet: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&lenet["model"], &lenet["macs"]), (&"lenet5".into(), &416_520.into()));
    assert_eq!(lenet["weight_bytes"], 246_824);
    assert_eq!(lenet["int8_weight_bytes"], 61_706 + 3 * 236);
    let kinds = lenet["kinds_of_operators"].as_array().unwrap();
    assert_eq!(kinds[0]["op"], "Conv2D");
    assert_eq!(kinds[0]["count"], 2);
    assert_eq!(kinds[0]["macs_percent"], 85.85);
    let counts = kinds.iter().map(|kind| kind["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), lenet["operators"].as_array().unwrap().len() as u64);

    let arguments = ["plan", "zoo:lenet5", BOARD[0], BOARD[1], "--json"];
    let output = tilewright(&arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["model"], "lenet5");
    assert!(plan["samples"].as_str().unwrap().contains("analytic"), "{plan}");
}

#[test]
fn unknown_networks_and_sizes_answer_with_what_there_is() {
    let text = complaint(&["inspect", "zoo:mobilnet-v2"], 2);
    assert!(text.contains("mobilenet-v2"), "{text}");
    let text = complaint(&["inspect", "zoo:mobilenet-v2-r1000000000"], 2);
    assert!(text.contains("1024 pixels"), "{text}");
    let text = complaint(&["inspect", "zoo:mobilenet-v2-w0"], 2);
    assert!(text.contains("width of 0 is impossible"), "{text}");
    complaint(&["inspect", "zoo:lenet5", "--dim", "batch=1"], 2);
    complaint(&["zoo", "export", "lenet5"], 2);
    complaint(&["zoo", "export", "lenet5", "-o", "/no/such/folder/x.onnx"], 2);
}

#[test]
fn an_exported_network_opens_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("net.onnx");
    let path = path.to_str().unwrap();
    let output = tilewright(&["zoo", "export", "ds-cnn", "-o", path]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let figures = |model: &str| {
        let output = tilewright(&["inspect", model, "--json"]).output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        (value["macs"].clone(), value["parameters"].clone(), value["kinds_of_operators"].clone())
    };
    assert_eq!(figures(path), figures("zoo:ds-cnn"));
}

#[test]
fn genotypes_are_written_as_networks() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (text, path) = (at("cells.txt"), at("cells.onnx"));
    let size = ["--cells", "8", "--channels", "8", "--resolution", "16", "-o", path.as_str()];
    let stack = [&["zoo", "stack", text.as_str()], &size[..]].concat();
    let cell = "('skip_connect', 0), ('skip_connect', 1)";
    std::fs::write(&text, format!("Genotype(normal=[{cell}], reduce=[{cell}])")).unwrap();
    let output = tilewright(&stack).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let output = tilewright(&["inspect", &path, "--json"]).output().unwrap();
    let network: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(network["inputs"][0]["shape"], serde_json::json!([1, 16, 16, 3]), "{network}");

    // The text itself is a model, of the size that it says.
    let sized = format!("cells 3\nchannels 4\nGenotype(normal=[{cell}], reduce=[{cell}])");
    std::fs::write(&text, sized).unwrap();
    let board = ["--board", "stm32f746g-disco", "--json"];
    let output = tilewright(&[&["plan", text.as_str()], &board[..]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let output = tilewright(&["inspect", &text, "--json"]).output().unwrap();
    let network: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(network["inputs"][0]["shape"], serde_json::json!([1, 32, 32, 3]), "{network}");

    std::fs::write(&text, "Genotype(normal=[('conv', 0)])").unwrap();
    let said = complaint(&stack, 2);
    assert!(said.contains("Line 1, column 20") && said.contains("no operation 'conv'"), "{said}");
    std::fs::write(&text, [0xff, 0xfe]).unwrap();
    complaint(&stack, 2);
}

#[test]
fn programs_beside_this_one_are_named_where_they_are_missing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let alone = folder.path().join(format!("tilewright{}", std::env::consts::EXE_SUFFIX));
    // Not a copy: one that is still open for writing in a process of another test cannot be started.
    std::fs::hard_link(assert_cmd::cargo::cargo_bin("tilewright"), &alone).unwrap();
    for (arguments, package) in [
        (&["verify", "zoo:lenet5", "--float"][..], "tilewright-cli-float"),
        (&["serve"][..], "tilewright-server"),
    ] {
        let output = Command::new(&alone).args(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("cannot be started") && text.contains(package), "{text}");
    }
}
