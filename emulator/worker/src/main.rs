//! The worker process.

use std::io::{self, Read, Write};
use std::process::ExitCode;
use std::thread;

use tilewright_protocol::{FrameError, Request, Response, VERSION, read_frame, write_frame};

const USAGE: &str =
    "usage: tilewright-worker [--memory-limit BYTES]   one job over stdin and stdout
       tilewright-worker --bench                  emulation speed as JSON";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next(), arguments.next()) {
        (None, None, None) => serve(),
        (Some("--bench"), None, None) => report(tilewright_worker::bench(), |result| {
            println!("{result}");
        }),
        (Some("--memory-limit"), Some(bytes), None) => match bytes.parse() {
            Ok(bytes) => match rlimit::setrlimit(rlimit::Resource::AS, bytes, bytes) {
                Ok(()) => serve(),
                Err(error) => fail(&format!("cannot limit memory to {bytes} bytes: {error}")),
            },
            Err(_) => fail(USAGE),
        },
        _ => fail(USAGE),
    }
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
        Err(error) => fail(&error.to_string()),
    }
}

fn serve() -> ExitCode {
    report(serve_job(), |()| {})
}

fn serve_job() -> Result<(), FrameError> {
    let (mut input, mut output) = (io::stdin(), io::stdout());
    let Request::Hello { version } = read_frame(&mut input)? else {
        return Ok(write_error("the first message is no hello"));
    };
    write_frame(
        &mut output,
        &Response::Hello { version: VERSION, engine: tilewright_worker::engine() },
    )?;
    if version != VERSION {
        return Ok(write_error(&format!("runner speaks protocol {version}, worker {VERSION}")));
    }
    let Request::Run(job) = read_frame(&mut input)? else {
        return Ok(write_error("the second message is no job"));
    };
    // Whoever started this process closes its input to end it; dying is enough.
    thread::spawn(move || {
        let mut rest = [0u8; 64];
        while matches!(input.read(&mut rest), Ok(1..)) {}
        std::process::exit(0);
    });
    let mut output = io::BufWriter::new(output);
    let finish = tilewright_worker::run(&job, move |response| {
        // A reader that is gone ends the process as well.
        if write_frame(&mut output, &response).is_err() {
            std::process::exit(0);
        }
    });
    match finish {
        Ok(finish) => write_frame(&mut io::stdout(), &Response::Finished(finish)),
        Err(error) => Ok(write_error(&error.to_string())),
    }
}

fn write_error(message: &str) {
    // Standard error is read by the runner as the last words of a failed worker.
    let _ = writeln!(io::stderr(), "{message}");
}
