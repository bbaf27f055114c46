//! One job from start to end.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tilewright_protocol::{FrameError, Job, Request, Response, VERSION};

use crate::error::RunnerError;
use crate::locate::{self, WorkerMissing};
use crate::outcome::{Collector, RunOutcome};
use crate::process::Process;

/// How often cancelling and the time limit are looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Exit code of a worker that refuses a job and says why.
const REFUSED: i32 = 2;

/// Bounds of a worker process that the worker itself cannot be trusted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Wall-clock time of the whole job.
    pub wall: Duration,
    /// Address space of the process, in bytes.
    pub memory_bytes: u64,
}

/// Starts workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    worker: PathBuf,
}

impl Runner {
    /// With the worker that is installed: what `TILEWRIGHT_WORKER` names, else beside this
    /// executable, else in `dist/bin` of the current folder or above the executable.
    ///
    /// # Errors
    /// [`WorkerMissing`] says where it was looked for and what to do.
    pub fn find() -> Result<Self, WorkerMissing> {
        locate::find().map(Self::new)
    }

    /// With the worker at a path.
    #[must_use]
    pub const fn new(worker: PathBuf) -> Self {
        Self { worker }
    }

    /// The worker's path.
    #[must_use]
    pub fn worker(&self) -> &Path {
        &self.worker
    }

    /// Runs a job to its end; blocks. Every message of the worker but the first and the last
    /// goes to `on_event` as it comes. `cancel` ends the job within a few hundredths of a second.
    ///
    /// # Errors
    /// [`RunnerError`] says what kept the job from an outcome. The worker is gone in any case.
    pub fn run(
        &self,
        job: Job,
        limits: &WorkerLimits,
        on_event: &mut dyn FnMut(&Response),
        cancel: &AtomicBool,
    ) -> Result<RunOutcome, RunnerError> {
        let until = Instant::now().checked_add(limits.wall);
        let start = |reason| RunnerError::Start { path: self.worker.clone(), reason };
        let mut process = Process::start(&self.worker, limits.memory_bytes).map_err(start)?;
        process.send(Request::Hello { version: VERSION });
        let mut talk = Talk { process: &mut process, limits, until, cancel };
        let engine = match talk.next()? {
            Response::Hello { version: VERSION, engine } => engine,
            Response::Hello { version, .. } => {
                return Err(RunnerError::Version { runner: VERSION, worker: version });
            }
            _ => return Err(talk.protocol("no hello".to_owned())),
        };
        let mut collector = Collector::new(engine, &job);
        talk.process.send(Request::Run(job));
        loop {
            let response = talk.next()?;
            collector.take(&response).map_err(|reason| talk.protocol(reason))?;
            match response {
                Response::Finished(finish) => return Ok(collector.finish(finish)),
                response => on_event(&response),
            }
        }
    }
}

struct Talk<'a> {
    process: &'a mut Process,
    limits: &'a WorkerLimits,
    until: Option<Instant>,
    cancel: &'a AtomicBool,
}

impl Talk<'_> {
    fn next(&mut self) -> Result<Response, RunnerError> {
        loop {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(RunnerError::Cancelled);
            }
            if self.until.is_some_and(|until| Instant::now() >= until) {
                return Err(RunnerError::TimeLimit(self.limits.wall));
            }
            match self.process.receive(LOOK) {
                None => {}
                Some(Ok(response)) => return Ok(response),
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
            Some(status) => describe(status, self.limits),
            None => "it closed its output and ran on".to_owned(),
        };
        RunnerError::Crashed { status, last_words }
    }

    fn protocol(&mut self, reason: String) -> RunnerError {
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
