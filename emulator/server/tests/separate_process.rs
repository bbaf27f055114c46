//! Runs in processes of their own: each is this very program, started again.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, thread};
use tilewright_app::{Blame, Bounds, Cancel, Diagnostic, Progress, Stage};
use tilewright_runner::Dist;
use tilewright_server::{
    Config, Errand, Part, Pipeline, SeparateProcess, Spool, Upload, run_for_server,
};

use common::{BOARD, fixture, onnx};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    if let [_, word, _, bytes] = &arguments[..]
        && word == "pipeline"
    {
        run_for_server(bytes.parse().unwrap()).unwrap();
        return ExitCode::SUCCESS;
    }
    let cases: [(&str, fn()); 5] = [
        ("what is uploaded reaches the end of the pipeline", reaches_its_end),
        ("what is wrong with an upload is told", tells_what_is_wrong),
        ("a run that takes too much memory ends alone", ends_beyond_its_memory),
        ("a run that takes too long ends", ends_beyond_its_time),
        ("a run ends soon after it is cancelled", ends_when_cancelled),
    ];
    for (name, case) in cases {
        case();
        assert_eq!(children(), 0, "{name}: a process is left");
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

/// Child processes of this one, those that ended and were not reaped included.
fn children() -> usize {
    let mine = |path: PathBuf| {
        // Behind the name in brackets: state, then the parent's id.
        let status = fs::read_to_string(path.join("stat")).unwrap_or_default();
        let rest = status.rsplit(')').next().unwrap_or_default().to_owned();
        rest.split_whitespace().nth(1) == Some(&std::process::id().to_string())
    };
    fs::read_dir("/proc").unwrap().flatten().filter(|entry| mine(entry.path())).count()
}

fn part(bytes: &[u8]) -> Option<Part> {
    let mut part = Spool::default().part().unwrap();
    part.write(bytes).unwrap();
    Some(part)
}

fn run(
    config: Config,
    upload: Upload<Part>,
    cancel: &Cancel,
) -> (Result<(), Diagnostic>, Vec<Stage>, Duration) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("firmware")).unwrap();
    fs::write(folder.path().join(format!("firmware/{BOARD}.elf")), fixture::elf()).unwrap();
    let dist = Dist::at(folder.path());
    let errand = Errand { config, dist, board: BOARD.to_owned(), upload };
    let mut stages = Vec::new();
    let mut progress = |news: Progress| {
        if let Progress::Stage(stage) = news {
            stages.push(stage);
        }
    };
    let begun = Instant::now();
    let left = SeparateProcess::new("pipeline").unwrap().run(errand, &mut progress, cancel);
    (left.map(drop), stages, begun.elapsed())
}

/// Convolutions that keep an interpreter busy for many seconds.
fn busy() -> Upload<Part> {
    let (model, samples) = (part(&onnx::convolutions(40)), part(&onnx::samples(20)));
    Upload { model, samples, ..Upload::default() }
}

/// Weights of 1.2e8 elements that are in no file.
fn large() -> Upload<Part> {
    let (model, samples) = (part(&onnx::zeros(10_000, 12_000)), part(&onnx::bytes(&[1, 10_000])));
    Upload { model, samples, ..Upload::default() }
}

fn reaches_its_end() {
    let upload = Upload { zoo: Some("lenet5".to_owned()), ..Upload::default() };
    let (left, stages, _) = run(Config::default(), upload, &Cancel::default());
    // There is no worker here that could run it.
    assert_eq!(left.unwrap_err().kind, Blame::NotBuilt);
    assert_eq!(stages.last(), Some(&Stage::Running), "{stages:?}");
}

fn tells_what_is_wrong() {
    let model = part(b"no model at all");
    let upload = Upload { model, ..Upload::default() };
    let (left, ..) = run(Config::default(), upload, &Cancel::default());
    let problem = left.unwrap_err();
    assert_eq!(problem.kind, Blame::BadInput, "{problem}");
    assert!(problem.what.contains("Not a model"), "{problem}");
}

fn ends_beyond_its_memory() {
    let mut config = Config { quantising: Bounds::default(), ..Config::default() };
    config.pipeline.memory_bytes = 400 << 20;
    let (left, ..) = run(config, large(), &Cancel::default());
    let problem = left.unwrap_err();
    assert_eq!(problem.kind, Blame::TooLarge, "{problem}");
    assert!(problem.what.contains("400 MiB"), "{problem}");
}

fn ends_beyond_its_time() {
    let mut config = Config::default();
    config.pipeline.wall = Duration::from_secs(1);
    let (left, ..) = run(config, busy(), &Cancel::default());
    let problem = left.unwrap_err();
    assert_eq!(problem.kind, Blame::TooLarge, "{problem}");
    assert!(problem.what.contains("longer than the 1 s"), "{problem}");
}

fn ends_when_cancelled() {
    let cancel = Cancel::default();
    let asked = cancel.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        asked.cancel();
    });
    let (left, _, took) = run(Config::default(), busy(), &cancel);
    assert_eq!(left.unwrap_err().kind, Blame::Cancelled);
    assert!(took < Duration::from_secs(2), "{took:?}");
}
