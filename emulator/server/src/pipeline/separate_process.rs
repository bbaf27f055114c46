//! The pipeline in a process of its own.

use std::convert::Infallible;
use std::iter;
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::sync_channel;
use tilewright_app::{Blame, Cancel, Diagnostic, Progress};
use tilewright_report::sentence;
use tilewright_runner::{RunnerError, Talk, WorkerLimits};

use super::child::{Request, Response};
use super::{Errand, Left, Pipeline};

/// What an allocation that fails leaves on standard error.
const OUT_OF_MEMORY: &str = "memory allocation of";

/// Walks in processes that are this program again, started with one word.
#[derive(Clone, Debug)]
pub struct SeparateProcess {
    program: PathBuf,
    word: &'static str,
}

impl SeparateProcess {
    /// `word` makes this program call [`super::run_for_server`] with the number behind
    /// `--memory-limit`.
    ///
    /// # Errors
    /// If the system does not say what program this is.
    pub fn new(word: &'static str) -> Result<Self, Diagnostic> {
        Ok(Self { program: this_program()?, word })
    }
}

/// The file of this program.
///
/// # Errors
/// If the system does not say which it is.
pub fn this_program() -> Result<PathBuf, Diagnostic> {
    // Linux has the program that runs under this name also when another was built in its place.
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe().map_err(|error| Diagnostic::ours(format!("{error}."), "this program"))
}

impl Pipeline for SeparateProcess {
    fn run(
        &self,
        errand: Errand,
        progress: &mut dyn FnMut(Progress),
        cancel: &Cancel,
    ) -> Result<Left, Diagnostic> {
        let Errand { config, dist, board, upload } = errand;
        let limits = config.pipeline;
        let mut parts = Vec::new();
        let Ok(upload) = upload.map(|part| {
            let length = part.length();
            parts.push(part);
            Ok::<_, Infallible>(length)
        });
        let start = Request::Pipeline { config, dist: dist.root().to_owned(), board, upload };
        let pieces = parts.into_iter().flat_map(|part| part.pieces().map(Request::Piece));
        // Its input stays open as long as this lives.
        let (_open, waiting) = sync_channel::<Request>(0);
        let requests = iter::once(start).chain(pieces).chain(waiting);
        let mut command = Command::new(&self.program);
        command.arg(self.word);
        let flag = cancel.flag();
        let told = |error| problem(error, &limits);
        let mut talk = Talk::begin(command, &limits, requests, &flag).map_err(told)?;
        loop {
            match talk.answer().map_err(told)? {
                Response::Progress(news) => progress(news),
                Response::Left(left) => return Ok(*left),
                Response::Failed(problem) => return Err(problem),
            }
        }
    }
}

fn problem(error: RunnerError, limits: &WorkerLimits) -> Diagnostic {
    let too_large = |error: String| {
        let what_to_do = "Give a smaller model, or use the command line, which has no such limit.";
        Diagnostic::new(Blame::TooLarge, error, "upload", what_to_do)
    };
    match error {
        RunnerError::Cancelled => Diagnostic::cancelled("The run was cancelled."),
        RunnerError::TimeLimit(wall) => {
            too_large(format!("The run took longer than the {} s that it may.", wall.as_secs()))
        }
        RunnerError::Crashed { last_words, .. } if last_words.contains(OUT_OF_MEMORY) => {
            let most = limits.memory_bytes >> 20;
            too_large(format!("The run takes more memory than the {most} MiB that it may."))
        }
        RunnerError::Crashed { status, last_words } => Diagnostic::ours(
            format!("The process of the run ended without a result ({status}): {last_words}."),
            "run",
        ),
        error => Diagnostic::ours(sentence(&error.to_string()), "run"),
    }
}
