//! Jobs run by worker processes.

use std::env;
use std::path::PathBuf;
use tilewright_report::sentence;

use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_protocol::{Engine, Job, Response, RunOutcome};

use crate::dist::Dist;
use crate::error::RunnerError;
use crate::run::{Runner, WorkerLimits};

/// Names the worker program, wherever the other built things are.
const VARIABLE: &str = "TILEWRIGHT_WORKER";

/// Runs jobs, each in a worker process of its own, and leaves none behind. Tests have a stand-in.
pub trait Execute: Send + Sync + 'static {
    /// Runs a job to its end; blocks. A fault of the emulated board is an outcome; a crash, an
    /// overrun of `limits` or a worker that cannot be started is a problem.
    ///
    /// # Errors
    /// What kept the job from an outcome; [`Diagnostic::cancelled`] soon after `cancel` was asked.
    fn execute(
        &self,
        job: Job,
        limits: &WorkerLimits,
        on_event: &mut dyn FnMut(&Response),
        cancel: &Cancel,
    ) -> Result<RunOutcome, Diagnostic>;

    /// Whether jobs can be run at all; cheap.
    ///
    /// # Errors
    /// What is missing.
    fn ready(&self) -> Result<(), Diagnostic>;
}

/// Runs each job in a worker process of its own. The program is looked for anew each time, so
/// that it can be built while a server runs.
#[derive(Debug)]
pub struct Workers {
    dist: Dist,
    engine: Engine,
}

impl Workers {
    /// With the worker of these built things.
    #[must_use]
    pub fn new(dist: &Dist) -> Self {
        Self { dist: dist.clone(), engine: Engine::Unicorn }
    }

    /// The same, on another engine.
    #[must_use]
    pub fn on(self, engine: Engine) -> Self {
        Self { engine, ..self }
    }

    /// The program that a job would run in now, if there is one.
    #[must_use]
    pub fn program(dist: &Dist) -> Option<PathBuf> {
        env::var_os(VARIABLE).map(PathBuf::from).or_else(|| dist.worker().ok())
    }

    fn runner(&self) -> Result<Runner, Diagnostic> {
        if env::var_os(VARIABLE).is_some() {
            return Runner::find().map(|runner| runner.on(self.engine)).map_err(|error| {
                Diagnostic::new(
                    Blame::NotBuilt,
                    sentence(&error.to_string()),
                    VARIABLE,
                    "Correct the variable, or unset it.",
                )
            });
        }
        self.dist.worker().map(|worker| Runner::new(worker).on(self.engine))
    }
}

impl Execute for Workers {
    fn execute(
        &self,
        job: Job,
        limits: &WorkerLimits,
        on_event: &mut dyn FnMut(&Response),
        cancel: &Cancel,
    ) -> Result<RunOutcome, Diagnostic> {
        let outcome = self.runner()?.run(job, limits, on_event, &cancel.flag());
        // Ctrl-C in a terminal reaches the worker as well, and may end it first.
        cancel.check()?;
        outcome.map_err(no_outcome)
    }

    fn ready(&self) -> Result<(), Diagnostic> {
        self.runner().map(drop)
    }
}

fn no_outcome(error: RunnerError) -> Diagnostic {
    let text = sentence(&error.to_string());
    match error {
        RunnerError::Start { path, .. } => Diagnostic::new(
            Blame::NotBuilt,
            text,
            path.display().to_string(),
            "Run `cargo xtask build` again.",
        ),
        RunnerError::Version { .. } => {
            Diagnostic::new(Blame::NotBuilt, text, "worker", "Run `cargo xtask build` again.")
        }
        RunnerError::TimeLimit(_) => Diagnostic::new(
            Blame::Fault,
            text,
            "worker",
            "A smaller model runs faster; the console shows how far this one came.",
        ),
        RunnerError::Cancelled => Diagnostic::cancelled(text),
        RunnerError::Refused(_) | RunnerError::Crashed { .. } | RunnerError::Protocol { .. } => {
            Diagnostic::ours(text, "worker")
        }
    }
}
