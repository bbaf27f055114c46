//! A campaign over a folder of model files, as a table of what came of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Args;
use serde::Serialize;
use tilewright_app::Cancel;
use tilewright_tests::campaign::{
    self, Effort, Engine, Failure, Lab, Opened, Outcome, Verdict, Way,
};

/// Runs over their prediction by more than this share are told.
const WIDE: f64 = 1.05;

/// What to run.
#[derive(Clone, Debug, Args)]
pub struct Options {
    /// Folder of model files (.tflite, .onnx), or a failure that a campaign has written
    path: PathBuf,
    /// Cases that are drawn for each network, behind every strategy on every board
    #[arg(long, value_name = "COUNT", default_value_t = 12)]
    drawn: usize,
    /// Multiply-accumulates of the largest network that is emulated; larger ones run on the host
    #[arg(long, value_name = "COUNT", default_value_t = 40_000_000)]
    emulated_macs: u64,
    /// Multiply-accumulates of the largest network that runs
    #[arg(long, value_name = "COUNT", default_value_t = 600_000_000)]
    most_macs: u64,
    /// Files at a time
    #[arg(long, value_name = "COUNT", default_value_t = 2)]
    threads: usize,
    /// Only files whose names contain this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Folder for what fails, as small as it can be made
    #[arg(long, value_name = "FOLDER", default_value = "target/campaign")]
    failures: PathBuf,
}

/// What came of all files.
#[derive(Debug, Default, Serialize)]
struct Found {
    files: usize,
    /// Files that the campaign opened and ran, with int8 weights or quantised here.
    run_as_int8: usize,
    run_quantised: usize,
    /// Files with operators that nothing computes, by operator.
    planned_only: BTreeMap<String, usize>,
    /// Files that are larger than the campaign runs.
    too_large: usize,
    /// Files that were refused, by reason.
    refused: BTreeMap<String, usize>,
    /// Cases by strategy.
    strategies: BTreeMap<&'static str, Row>,
    /// Why strategies had no plan, or plans did not run.
    reasons: BTreeMap<String, usize>,
    /// What must never be.
    failures: Vec<String>,
}

/// Cases of one strategy.
#[derive(Debug, Default, Serialize)]
struct Row {
    emulated: usize,
    on_host: usize,
    /// Of the emulated ones, those that took more than 5 % over their prediction.
    over_prediction: usize,
    does_not_fit: usize,
    no_plan: usize,
    cannot_run: usize,
    wrong: usize,
}

/// Runs a campaign, or one failure of an earlier one.
///
/// # Errors
/// If anything was wrong.
pub fn campaign(options: &Options, json: bool) -> Result<(), String> {
    if options.path.is_file() {
        return repeat(&options.path);
    }
    let files = model_files(options)?;
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Found::default()));
    let work = || {
        let lab = Lab::new();
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            file(&lab, path, options, &found, json);
        }
    };
    thread::scope(|scope| {
        for _ in 0..options.threads.max(1) {
            scope.spawn(work);
        }
    });
    let found = found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    if json {
        println!("{}", serde_json::to_string_pretty(&found).map_err(|error| error.to_string())?);
    } else {
        print(&found);
    }
    match found.failures.len() {
        0 => Ok(()),
        failures => Err(format!("{failures} cases failed")),
    }
}

/// The folder's model files, by name.
fn model_files(options: &Options) -> Result<Vec<PathBuf>, String> {
    let told = |error: std::io::Error| format!("{}: {error}", options.path.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&options.path).map_err(told)? {
        let path = entry.map_err(told)?.path();
        let is_model = path.extension().is_some_and(|end| end == "tflite" || end == "onnx");
        if is_model && name(&path).contains(&options.only) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Runs one file's cases.
fn file(lab: &Lab, path: &Path, options: &Options, found: &Mutex<Found>, json: bool) {
    let tell = |add: &dyn Fn(&mut Found)| {
        let mut found = found.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        add(&mut found);
    };
    let name = name(path);
    tell(&|found| found.files += 1);
    let model = match campaign::open(path) {
        Err(error) => return tell(&|found| found.failures.push(error.clone())),
        Ok(Opened::Refused(problem)) => {
            if !json {
                println!("{name}: refused: {}", problem.what);
            }
            return tell(&|found| *found.refused.entry(problem.what.clone()).or_default() += 1);
        }
        Ok(Opened::Planned(why)) => {
            if !json {
                println!("{name}: planned only: {why}");
            }
            return tell(&|found| *found.planned_only.entry(why.clone()).or_default() += 1);
        }
        Ok(Opened::Runs { model, as_int8 }) => {
            if campaign::macs(&model) > options.most_macs {
                if !json {
                    println!("{name}: larger than {} MACs", options.most_macs);
                }
                return tell(&|found| found.too_large += 1);
            }
            tell(&|found| match as_int8 {
                true => found.run_as_int8 += 1,
                false => found.run_quantised += 1,
            });
            model
        }
    };
    let effort = Effort { drawn: options.drawn, emulated_macs: options.emulated_macs };
    let (mut right, mut seconds) = (0, 0.0);
    campaign::run(lab, &model, seed(&name), &effort, &mut |outcome, took| {
        seconds += took;
        right += usize::from(matches!(outcome.verdict, Verdict::Right(_)));
        let failure = outcome.verdict.is_failure().then(|| {
            let smaller = write(lab, &model, &outcome, options);
            format!("{name}: {}: {}: {smaller}", outcome.case, outcome.verdict)
        });
        if let Some(failure) = &failure {
            eprintln!("FAILED {failure}");
        }
        tell(&|found| count(found, &outcome, failure.clone()));
    });
    if !json {
        println!("{name}: {right} runs bit-equal, {seconds:.1} s");
    }
}

/// A number that a name stands for.
fn seed(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn count(found: &mut Found, outcome: &Outcome, failure: Option<String>) {
    found.failures.extend(failure);
    let row = found.strategies.entry(outcome.case.strategy.name()).or_default();
    match &outcome.verdict {
        Verdict::Right(Way { over_prediction }) => {
            match outcome.engine {
                Engine::Emulator => row.emulated += 1,
                Engine::Host => row.on_host += 1,
            }
            row.over_prediction += usize::from(over_prediction.is_some_and(|over| over > WIDE));
        }
        Verdict::DoesNotFit(_) => row.does_not_fit += 1,
        Verdict::Unsupported(why) => {
            row.no_plan += 1;
            *found.reasons.entry(why.clone()).or_default() += 1;
        }
        Verdict::CannotRun(why) => {
            row.cannot_run += 1;
            *found.reasons.entry(why.clone()).or_default() += 1;
        }
        Verdict::Wrong(_) | Verdict::Ours(_) => row.wrong += 1,
    }
}

/// Makes a failure small and writes it; says where it is.
fn write(
    lab: &Lab,
    model: &tilewright_model::Model,
    outcome: &Outcome,
    options: &Options,
) -> String {
    let Outcome { case, engine, verdict } = outcome;
    let small = campaign::shrunk(model, &mut |part| {
        lab.run(part, case, *engine, &Cancel::default()).fails_as(verdict)
    });
    let nodes = small.nodes.len();
    let failure = Failure::new(small, case.clone(), *engine);
    let file = format!("{:016x}.failure", seed(&format!("{}{case}", model.name)));
    let path = options.failures.join(file);
    let written = fs::create_dir_all(&options.failures).map_err(|error| error.to_string());
    match written.and_then(|()| failure.write(&path)) {
        Ok(()) => {
            format!(
                "{nodes} of {} nodes fail alike: cargo xtask bench campaign {}",
                model.nodes.len(),
                path.display()
            )
        }
        Err(error) => format!("not written: {error}"),
    }
}

/// Runs a failure again.
fn repeat(path: &Path) -> Result<(), String> {
    let Failure { model, case, engine } = Failure::read(path)?;
    println!("{}: {} nodes, {engine:?}, {case}", model.name, model.nodes.len());
    for node in &model.nodes {
        let shape = |id: &tilewright_model::TensorId| format!("{}", model.tensor(*id).shape);
        let inputs: Vec<String> = node.inputs.iter().map(shape).collect();
        let outputs: Vec<String> = node.outputs.iter().map(shape).collect();
        println!("  {:?}: {} -> {}", node.op, inputs.join(" "), outputs.join(" "));
    }
    let verdict = Lab::new().run(&model, &case, engine, &Cancel::default());
    println!("{verdict}");
    if verdict.is_failure() { Err("it fails still".to_owned()) } else { Ok(()) }
}

fn print(found: &Found) {
    let Found { files, run_as_int8, run_quantised, planned_only, too_large, refused, .. } = found;
    println!(
        "\n{files} files: {run_as_int8} run as int8, {run_quantised} quantised here, {too_large} too large"
    );
    let counted = |what: &str, reasons: &BTreeMap<String, usize>| {
        let mut reasons: Vec<_> = reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let all: usize = reasons.iter().map(|(_, count)| **count).sum();
        println!("\n{all} {what}");
        for (reason, count) in reasons.into_iter().take(40) {
            println!("  {count:5}  {reason}");
        }
    };
    counted("planned for memory alone", planned_only);
    counted("refused", refused);
    counted("cases without a plan, or whose plan no firmware runs", &found.reasons);
    println!(
        "\n{:16} {:>9} {:>8} {:>16} {:>12} {:>8} {:>11} {:>6}",
        "strategy",
        "emulated",
        "on host",
        "over prediction",
        "does not fit",
        "no plan",
        "cannot run",
        "wrong"
    );
    for (strategy, row) in &found.strategies {
        let Row { emulated, on_host, over_prediction, does_not_fit, no_plan, cannot_run, wrong } =
            row;
        println!(
            "{strategy:16} {emulated:9} {on_host:8} {over_prediction:16} {does_not_fit:12} {no_plan:8} \
             {cannot_run:11} {wrong:6}"
        );
    }
    println!();
    for failure in &found.failures {
        println!("FAILED {failure}");
    }
}
