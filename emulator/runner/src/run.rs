//! One job from start to end.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tilewright_protocol::{Job, Request, Response, VERSION};

use crate::error::RunnerError;
use crate::locate::{self, WorkerMissing};
use crate::outcome::{Collector, RunOutcome};
use crate::talk::Talk;

/// Bounds of a worker process that the worker itself cannot be trusted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        let (requests, waiting) = sync_channel::<Request>(2);
        let mut talk = Talk::begin(Command::new(&self.worker), limits, waiting, cancel)?;
        // A worker that is gone shows in its answers.
        let _ = requests.send(Request::Hello { version: VERSION });
        let engine = match talk.answer()? {
            Response::Hello { version: VERSION, engine } => engine,
            Response::Hello { version, .. } => {
                return Err(RunnerError::Version { runner: VERSION, worker: version });
            }
            _ => return Err(talk.protocol("no hello".to_owned())),
        };
        let mut collector = Collector::new(engine, &job);
        let _ = requests.send(Request::Run(job));
        loop {
            let response = talk.answer()?;
            collector.take(&response).map_err(|reason| talk.protocol(reason))?;
            match response {
                Response::Finished(finish) => return Ok(collector.finish(finish)),
                response => on_event(&response),
            }
        }
    }
}
