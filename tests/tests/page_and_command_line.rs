//! Page and command line say the same: the page's workers, run here, beside the program, on the same
//! models, options and bad inputs.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tilewright_frontend::message::{
    Calibrating, FloatRequest, ImportReply, ImportRequest, ModelSource, PlanReply, PlanRequest,
    PlanSettings,
};
use tilewright_frontend::workers::float;
use tilewright_frontend::workers::import::Importer;
use tilewright_frontend::workers::plan::Planner;
use tilewright_frontend::workers::{Sliced, Turn};
use tilewright_report::{Diagnostic, Integrity, Kernels, Objective, Outputs, Packing, PlanReport};
use tilewright_tests::emulated::project;
use tilewright_tests::program::program;

const BOARD: &str = "stm32f746g-disco";

/// A model as both take it.
struct Model {
    /// As the command line has it.
    argument: String,
    /// As the page has it, with its buffers.
    source: ModelSource,
    buffers: Vec<Vec<u8>>,
    calibrating: Calibrating,
}

impl Model {
    fn zoo(name: &str) -> Self {
        Self {
            argument: format!("zoo:{name}"),
            source: ModelSource::Zoo(name.to_owned()),
            buffers: Vec::new(),
            calibrating: Calibrating::default(),
        }
    }

    /// A file of `models`, quantised on the samples beside it if it is a float model.
    fn file(path: &Path) -> Self {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let samples = path.with_extension("calibration.npy");
        let files = [Some(path), samples.is_file().then_some(samples.as_path())];
        Self {
            argument: path.display().to_string(),
            source: ModelSource::File { name, data: Vec::new(), dims: Vec::new() },
            buffers: files.into_iter().flatten().map(|f| std::fs::read(f).unwrap()).collect(),
            calibrating: Calibrating::default(),
        }
    }

    fn bundled(name: &str) -> Self {
        Self::file(&project().join("models").join(name))
    }
}

/// What the page's workers plan.
fn in_the_page(model: &Model, settings: PlanSettings) -> Result<PlanReport, Diagnostic> {
    let request = ImportRequest::Open(model.source.clone(), model.calibrating.clone());
    let (reply, buffers) = Importer::default().answer(request, model.buffers.clone(), &|_| {})?;
    assert!(matches!(reply, ImportReply::Opened(_)), "{reply:?}");
    let mut planner = Planner::default();
    let Turn::Done(loaded) = planner.begin(PlanRequest::Load, &buffers) else { panic!() };
    loaded?;
    let mut turn = planner.begin(PlanRequest::Compare(settings), &[]);
    loop {
        match turn {
            Turn::Working(_) => turn = planner.go_on().unwrap(),
            Turn::Done(outcome) => {
                let (PlanReply::Planned(facts), _) = outcome? else { panic!("no plan") };
                return Ok(facts.report);
            }
        }
    }
}

fn on_the_command_line(model: &Model, settings: &PlanSettings) -> Output {
    let mut command = program();
    command.args(["plan", &model.argument, "--json"]).args(arguments(settings));
    command.output().unwrap()
}

/// The command line's options that say what settings say.
fn arguments(settings: &PlanSettings) -> Vec<String> {
    let usual = serde_json::to_value(PlanSettings::default()).unwrap();
    let given = serde_json::to_value(settings).unwrap();
    let mut arguments = Vec::new();
    for (key, value) in given.as_object().unwrap() {
        let option = format!("--{}", key.trim_end_matches("_bytes").replace('_', "-"));
        match value {
            _ if *value == usual[key] => {}
            Value::Bool(_) => arguments.push(option),
            Value::String(word) if key == "integrity" => {
                assert_eq!(word, "checked");
                arguments.push(option);
            }
            Value::String(word) => arguments.extend([option, word.clone()]),
            _ => arguments.extend([option, value.to_string()]),
        }
    }
    arguments
}

fn settings(strategy: &str, sram_bytes: Option<u64>) -> PlanSettings {
    PlanSettings {
        board: BOARD.to_owned(),
        strategy: strategy.to_owned(),
        sram_bytes,
        ..PlanSettings::default()
    }
}

/// Plans where page and program have the same figures; how many were compared.
fn compare(model: &Model, settings: PlanSettings) -> usize {
    let output = on_the_command_line(model, &settings);
    let asked = format!("{} {:?}", model.argument, arguments(&settings));
    let report = match in_the_page(model, settings) {
        Ok(report) => report,
        Err(problem) => {
            assert_eq!(output.status.code(), Some(2), "{asked}: {problem}");
            return 0;
        }
    };
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown: Value = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    for (key, shown) in shown.as_object().unwrap() {
        match shown {
            // The page tries remedies one by one, and draws them as they come.
            _ if key == "does_not_fit" => {}
            _ => assert_eq!(said[key], *shown, "{asked}: {key}"),
        }
    }
    assert_eq!(said["fits"], report.fits);
    1
}

#[test]
fn plans_have_the_same_figures() {
    let models = [
        Model::bundled("lenet5.onnx"),
        Model::bundled("fashion-mobilenet.onnx"),
        Model::bundled("golden/branches.tflite"),
        Model::zoo("ds-cnn"),
        Model::zoo("mobilenet-v1-w0.25-r96"),
    ];
    let mut compared = 0;
    for model in &models {
        for (strategy, sram) in
            [("resident", None), ("reordered", None), ("auto", Some(40_000)), ("swap", None)]
        {
            compared += compare(model, settings(strategy, sram));
        }
    }
    assert!(compared >= 15, "{compared}");
}

#[test]
fn every_option_means_the_same() {
    let auto = settings("auto", None);
    let swap = PlanSettings { board: "nucleo-f767zi".to_owned(), ..settings("swap", None) };
    let tiles = Some("2x3".to_owned());
    let asked = [
        PlanSettings { objective: Objective::Memory, ..auto.clone() },
        PlanSettings { stream_input: true, objective: Objective::Memory, ..auto.clone() },
        PlanSettings { kernels: Kernels::Small, inside: true, ..auto.clone() },
        PlanSettings { packing: Packing::Plain, frames: Some(3), ..auto },
        PlanSettings { packing: Packing::Fast, ..settings("resident", None) },
        PlanSettings { packing: Packing::Sparse, ..settings("reordered", None) },
        PlanSettings { outputs: Outputs::Staged, ..settings("overlay", Some(16_384)) },
        PlanSettings { tiles: tiles.clone(), ..settings("resident", None) },
        PlanSettings { tiles, threshold: Some(0.7), ..settings("resident", None) },
        PlanSettings { buffer_bytes: Some(8_192), ..swap.clone() },
        PlanSettings { card: Some("paper-swapnn".to_owned()), ..swap.clone() },
        PlanSettings { integrity: Integrity::Checked, ..swap },
    ];
    let model = Model::zoo("mobilenet-v1-w0.25-r96");
    let count = asked.len();
    let compared: usize = asked.into_iter().map(|settings| compare(&model, settings)).sum();
    assert_eq!(compared, count);
}

/// What the command line says on standard error, in one line.
fn refusal(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn bad_inputs_have_the_same_words() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Model::file(&path)
    };
    let lenet = std::fs::read(project().join("models/lenet5.onnx")).unwrap();
    let cut = std::fs::read(project().join("models/golden/branches.tflite")).unwrap();
    let bad = [
        write("empty.onnx", b""),
        write("text.onnx", b"this is no model"),
        write("cut.onnx", &lenet[..lenet.len() / 2]),
        write("cut.tflite", &cut[..cut.len() / 3]),
        Model::zoo("vgg61"),
        Model::zoo("lenet5-w0.5"),
        Model::zoo("mobilenet-v2-r7"),
    ];
    for model in bad {
        let output = on_the_command_line(&model, &settings("resident", None));
        assert_eq!(output.status.code(), Some(2), "{}", model.argument);
        let problem = in_the_page(&model, settings("resident", None)).unwrap_err();
        let told = refusal(&output);
        for words in [&problem.what, &problem.place, &problem.what_to_do] {
            assert!(told.contains(words.as_str()), "{words:?} is not in {told:?}");
        }
    }
}

#[test]
fn strategies_that_suit_no_model_say_why_in_the_same_words() {
    let lenet = Model::zoo("lenet5");
    let settings = PlanSettings { board: "pico-2".to_owned(), ..settings("swap", None) };
    let told = refusal(&on_the_command_line(&lenet, &settings));
    let problem = in_the_page(&lenet, settings).unwrap_err();
    for words in [&problem.what, &problem.place, &problem.what_to_do] {
        assert!(told.contains(words.as_str()), "{words:?} is not in {told:?}");
    }
}

#[test]
fn comparisons_with_the_float_model_have_the_same_figures() {
    for model in [Model::bundled("lenet5.onnx"), Model::zoo("ds-cnn")] {
        let mut command = program();
        let output =
            command.args(["verify", &model.argument, "--float", "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", refusal(&output));
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        let request = ImportRequest::Open(model.source.clone(), model.calibrating.clone());
        let opened = Importer::default().answer(request, model.buffers.clone(), &|_| {});
        let (_, int8) = opened.unwrap();
        let request = FloatRequest { source: model.source, calibrating: model.calibrating };
        let buffers = [model.buffers, int8].concat();
        let (found, _) = float::answer(&request, buffers, &|_| {}).unwrap();
        let text = serde_json::to_string(&found).unwrap();
        let shown: Value = serde_json::from_str(&text).unwrap();
        for (key, shown) in shown.as_object().unwrap() {
            assert_eq!(said[key], *shown, "{} {key}", model.argument);
        }
    }
}
