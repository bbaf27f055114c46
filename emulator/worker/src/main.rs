//! The worker process.

use std::io::{self, Read};
use std::process::ExitCode;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use thiserror::Error;
use tilewright_protocol::{
    Engine, FrameError, Request, Response, VERSION, read_frame, write_frame,
};
use tilewright_report::choice;
use tilewright_worker::JobError;

const USAGE: &str =
    "usage: tilewright-worker [--memory-limit BYTES] [--engine unicorn|own|both]
                                                  one job over stdin and stdout
       tilewright-worker --bench                  emulation speed as JSON
       tilewright-worker --bench-steps            that of a job's compute steps; the job over stdin";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--bench"] => report(tilewright_worker::bench(), |result| println!("{result}")),
        ["--bench-steps"] => report(bench_steps(), |result| println!("{result}")),
        options => match of_options(options) {
            Ok(engine) => report(serve_job(engine), |()| {}),
            Err(message) => fail(&message),
        },
    }
}

/// Sets limits; gives the engine.
fn of_options(options: &[&str]) -> Result<Engine, String> {
    let mut engine = Engine::default();
    for option in options.chunks(2) {
        match option {
            ["--memory-limit", bytes] => {
                let bytes = bytes.parse().map_err(|_| USAGE.to_owned())?;
                rlimit::setrlimit(rlimit::Resource::AS, bytes, bytes)
                    .map_err(|error| format!("cannot limit memory to {bytes} bytes: {error}"))?;
            }
            ["--engine", word] => engine = choice(word).map_err(|_| USAGE.to_owned())?,
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(engine)
}

fn fail(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}

fn report<T, E: std::fmt::Display>(result: Result<T, E>, done: impl FnOnce(T)) -> ExitCode {
    match result {
        Ok(value) => {
            done(value);
            ExitCode::SUCCESS
        }
        // The runner takes this exit code for a refusal, and standard error for the reason.
        Err(error) => fail(&error.to_string()),
    }
}

/// Why there is no result.
#[derive(Debug, Error)]
enum ServeError {
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Job(#[from] JobError),
    #[error("the {0} message is not the one that is due")]
    OutOfTurn(&'static str),
    #[error("the runner speaks protocol {0}, the worker {VERSION}")]
    Version(u32),
}

fn bench_steps() -> Result<String, ServeError> {
    let Request::Run(job) = read_frame(&mut io::stdin())? else {
        return Err(ServeError::OutOfTurn("first"));
    };
    Ok(tilewright_worker::bench_steps(&job)?)
}

fn serve_job(engine: Engine) -> Result<(), ServeError> {
    let (mut input, mut output) = (io::stdin(), io::stdout());
    let Request::Hello { version } = read_frame(&mut input)? else {
        return Err(ServeError::OutOfTurn("first"));
    };
    let name = tilewright_worker::name(engine);
    write_frame(&mut output, &Response::Hello { version: VERSION, engine: name })?;
    if version != VERSION {
        return Err(ServeError::Version(version));
    }
    let (job, host) = match read_frame(&mut input)? {
        Request::Run(job) => (job, None),
        Request::RunWithHost(job) => {
            let (sender, bytes) = channel();
            (job, Some((sender, bytes)))
        }
        _ => return Err(ServeError::OutOfTurn("second")),
    };
    let (sender, host) = host.unzip();
    // Whoever started this process closes its input to end it; dying is enough.
    thread::spawn(move || {
        pass_on(&mut input, sender.as_ref());
        std::process::exit(0);
    });
    let mut messages = io::stdout();
    let sink = move |response| {
        // A reader that is gone ends the process as well.
        if write_frame(&mut messages, &response).is_err() {
            std::process::exit(0);
        }
    };
    let finish = match host {
        Some(host) => tilewright_worker::run_with_host(&job, host, sink)?,
        None => tilewright_worker::run_on(engine, &job, sink)?,
    };
    Ok(write_frame(&mut output, &Response::Finished(finish))?)
}

/// Passes on what a host sends, until there is no more.
fn pass_on(input: &mut impl Read, host: Option<&Sender<Vec<u8>>>) {
    let Some(host) = host else {
        let mut rest = [0u8; 64];
        while matches!(input.read(&mut rest), Ok(1..)) {}
        return;
    };
    while let Ok(Request::Console(bytes)) = read_frame(input) {
        if host.send(bytes).is_err() {
            return;
        }
    }
}
