//! Who runs jobs: the runner that starts workers, or a stand-in for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tilewright_protocol::{Job, Response};
pub use tilewright_runner::{RunOutcome, WorkerLimits};

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
        on_event: &mut dyn FnMut(&Response),
        cancel: &Cancel,
    ) -> Result<RunOutcome, Problem>;

    /// Whether jobs can be run at all; cheap.
    ///
    /// # Errors
    /// What is missing.
    fn ready(&self) -> Result<(), Problem>;
}
