//! The JavaScript package: installed into an empty project, it gives what the command line gives; its
//! example draws a plan in a browser.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;
use tilewright_app::{
    Bounds, SampleFile, Samples, Silent, checked_plan, hexadecimal, import, plan_file, prepare,
    sha256,
};
use tilewright_formats::ModelFile;
use tilewright_model::quantise::QuantiseOptions;
use tilewright_planner::{Integrity, Options, Strategy};
use tilewright_tests::browser::Browser;
use tilewright_tests::emulated::{dist, project};
use tilewright_tests::{program, static_host};

const BOARD: &str = "stm32f746g-disco";
const MODEL: &str = "models/lenet5.onnx";
const SAMPLES: &str = "models/lenet5.calibration.npy";

/// What the package says, as one JSON object. Arguments: the model, its samples, the board.
const SCRIPT: &str = "
    import { createHash } from 'node:crypto';
    import { readFile } from 'node:fs/promises';
    import * as tilewright from 'tilewright';
    const [model, samples] = await Promise.all(process.argv.slice(2, 4).map((path) => readFile(path)));
    const board = process.argv[4];
    const options = { name: 'lenet5.onnx', board, samples };
    const small = { ...options, sram_bytes: 4096 };
    const thrown = (work) => {
        try {
            work();
        } catch (problem) {
            return { ...problem, isError: problem instanceof Error, name: problem.name, message: problem.message };
        }
    };
    const image = tilewright.image(model, options);
    console.log(JSON.stringify({
        functions: Object.keys(tilewright).sort(),
        boards: tilewright.boards(),
        all_boards: tilewright.boards(true),
        inspect: tilewright.inspect(model, 'lenet5.onnx'),
        plan: tilewright.plan(model, options),
        auto: tilewright.plan(model, { ...options, strategy: 'auto', sram_bytes: 65536, frames: undefined }),
        zoo: tilewright.plan('zoo:lenet5', { board }),
        small: tilewright.plan(model, small),
        random: tilewright.plan(model.buffer.slice(model.byteOffset, model.byteOffset + model.length), { board }),
        memory: tilewright.memoryMap(model, options),
        schedule: tilewright.schedule(model, options),
        image: [image instanceof Uint8Array, createHash('sha256').update(image).digest('hex')],
        stores: tilewright.storeImages(model, options),
        unknown_option: thrown(() => tilewright.plan(model, { ...options, sram: 4096 })),
        does_not_fit: thrown(() => tilewright.image(model, small)),
        no_model: thrown(() => tilewright.inspect(new Uint8Array([1, 2, 3]))),
        no_board: thrown(() => tilewright.plan(model, {})),
    }));";

fn package() -> PathBuf {
    let package = dist().join("js");
    assert!(package.join("package.json").is_file(), "not built: run `cargo xtask build`");
    package.canonicalize().unwrap()
}

fn done(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

fn npm(folder: &Path) -> Command {
    let mut npm = Command::new("npm");
    npm.current_dir(folder).env("npm_config_cache", folder.join("cache"));
    npm.args(["--offline", "--no-audit", "--no-fund", "--no-update-notifier"]);
    npm
}

/// What the installed package says.
fn said() -> Value {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("package.json"), "{ \"private\": true }").unwrap();
    let packed = done(npm(folder.path()).args(["pack", "--silent"]).arg(package()));
    let packed = format!("./{}", packed.trim());
    done(npm(folder.path()).args(["install", "--ignore-scripts", &packed]));
    fs::write(folder.path().join("script.mjs"), SCRIPT).unwrap();
    let paths = [MODEL, SAMPLES].map(|path| project().canonicalize().unwrap().join(path));
    let mut node = Command::new("node");
    let text = done(node.current_dir(folder.path()).arg("script.mjs").args(paths).arg(BOARD));
    serde_json::from_str(&text).unwrap()
}

/// Compares values: numbers by what they are worth, since JavaScript has one kind of them.
fn assert_same(place: &str, ours: &Value, theirs: &Value) {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => assert_eq!(a.as_f64(), b.as_f64(), "{place}"),
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                assert_same(&format!("{place}[{index}]"), a, b);
            }
        }
        (Value::Object(a), Value::Object(b)) => {
            let keys = |object: &serde_json::Map<String, Value>| {
                let mut keys: Vec<String> = object.keys().cloned().collect();
                keys.sort();
                keys
            };
            assert_eq!(keys(a), keys(b), "{place}");
            for (key, a) in a {
                assert_same(&format!("{place}.{key}"), a, &b[key]);
            }
        }
        _ => assert_eq!(ours, theirs, "{place}"),
    }
}

/// What the command line says of a model's plan.
fn planned(model: &str, more: &[&str], code: i32) -> Value {
    let arguments = [&["plan", model, "--board", BOARD, "--json"], more].concat();
    program::json(&arguments, code)
}

/// The SHA-256 of the plan image, made here.
fn native_image() -> String {
    let bytes = |path: &str| fs::read(project().join(path)).unwrap();
    let (host, none) = (Silent::default(), |_: &str| Ok(None));
    let file = ModelFile { name: "lenet5.onnx", bytes: Arc::new(bytes(MODEL)), beside: &none };
    let samples = bytes(SAMPLES);
    let samples = Samples::Files(vec![SampleFile { name: "samples", bytes: &samples }]);
    let float = import(&file, &[], &host).unwrap();
    let (quantising, bounds) = (QuantiseOptions::default(), Bounds::default());
    let model = prepare(float, samples, &quantising, &bounds, &host).unwrap().model;
    let board = tilewright_board::find(BOARD).unwrap();
    let plan = checked_plan(&model, &board, Strategy::Resident, &Options::default(), &host);
    let file = plan_file(&plan.unwrap(), &model, &board, Integrity::Trusted, &host).unwrap();
    hexadecimal(&sha256(file.bytes()))
}

#[test]
fn the_installed_package_gives_what_the_command_line_gives() {
    let mut said = said();
    let functions = ["boards", "image", "inspect", "memoryMap", "plan", "schedule", "storeImages"];
    assert_eq!(said["functions"], serde_json::json!(functions));
    // Whether firmware lies here is the command line's affair.
    let boards = |value: &Value| {
        let mut boards = value.clone();
        for board in boards.as_array_mut().unwrap() {
            board["has_firmware"] = Value::Null;
        }
        boards
    };
    let (some, all) = (["boards", "--json"], ["boards", "--all", "--json"]);
    assert_same("boards", &boards(&said["boards"]), &boards(&program::json(&some, 0)));
    assert_same("boards", &boards(&said["all_boards"]), &boards(&program::json(&all, 0)));
    let inspected = program::json(&["inspect", MODEL, "--json"], 0);
    assert_same("inspect", &said["inspect"], &inspected);

    // What the samples are called is the host's affair.
    let theirs = planned(MODEL, &[], 0);
    for key in ["plan", "auto", "small"] {
        let words = said[key]["samples"].as_str().unwrap();
        assert!(words.contains("samples of options.samples"), "{words}");
        said[key]["samples"] = theirs["samples"].clone();
    }
    assert_same("plan", &said["plan"], &theirs);
    let auto = planned(MODEL, &["--strategy", "auto", "--sram", "65536"], 0);
    assert_same("auto", &said["auto"], &auto);
    assert_same("small", &said["small"], &planned(MODEL, &["--sram", "4096"], 1));
    assert!(!said["small"]["does_not_fit"]["remedies"].as_array().unwrap().is_empty());
    assert_same("zoo", &said["zoo"], &planned("zoo:lenet5", &[], 0));
    said["random"]["model"] = "lenet5".into();
    assert_same("random", &said["random"], &planned(MODEL, &["--samples", "random"], 0));

    let mut memory = said["memory"].clone();
    for key in ["model", "board", "strategy", "fits", "sram_limit_bytes"] {
        assert_same(key, &memory[key], &theirs[key]);
    }
    assert_eq!(memory["kinds"]["peak_live_bytes"], "counted");
    let keys = memory.as_object_mut().unwrap();
    let own = ["model", "board", "strategy", "fits", "sram_limit_bytes", "kinds"];
    keys.retain(|key, _| !own.contains(&key.as_str()));
    assert_same("memory", &memory, &theirs["memory"]);
    let schedule = ["plan", MODEL, "--board", BOARD, "--schedule-json", "-"];
    assert_same("schedule", &said["schedule"], &program::json(&schedule, 0));
    assert_eq!(said["image"], serde_json::json!([true, native_image()]));
    assert_eq!(said["stores"], serde_json::json!({ "external_flash": null, "card": null }));
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    let said = said();
    let cases = [
        ("unknown_option", "bad_input", "options.sram"),
        ("does_not_fit", "does_not_fit", ""),
        ("no_model", "bad_input", "model"),
        ("no_board", "bad_input", "options.board"),
    ];
    for (case, kind, place) in cases {
        let problem = &said[case];
        assert_eq!(problem["isError"], true, "{case}: {problem}");
        assert_eq!(problem["name"], "TilewrightError", "{case}");
        assert_eq!(problem["kind"], kind, "{case}: {problem}");
        assert_eq!(problem["needs"], Value::Null, "{case}");
        assert!(place.is_empty() || problem["where"] == place, "{case}: {problem}");
        for key in ["what", "what_to_do"] {
            let words = problem[key].as_str().unwrap();
            assert!(problem["message"].as_str().unwrap().contains(words), "{case}: {problem}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_draws_a_plan_on_any_static_host() {
    let site = static_host::serve(package(), "deep/js");
    for dark in [false, true] {
        let browser = Browser::start(800, 900, dark).await;
        browser.open(&format!("{site}example.html")).await;
        let figures = browser.text_when("figures", |text| text.contains("latency_us")).await;
        assert!(figures.contains("counted") && figures.contains("modelled"), "{figures}");
        let drawn = "const root = (id) => document.getElementById(id).shadowRoot;
                     const captions = ['memory', 'schedule'].map((id) => root(id).querySelector('figcaption'));
                     return [
                         root('memory').querySelectorAll('rect.block').length,
                         root('schedule').querySelectorAll('rect.compute').length,
                         ...captions.map((caption) => caption.textContent),
                     ];";
        let drawn = browser.script(drawn, Vec::new()).await;
        assert!(drawn[0].as_u64() > Some(4) && drawn[1].as_u64() > Some(1), "{drawn}");
        assert!(drawn[2].as_str().unwrap().contains("(counted)"), "{drawn}");
        assert!(drawn[3].as_str().unwrap().contains("(modelled)"), "{drawn}");
        let pictures = dist().join("pictures");
        fs::create_dir_all(&pictures).unwrap();
        let theme = if dark { "dark" } else { "light" };
        browser.picture(&pictures.join(format!("javascript-{theme}.png"))).await;

        browser.give_file("file", &project().join(MODEL)).await;
        let of_file = "return document.getElementById('memory').value?.model === 'lenet5'";
        for _ in 0..200 {
            if browser.script(of_file, Vec::new()).await == Value::Bool(true) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        assert_eq!(browser.script(of_file, Vec::new()).await, true, "{}", browser.text().await);
        assert_eq!(browser.complaints().await, Vec::<String>::new());
        browser.end().await;
    }
}
