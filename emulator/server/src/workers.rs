//! Jobs run by worker processes.

use std::env;
use tilewright_report::sentence;

use tilewright_protocol::{Job, Response};
use tilewright_runner::{RunOutcome, Runner, RunnerError, WorkerLimits};

use crate::dist::Dist;
use crate::execute::{Cancel, Execute};
use crate::problem::{Blame, Problem};

/// Names the worker program, wherever the other built things are.
const VARIABLE: &str = "TILEWRIGHT_WORKER";

/// Runs each job in a worker process of its own. The program is looked for anew each time, so
/// that it can be built while a server runs.
#[derive(Debug)]
pub struct Workers {
    dist: Dist,
}

impl Workers {
    /// With the worker of these built things.
    #[must_use]
    pub fn new(dist: &Dist) -> Self {
        Self { dist: dist.clone() }
    }

    fn runner(&self) -> Result<Runner, Problem> {
        if env::var_os(VARIABLE).is_some() {
            return Runner::find().map_err(|error| {
                Problem::new(
                    Blame::NotBuilt,
                    sentence(&error.to_string()),
                    VARIABLE,
                    "Correct the variable, or unset it.",
                )
            });
        }
        self.dist.worker().map(Runner::new)
    }
}

impl Execute for Workers {
    fn execute(
        &self,
        job: Job,
        limits: &WorkerLimits,
        on_event: &mut dyn FnMut(&Response),
        cancel: &Cancel,
    ) -> Result<RunOutcome, Problem> {
        let outcome = self.runner()?.run(job, limits, on_event, &cancel.flag());
        // Ctrl-C in a terminal reaches the worker as well, and may end it first.
        cancel.check()?;
        outcome.map_err(no_outcome)
    }

    fn ready(&self) -> Result<(), Problem> {
        self.runner().map(drop)
    }
}

fn no_outcome(error: RunnerError) -> Problem {
    let text = sentence(&error.to_string());
    match error {
        RunnerError::Start { path, .. } => Problem::new(
            Blame::NotBuilt,
            text,
            path.display().to_string(),
            "Run `cargo xtask build` again.",
        ),
        RunnerError::Version { .. } => {
            Problem::new(Blame::NotBuilt, text, "worker", "Run `cargo xtask build` again.")
        }
        RunnerError::TimeLimit(_) => Problem::new(
            Blame::Fault,
            text,
            "worker",
            "A smaller model runs faster; the console shows how far this one came.",
        ),
        RunnerError::Cancelled => Problem::cancelled(text),
        RunnerError::Refused(_) | RunnerError::Crashed { .. } | RunnerError::Protocol { .. } => {
            Problem::ours(text, "worker")
        }
    }
}
