//! One job from start to end.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tilewright_protocol::{Collector, Engine, Finish, Job, Request, Response, RunOutcome, VERSION};
use tilewright_report::word;

use crate::error::RunnerError;
use crate::locate::{self, WorkerMissing};
use crate::talk::Talk;

/// Bounds of a worker process that the worker itself cannot be trusted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerLimits {
    /// Wall-clock time of the whole job.
    pub wall: Duration,
    /// Address space of the process, in bytes.
    pub memory_bytes: u64,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self { wall: Duration::from_secs(120), memory_bytes: 2 << 30 }
    }
}

/// Starts workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    worker: PathBuf,
    engine: Engine,
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
        Self { worker, engine: Engine::Unicorn }
    }

    /// The same, on another engine.
    #[must_use]
    pub fn on(self, engine: Engine) -> Self {
        Self { engine, ..self }
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
        let mut collector = Collector::new(&job);
        // The worker's input is open as long as this is.
        let (_open, nothing) = channel();
        let (mut talk, engine) = self.start(Request::Run(job), nothing, limits, cancel)?;
        loop {
            match talk.answer()? {
                Response::Finished(finish) => return Ok(collector.finish(engine, finish)),
                response => {
                    on_event(&response);
                    collector.take(response).map_err(|reason| talk.protocol(reason))?;
                }
            }
        }
    }

    /// Runs a job whose console a host has: what `host` gives is sent to the board as it comes, and what the board says
    /// goes to `on_event`. The job's frames are not looked at, and nothing is kept of what it says. A fault of the board
    /// ends it; so does `cancel`.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_with_host(
        &self,
        job: Job,
        host: Receiver<Vec<u8>>,
        limits: &WorkerLimits,
        on_event: &mut dyn FnMut(&Response),
        cancel: &AtomicBool,
    ) -> Result<Finish, RunnerError> {
        let (mut talk, _) = self.start(Request::RunWithHost(job), host, limits, cancel)?;
        loop {
            match talk.answer()? {
                Response::Finished(finish) => return Ok(finish),
                response => on_event(&response),
            }
        }
    }

    /// A worker that has begun with a job, and its engine.
    fn start<'c>(
        &self,
        job: Request,
        host: Receiver<Vec<u8>>,
        limits: &WorkerLimits,
        cancel: &'c AtomicBool,
    ) -> Result<(Talk<'c, Response>, String), RunnerError> {
        let (requests, waiting) = sync_channel::<Request>(2);
        // A worker that is gone shows in its answers.
        let _ = requests.send(Request::Hello { version: VERSION });
        let host = host.into_iter().map(Request::Console);
        let requests_of_host = waiting.into_iter().chain(host);
        let mut command = Command::new(&self.worker);
        command.args(["--engine", &word(&self.engine)]);
        let mut talk = Talk::begin(command, limits, requests_of_host, cancel)?;
        match talk.answer()? {
            Response::Hello { version: VERSION, engine } => {
                // It ends what was held back until here.
                let _ = requests.send(job);
                Ok((talk, engine))
            }
            Response::Hello { version, .. } => {
                Err(RunnerError::Version { runner: VERSION, worker: version })
            }
            _ => Err(talk.protocol("no hello".to_owned())),
        }
    }
}
