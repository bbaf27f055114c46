//! What is said with a process, within its limits.

use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tilewright_protocol::FrameError;

use crate::error::RunnerError;
use crate::process::Process;
use crate::run::WorkerLimits;

/// How often cancelling and the time limit are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Exit code of a worker that refuses a job and says why.
const REFUSED: i32 = 2;

/// A talk with a process that answers in messages `A`. The process is gone when this is.
pub struct Talk<'c, A> {
    process: Process<A>,
    limits: WorkerLimits,
    until: Option<Instant>,
    cancel: &'c AtomicBool,
}

impl<'c, A: DeserializeOwned + Send + 'static> Talk<'c, A> {
    /// Starts a process, which is told its memory as `--memory-limit BYTES`, and sends it all requests.
    /// It has until the end of `limits`; its input is open until there are no more requests.
    ///
    /// # Errors
    /// [`RunnerError::Start`].
    pub fn begin<Q: Serialize>(
        mut command: Command,
        limits: &WorkerLimits,
        requests: impl IntoIterator<Item = Q> + Send + 'static,
        cancel: &'c AtomicBool,
    ) -> Result<Self, RunnerError> {
        let until = Instant::now().checked_add(limits.wall);
        command.args(["--memory-limit", &limits.memory_bytes.to_string()]);
        let path = PathBuf::from(command.get_program());
        let process = Process::start(command, requests)
            .map_err(|reason| RunnerError::Start { path, reason })?;
        Ok(Self { process, limits: *limits, until, cancel })
    }

    /// The next message.
    ///
    /// # Errors
    /// [`RunnerError`] says why there is none.
    pub fn answer(&mut self) -> Result<A, RunnerError> {
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(RunnerError::Cancelled);
            }
            if self.until.is_some_and(|until| Instant::now() >= until) {
                return Err(RunnerError::TimeLimit(self.limits.wall));
            }
            match self.process.receive(LOOK) {
                None => {}
                Some(Ok(answer)) => return Ok(answer),
                Some(Err(FrameError::Closed | FrameError::Io(_))) => return Err(self.ended()),
                Some(Err(error)) => return Err(self.protocol(error.to_string())),
            }
        }
    }

    fn ended(&mut self) -> RunnerError {
        let (status, last_words) = self.process.end();
        if status.and_then(|status| status.code()) == Some(REFUSED) {
            return RunnerError::Refused(last_words);
        }
        let status = match status {
            Some(status) => describe(status, &self.limits),
            None => "it closed its output and ran on".to_owned(),
        };
        RunnerError::Crashed { status, last_words }
    }

    /// The end of a talk in which the process said what is not due.
    pub fn protocol(&mut self, reason: String) -> RunnerError {
        RunnerError::Protocol { reason, last_words: self.process.last_words() }
    }
}

fn describe(status: ExitStatus, limits: &WorkerLimits) -> String {
    if status.code().is_some() {
        return status.to_string();
    }
    // A failed allocation ends in a signal; the limit is the likely cause.
    format!("{status}; its memory limit is {} MiB", limits.memory_bytes >> 20)
}
