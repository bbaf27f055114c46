//! The command line on real models: what a newcomer types first, and what must be refused.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};

use tilewright_tests::emulated::project;
use tilewright_tests::onnx_file::{Dim, one_node};
use tilewright_tests::program::{json, run};

const BOARD: [&str; 2] = ["--board", "stm32f746g-disco"];

/// A folder of this test, emptied.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The bundled samples of a data set: path and class name.
fn samples(prefix: &str) -> Vec<(String, String)> {
    let mut samples: Vec<(String, String)> = fs::read_dir(project().join("models/samples"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(prefix) && name.ends_with(".png"))
        .map(|name| {
            let stem = name.trim_end_matches(".png");
            let class = stem.splitn(3, '-').nth(2).unwrap().trim_start_matches("label");
            (format!("models/samples/{name}"), class.to_lowercase())
        })
        .collect();
    samples.sort();
    samples
}

#[test]
fn every_bundled_picture_is_recognised_bit_equal_on_the_emulated_board() {
    for (model, prefix) in [("lenet5", "mnist-"), ("fashion-mobilenet", "fashion-")] {
        let samples = samples(prefix);
        assert_eq!(samples.len(), 10, "{prefix}");
        for (path, class) in samples {
            let model = format!("models/{model}.onnx");
            let report = json(&["run", &model, BOARD[0], BOARD[1], "--input", &path, "--json"], 0);
            assert_eq!(report["verified"], true, "{path}");
            let label = report["top1_label"].as_str().unwrap().to_lowercase();
            let label = label.replace(['/', ' '], "-");
            assert_eq!(label, class, "{path}");
        }
    }
}

#[test]
fn a_run_counts_every_layer() {
    let report = json(&["run", "models/lenet5.onnx", BOARD[0], BOARD[1], "--json"], 0);
    let layers = report["layers"].as_array().unwrap();
    let sum: u64 = layers.iter().map(|layer| layer["instructions"].as_u64().unwrap()).sum();
    assert!(sum > 0 && sum <= report["instructions"].as_u64().unwrap());
    assert!(layers.iter().all(|layer| layer["instructions"].as_u64().unwrap() > 0));
    assert!(layers.iter().all(|layer| layer["cycles"].as_u64().unwrap() > 0));
    // 28·28·6·25 + 10·10·16·150 + 400·120 + 120·84 + 84·10
    assert_eq!(report["macs"], 416_520);
    let kinds = &report["kinds"];
    assert_eq!((&kinds["instructions"], &kinds["cycles"]), (&"counted".into(), &"modelled".into()));
    assert_eq!(report["compared_layers"], layers.len());
}

#[test]
fn a_recipe_that_a_person_changed_runs_bit_equal() {
    let path = folder("recipes").join("recipe.json");
    let file = path.to_str().unwrap();
    let model = ["models/lenet5.onnx", BOARD[0], BOARD[1]];
    let words = ["--strategy", "overlay", "--write-recipe", file];
    let said = run(&[&["plan"], &model[..], &words].concat());
    assert_eq!(said.status.code(), Some(0), "{said:?}");
    let text = fs::read_to_string(&path).unwrap();
    // The first layer in four tiles, not in one.
    let changed = text.replacen("\"rows\":[28]", "\"rows\":[7,7,7,7]", 1);
    assert_ne!(changed, text);
    fs::write(&path, changed).unwrap();
    let recipe = [&model[..], &["--recipe", file]].concat();
    let report = json(&[&["run"], &recipe[..], &["--json"]].concat(), 0);
    assert_eq!((&report["verified"], &report["strategy"]), (&true.into(), &"recipe".into()));
    // What cannot be is told with the layer.
    fs::write(&path, text.replacen("\"rows\":[28]", "\"rows\":[7,7,7]", 1)).unwrap();
    let said = run(&[&["plan"], &recipe[..]].concat());
    assert_eq!(said.status.code(), Some(2));
    let error = String::from_utf8(said.stderr).unwrap();
    assert!(error.contains("conv1") && error.contains("--recipe"), "{error}");
}

#[test]
fn what_went_to_the_card_is_compared_too() {
    let model = ["run", "models/lenet5.onnx", BOARD[0], BOARD[1], "--strategy", "swap"];
    let report = json(&[&model[..], &["--json"]].concat(), 0);
    let layers = report["layers"].as_array().unwrap().len();
    assert_eq!(report["compared_layers"], layers);
    let text = String::from_utf8(run(&model).stdout).unwrap();
    let words = format!("yes: all {layers} layers are bit-equal");
    assert!(text.contains(&words), "{text}");
}

#[test]
fn a_run_tells_how_deep_the_stack_grew() {
    for strategy in ["resident", "swap"] {
        let model = ["run", "models/lenet5.onnx", BOARD[0], BOARD[1], "--strategy", strategy];
        let report = json(&[&model[..], &["--json"]].concat(), 0);
        let part = |key: &str| report["stack"][key].as_u64().unwrap();
        assert_eq!(part("used_bytes"), part("thread_bytes") + part("handler_bytes"));
        assert!(part("thread_bytes") > 1000 && part("handler_bytes") > 32, "{}", report["stack"]);
        assert!(part("used_bytes") < part("limit_bytes"), "{}", report["stack"]);
        assert_eq!(report["kinds"]["stack"], "counted");
    }
}

#[test]
fn a_card_that_fails_is_told_with_copy_layer_and_sector_and_is_not_our_fault() {
    let model = ["run", "models/lenet5.onnx", BOARD[0], BOARD[1], "--strategy", "swap"];
    let with = |fault| [&model[..], &["--card-fault", fault]].concat();
    for fault in ["removed@3", "stuck-busy@3/1", "crc-error@3/1"] {
        let report = json(&[&with(fault)[..], &["--json"]].concat(), 2);
        let told = &report["fault"];
        assert_eq!(told["kind"], "card", "{told}");
        assert!(told["copy"]["step"].is_u64() && told["copy"]["sector"].is_u64(), "{told}");
        assert!(told["layer"].is_u64() && told["step"].is_u64(), "{told}");
        assert!(told["layer_name"].as_str().is_some_and(|name| !name.is_empty()), "{told}");
        let said = run(&with(fault));
        assert_eq!(said.status.code(), Some(2));
        let text = String::from_utf8(said.stdout).unwrap();
        assert!(text.contains("where") && text.contains("for layer"), "{text}");
    }
    // Before anything runs there is no copy.
    let report = json(&[&with("other-image")[..], &["--json"]].concat(), 2);
    assert_eq!((&report["fault"]["kind"], &report["fault"]["copy"]), (&"card".into(), &().into()));
}

#[test]
fn a_sampled_run_counts_what_a_full_one_counts() {
    let model = ["run", "zoo:ds-cnn", BOARD[0], BOARD[1], "--strategy", "external", "--json"];
    let full = json(&model, 0);
    let sampled = json(&[&model[..], &["--mode", "sampled"]].concat(), 0);
    assert_eq!((&full["mode"], &sampled["mode"]), (&"full".into(), &"sampled".into()));
    assert_eq!((&full["verified"], &sampled["verified"]), (&true.into(), &serde_json::Value::Null));
    assert_eq!(sampled["outputs"].as_array().unwrap().len(), 0);
    assert!(full["passed_steps"] == 0 && sampled["passed_steps"].as_u64().unwrap() > 0);
    let convolutions = |report: &serde_json::Value| -> Vec<serde_json::Value> {
        let layers = report["layers"].as_array().unwrap().iter();
        layers.filter(|layer| layer["op"] == "conv").map(|l| l["instructions"].clone()).collect()
    };
    assert_eq!(convolutions(&full), convolutions(&sampled));
}

#[test]
fn the_film_on_the_first_page_is_what_the_command_makes() {
    let words = ["plan", "zoo:vgg16", BOARD[0], BOARD[1], "--strategy", "swap"];
    let film = run(&[&words[..], &["--film", "-"]].concat());
    let known = fs::read(project().join("static/film.svg")).unwrap();
    let again =
        "tilewright plan zoo:vgg16 --board stm32f746g-disco --strategy swap --film static/film.svg";
    assert!(film.stdout == known, "make it anew: {again}");
    let folder = folder("pictures");
    let [report, badge] = ["report.html", "badge.svg"].map(|name| folder.join(name));
    let files = ["--report", report.to_str().unwrap(), "--badge", badge.to_str().unwrap()];
    assert!(run(&[&words[..], &files].concat()).status.success());
    let [report, badge] = [report, badge].map(|path| fs::read_to_string(path).unwrap());
    assert!(report.contains("It fits, by strategy swap.") && report.matches("<img").count() == 2);
    assert!(badge.contains("fits: ") && badge.contains("stm32f746g-disco"), "{badge}");
}

#[test]
fn a_board_of_a_persons_own_is_planned_and_not_run() {
    let file = folder("own-board").join("mine.toml");
    fs::write(&file, "base = \"stm32f746g-disco\"\nsram_kib = 96\nexternal_ram_kib = 0\n").unwrap();
    let board = ["--board", file.to_str().unwrap()];
    let network = "zoo:mobilenet-v1-w0.25-r96";
    let plan = json(&["plan", network, board[0], board[1], "--strategy", "auto", "--json"], 0);
    assert_eq!(plan["board"], "own:stm32f746g-disco:sram=96:ram=0", "{plan}");
    let refusal = |command: &str| {
        let output = run(&[command, network, board[0], board[1]]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let told = refusal("run");
    assert!(told.contains("planned and simulated only"), "{told}");
    fs::write(&file, "base = \"pico-2\"\nexternal_ram_kib = 64\n").unwrap();
    let told = refusal("plan");
    assert!(told.contains("begin with a board that has it"), "{told}");
}

#[test]
fn the_arena_is_the_two_largest_neighbours_and_proved_least() {
    let report = json(&["plan", "models/lenet5.onnx", BOARD[0], BOARD[1], "--json"], 0);
    // The first pool's input and output.
    assert_eq!(report["peak_sram_bytes"], 28 * 28 * 6 + 14 * 14 * 6);
    assert_eq!(report["proved"], true);
    let all = ["plan", "models/lenet5.onnx", BOARD[0], BOARD[1], "--strategy", "all", "--json"];
    assert!(!json(&all, 0).as_array().unwrap().is_empty());
}

#[test]
fn a_plan_that_does_not_fit_names_operator_and_bytes_and_exits_with_one() {
    let arguments = ["plan", "models/lenet5.onnx", BOARD[0], BOARD[1], "--sram", "4000", "--json"];
    let report = json(&arguments, 1);
    assert_eq!(report["fits"], false);
    let why = &report["does_not_fit"];
    assert_eq!(why["available_bytes"], 4000);
    assert!(why["needed_bytes"].as_u64().unwrap() > 4000);
    assert!(!why["operator"].as_str().unwrap().is_empty());
    assert_eq!(
        run(&["run", "models/lenet5.onnx", BOARD[0], BOARD[1], "--sram", "4000"]).status.code(),
        Some(1)
    );
}

#[test]
fn a_run_is_written_beside_what_was_predicted() {
    let folder = folder("schedule");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let [csv, trace] = [path("run.csv"), path("trace.json")];
    let run = [
        &["run", "zoo:ds-cnn", BOARD[0], BOARD[1], "--strategy", "swap", "--schedule-json", "-"][..],
        &["--schedule-csv", &csv, "--perfetto", &trace],
    ];
    let all = json(&run.concat(), 0);
    let slices = ["predicted", "run"].map(|key| all[key]["slices"].as_array().unwrap().len());
    assert!(slices.iter().all(|slices| *slices > 0));
    let table = fs::read_to_string(csv).unwrap();
    let rows = |word: &str| table.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!([rows("predicted,"), rows("run,")], slices);
    let trace: serde_json::Value = serde_json::from_slice(&fs::read(trace).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let names = events.iter().filter(|event| event["name"] == "process_name");
    let names: Vec<&str> = names.map(|event| event["args"]["name"].as_str().unwrap()).collect();
    assert!(names.len() == 2 && names[1].contains("run (instructions counted"), "{names:?}");
    assert_eq!(events.iter().filter(|event| event["ph"] == "X").count(), slices[0] + slices[1]);
}

#[test]
fn an_image_for_a_card_says_how_to_place_it_and_its_checksums_hold() {
    let folder = folder("card-image");
    let out = folder.to_str().unwrap();
    let asked = ["image", "zoo:ds-cnn", BOARD[0], BOARD[1], "--strategy", "swap", "-o", out];
    assert!(run(&asked).status.success());
    let text = fs::read_to_string(folder.join("README.txt")).unwrap();
    // Lines as `sha256sum -c` takes them: 64 digits, two spaces, the name.
    let mut sums: Vec<(&str, &str)> = Vec::new();
    for line in text.lines().filter_map(|line| line.split_once("  ")) {
        if line.0.len() == 64 && line.0.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            sums.push(line);
        }
    }
    let mut named: Vec<&str> = sums.iter().map(|(_, name)| *name).collect();
    let mut there: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.txt")
        .collect();
    named.sort_unstable();
    there.sort();
    assert_eq!(named, there);
    for (sum, name) in sums {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(fs::read(folder.join(name)).unwrap());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, sum, "{name}");
    }
    // The program writes behind its weights: whoever has a card must know how far.
    let (_, used) = text.split_once("The program uses the first ").unwrap();
    let used: u64 = used.split_once(' ').unwrap().0.replace(',', "").parse().unwrap();
    assert!(used > fs::metadata(folder.join("ds-cnn.card")).unwrap().len(), "{text}");
    assert!(text.contains("dd if=ds-cnn.card of=/dev/sdX"), "{text}");
}

#[test]
fn an_image_is_the_firmware_with_its_plan() {
    let folder = folder("image");
    let out = folder.to_str().unwrap();
    let output = run(&["image", "models/lenet5.onnx", BOARD[0], BOARD[1], "-o", out]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let find = |ending: &str| {
        let mut files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        fs::read(files.find(|path| path.to_str().unwrap().ends_with(ending)).unwrap()).unwrap()
    };
    let bin = find("lenet5.bin");
    let board = tilewright_board::find(BOARD[1]).unwrap();
    let plan = &bin[board.firmware.unwrap().flash_bytes.0 as usize..];
    assert_eq!(&plan[..4], b"TWPI");
    let elf = find(".elf");
    assert_eq!(&elf[..4], b"\x7fELF");
    let held = elf.windows(plan.len()).any(|window| window == plan);
    assert!(held, "the ELF file does not hold the plan image");
    assert!(find(".hex").starts_with(b":"));
    assert!(find("input.bin").starts_with(b"TWIN"));
}

/// Runs `inspect` on bytes; gives what it complains about.
fn complaint(name: &str, bytes: &[u8]) -> String {
    let path = written(name, bytes);
    complaint_of(name, &["inspect", path.to_str().unwrap()])
}

/// The bytes as a model file.
fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder(name).join("model.onnx");
    fs::write(&path, bytes).unwrap();
    path
}

/// Runs a command that must be refused as bad input.
fn complaint_of(name: &str, arguments: &[&str]) -> String {
    let output = run(arguments);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{name}: {complaint}");
    assert!(!complaint.contains("panicked"), "{name}: {complaint}");
    complaint
}

#[test]
fn files_that_are_no_model_are_refused_with_a_reason() {
    let lenet = fs::read(project().join("models/lenet5.onnx")).unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    let noise: Vec<u8> = (0..100_000).map(|_| rng.u8(..)).collect();
    assert!(complaint("empty", b"").contains("empty"));
    complaint("noise", &noise);
    for part in [10, 1000, lenet.len() / 2, lenet.len() - 1] {
        complaint(&format!("cut-{part}"), &lenet[..part]);
    }
}

#[test]
fn a_file_of_three_gigabytes_is_refused_quickly() {
    let path = folder("huge").join("model.onnx");
    fs::File::create(&path).unwrap().set_len(3 << 30).unwrap();
    let output = run(&["inspect", path.to_str().unwrap()]);
    fs::remove_file(&path).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("3221225472"), "{complaint}");
}

#[test]
fn an_unknown_operator_and_an_open_dimension_are_named() {
    // Shapes are stated, so that the model opens; what cannot be computed is said.
    let fixed = [1, 3, 8, 8].map(Dim::Fixed);
    let path = written("operator", &one_node("NonMaxSuppression", "head/nms", &fixed));
    let file = path.to_str().unwrap();
    let unknown = &json(&["inspect", file, "--json"], 0)["without_kernel"];
    assert_eq!(unknown[0]["op"], "NonMaxSuppression");
    assert_eq!(unknown[0]["name"], "head/nms");
    // Its memory is planned: input and output of 3·8·8 floats.
    for strategy in ["resident", "reordered"] {
        let plan = json(&["plan", file, BOARD[0], BOARD[1], "--strategy", strategy, "--json"], 0);
        assert_eq!((&plan["fits"], &plan["runnable"]), (&true.into(), &false.into()));
        assert_eq!((&plan["peak_sram_bytes"], &plan["proved"]), (&1536.into(), &true.into()));
        assert!(plan["latency_us"].is_null(), "{plan}");
        let layer = &plan["layers"][0];
        assert_eq!(layer["op"], "NonMaxSuppression");
        assert!(layer["no_kernel"].as_str().unwrap().contains("no kernel"), "{plan}");
    }
    let words = String::from_utf8(run(&["plan", file, BOARD[0], BOARD[1]]).stdout).unwrap();
    assert!(words.contains("NonMaxSuppression: no kernel"), "{words}");
    let small = json(&["plan", file, BOARD[0], BOARD[1], "--sram", "1000", "--json"], 1);
    assert_eq!(small["fits"], false);
    let out = folder("operator-image");
    let out = out.to_str().unwrap();
    for refused in [&["run", file][..], &["image", file, "-o", out], &["verify", file]] {
        let refusal = complaint_of("operator", &[refused, &BOARD].concat());
        assert!(refusal.contains("NonMaxSuppression (node 'head/nms'"), "{refusal}");
        assert!(refusal.contains("Replace"), "{refusal}");
    }

    let open = [Dim::Fixed(1), Dim::Fixed(3), Dim::Named("height"), Dim::Fixed(8)];
    let refusal = complaint("open", &one_node("Relu", "relu", &open));
    assert!(refusal.contains("height"), "{refusal}");
    assert!(refusal.contains("--dim"), "{refusal}");
}
