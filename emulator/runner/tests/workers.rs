//! Workers that misbehave: each is this very program, started under a name that says how.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use std::{env, thread};

use tilewright_protocol::{
    Finish, Job, Limits, Request, Response, RunOutcome, StepCount, VERSION, Watch, read_frame,
    write_frame,
};
use tilewright_report::Counts;
use tilewright_runner::{Runner, RunnerError, WorkerLimits};

const PREFIX: &str = "worker-that-";

fn main() -> ExitCode {
    let name = env::args().next().unwrap_or_default();
    let name = Path::new(&name).file_name().unwrap().to_string_lossy().into_owned();
    if let Some(behaviour) = name.strip_prefix(PREFIX) {
        return misbehave(behaviour);
    }
    let cases: [(&str, fn()); 10] = [
        ("a job's messages become its outcome", answers),
        ("a host's bytes reach a job that is under way", hears),
        ("a crash is told with its last words", crashes),
        ("a refusal is told with its reason", refuses),
        ("a worker that hangs is killed", hangs),
        ("a worker that hangs before its hello is killed", hangs_at_once),
        ("garbage is no message", garbage),
        ("another version is refused", version),
        ("cancelling ends a job soon", cancel),
        ("a missing worker is named", missing),
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

fn misbehave(behaviour: &str) -> ExitCode {
    let (mut input, mut output) = (io::stdin(), io::stdout());
    if behaviour == "hangs-at-once" {
        thread::sleep(Duration::from_secs(600));
    }
    let _: Request = read_frame(&mut input).unwrap();
    let version = if behaviour == "is-old" { VERSION - 1 } else { VERSION };
    write_frame(&mut output, &Response::Hello { version, engine: "fake".into() }).unwrap();
    let job = match read_frame(&mut input) {
        Ok(Request::Run(job)) => job,
        Ok(Request::RunWithHost(_)) => {
            // An echo, until the host takes its leave.
            while let Ok(Request::Console(bytes)) = read_frame(&mut input) {
                let is_last = bytes.is_empty();
                write_frame(&mut output, &Response::Console(bytes)).unwrap();
                if is_last {
                    write_frame(&mut output, &Response::Finished(finish())).unwrap();
                }
            }
            return ExitCode::SUCCESS;
        }
        _ => return ExitCode::SUCCESS,
    };
    match behaviour {
        "answers" => {
            let step = StepCount {
                step: 3,
                layer: 1,
                start: 5,
                end: 9,
                instructions: 4,
                cycles: 4,
                code_waits: 0,
                constant_waits: 0,
                waited: 0,
            };
            let elf = job.elf.clone();
            for response in [
                Response::Progress { instructions: 1, step: None },
                Response::Console(b"hel".to_vec()),
                Response::Console(b"lo".to_vec()),
                Response::Step(step),
                Response::Watched { watch: 1, bytes: elf },
                Response::Finished(finish()),
            ] {
                write_frame(&mut output, &response).unwrap();
            }
        }
        "crashes" => {
            eprintln!("{}", "x".repeat(10_000));
            eprintln!("these are my last words");
            std::process::abort();
        }
        "refuses" => {
            eprintln!("no board 'pdp-11'");
            return ExitCode::from(2);
        }
        "hangs" => thread::sleep(Duration::from_secs(600)),
        _ => {
            output.write_all(&[7, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).unwrap();
            output.flush().unwrap();
            thread::sleep(Duration::from_secs(600));
        }
    }
    ExitCode::SUCCESS
}

fn finish() -> Finish {
    Finish {
        fault: None,
        boot: Counts::default(),
        load: Counts::default(),
        invoke: Counts { compute_instructions: 4, ..Counts::default() },
        stack: None,
        unknown_registers: vec![(0x4000_0000, 2)],
        invokes: Vec::new(),
        passed_steps: 0,
        wall_ns: 1,
    }
}

fn job() -> Job {
    let watch = Watch { step: 3, address: 0, rows: 1, row_bytes: 4, pitch: 4, ..Watch::default() };
    Job {
        watches: vec![watch, watch],
        ..Job::new("any", vec![1, 2, 3, 4], Limits { instructions: 1, console_bytes: 100 })
    }
}

fn run(
    behaviour: &str,
    wall: Duration,
    cancel: &AtomicBool,
) -> (Result<RunOutcome, RunnerError>, usize, Duration) {
    let folder = tempfile::tempdir().unwrap();
    let worker = folder.path().join(format!("{PREFIX}{behaviour}"));
    symlink(env::current_exe().unwrap(), &worker).unwrap();
    let limits = WorkerLimits { wall, memory_bytes: 1 << 30 };
    let (mut events, start) = (0, Instant::now());
    let result = Runner::new(worker).run(job(), &limits, &mut |_| events += 1, cancel);
    (result, events, start.elapsed())
}

fn simply(behaviour: &str) -> Result<RunOutcome, RunnerError> {
    run(behaviour, Duration::from_secs(60), &AtomicBool::new(false)).0
}

fn answers() {
    let cancel = AtomicBool::new(false);
    let (outcome, events, _) = run("answers", Duration::from_secs(60), &cancel);
    let outcome = outcome.unwrap();
    assert_eq!(events, 5);
    assert_eq!(outcome.console, b"hello");
    assert_eq!(outcome.watched, [None, Some(vec![1, 2, 3, 4])]);
    assert_eq!(outcome.steps.len(), 1);
    assert_eq!(outcome.finish, finish());
    assert_eq!(outcome.engine, "fake");
}

fn hears() {
    let folder = tempfile::tempdir().unwrap();
    let worker = folder.path().join(format!("{PREFIX}hears"));
    symlink(env::current_exe().unwrap(), &worker).unwrap();
    let limits = WorkerLimits { wall: Duration::from_secs(60), memory_bytes: 1 << 30 };
    let (host, bytes) = channel();
    host.send(b"a".to_vec()).unwrap();
    let mut heard = Vec::new();
    let mut on_event = |response: &Response| {
        let Response::Console(bytes) = response else { panic!("{response:?}") };
        heard.push(bytes.clone());
        // Each is sent once the one before has come back.
        let next: &[u8] = if heard.len() == 1 { b"bc" } else { b"" };
        if heard.len() < 3 {
            host.send(next.to_vec()).unwrap();
        }
    };
    let cancel = AtomicBool::new(false);
    let finished =
        Runner::new(worker).run_with_host(job(), bytes, &limits, &mut on_event, &cancel).unwrap();
    assert_eq!(finished, finish());
    assert_eq!(heard, [b"a".to_vec(), b"bc".to_vec(), Vec::new()]);
}

fn crashes() {
    let Err(RunnerError::Crashed { status, last_words }) = simply("crashes") else {
        panic!("no crash")
    };
    assert!(status.contains("signal"), "{status}");
    assert!(last_words.ends_with("these are my last words"), "{last_words}");
    assert!(last_words.len() < 3000);
}

fn refuses() {
    let Err(RunnerError::Refused(reason)) = simply("refuses") else { panic!("no refusal") };
    assert_eq!(reason, "no board 'pdp-11'");
}

fn hangs() {
    let wall = Duration::from_millis(200);
    let (result, _, elapsed) = run("hangs", wall, &AtomicBool::new(false));
    assert!(matches!(result, Err(RunnerError::TimeLimit(limit)) if limit == wall));
    assert!(elapsed < Duration::from_secs(10));
}

fn hangs_at_once() {
    let wall = Duration::from_millis(200);
    let (result, _, _) = run("hangs-at-once", wall, &AtomicBool::new(false));
    assert!(matches!(result, Err(RunnerError::TimeLimit(_))));
}

fn garbage() {
    assert!(matches!(simply("writes-garbage"), Err(RunnerError::Protocol { .. })));
}

fn version() {
    let result = simply("is-old");
    assert!(
        matches!(result, Err(RunnerError::Version { runner: VERSION, worker }) if worker + 1 == VERSION)
    );
}

fn cancel() {
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            cancel.store(true, Ordering::Relaxed);
        });
        let (result, _, elapsed) = run("hangs", Duration::from_secs(60), &cancel);
        assert!(matches!(result, Err(RunnerError::Cancelled)));
        assert!(elapsed < Duration::from_secs(10));
    });
}

fn missing() {
    let limits = WorkerLimits { wall: Duration::from_secs(1), memory_bytes: 1 << 30 };
    let runner = Runner::new("/nowhere/tilewright-worker".into());
    let error = runner.run(job(), &limits, &mut |_| {}, &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("/nowhere/tilewright-worker"), "{error}");
    assert!(error.to_string().contains("cargo xtask build"), "{error}");
}
