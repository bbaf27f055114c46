//! Who runs jobs: the runner that starts workers, or a stand-in for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tilewright_protocol::{Finish, Job, StepCount};

use crate::problem::Problem;

/// Asks for the end of a run; clones ask for the same run's.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether someone has asked.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for signal handlers.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// An error if someone has asked.
    ///
    /// # Errors
    /// [`Problem::cancelled`].
    pub fn check(&self) -> Result<(), Problem> {
        if self.is_cancelled() { Err(Problem::cancelled("The run was cancelled.")) } else { Ok(()) }
    }
}

/// Bounds of a worker process that the worker itself cannot be trusted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerLimits {
    /// Wall-clock time of the whole job.
    pub wall: Duration,
    /// Address space of the process, in bytes.
    pub memory_bytes: u64,
}

/// What happens while a job runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Executed instructions so far, and the step of the core lane if an invoke is under way.
    Progress {
        /// Instructions.
        instructions: u64,
        /// Step.
        step: Option<u32>,
    },
    /// Bytes that the board wrote to its console.
    Console(Vec<u8>),
    /// A step of the last frame ended.
    Step(StepCount),
}

/// What a job left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What emulated: name and version.
    pub engine: String,
    /// How it ended.
    pub finish: Finish,
    /// Steps of the last frame, in order of their ends.
    pub steps: Vec<StepCount>,
    /// Bytes of each of the job's watches; nothing where the step never ended.
    pub watched: Vec<Option<Vec<u8>>>,
    /// What the board wrote to its console.
    pub console: Vec<u8>,
}

/// Runs jobs, each in a worker process of its own, and leaves none behind.
pub trait Execute: Send + Sync + 'static {
    /// Runs a job to its end; blocks. A fault of the emulated board is an outcome; a crash, an
    /// overrun of `limits` or a worker that cannot be started is a problem.
    ///
    /// # Errors
    /// What kept the job from an outcome; [`Problem::cancelled`] soon after `cancel` was asked.
    fn execute(
        &self,
        job: Job,
        limits: &WorkerLimits,
        on_event: &mut dyn FnMut(Event),
        cancel: &Cancel,
    ) -> Result<Outcome, Problem>;

    /// Whether jobs can be run at all; cheap.
    ///
    /// # Errors
    /// What is missing.
    fn ready(&self) -> Result<(), Problem>;

    /// What emulates, name and version; nothing until that is known.
    fn engine(&self) -> Option<String>;
}
