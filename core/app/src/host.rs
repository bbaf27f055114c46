//! What the application needs from where it runs: the command line, a server's process, or a
//! web worker. Each has a host of its own; [`Silent`] is the one that has nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tilewright_protocol::{Job, Response, RunOutcome};

use crate::progress::{Progress, Stage};
use tilewright_report::{Blame, Diagnostic};

/// Asks for the end of work; clones ask for the same work's.
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
    /// [`Diagnostic::cancelled`].
    pub fn check(&self) -> Result<(), Diagnostic> {
        match self.is_cancelled() {
            true => Err(Diagnostic::cancelled("The run was cancelled.")),
            false => Ok(()),
        }
    }
}

/// Where the application runs. It does no input and output of its own: what it needs, it asks here.
pub trait Host {
    /// Takes news.
    fn tell(&self, news: Progress);

    /// Whether somebody wants an end; long work looks often.
    fn cancel(&self) -> &Cancel;

    /// Time since some moment, for limits on interpreters: no result depends on it. A host without
    /// a clock has no such limits.
    fn clock(&self) -> Duration {
        Duration::ZERO
    }

    /// Random bytes, for the key of a sealed image.
    ///
    /// # Errors
    /// If there are none.
    fn fill_random(&self, _bytes: &mut [u8]) -> Result<(), Diagnostic> {
        Err(missing("There are no random numbers here."))
    }

    /// The firmware of a board: an ELF file.
    ///
    /// # Errors
    /// If it has not been built, or cannot be read.
    fn firmware(&self, _board: &str) -> Result<Arc<Vec<u8>>, Diagnostic> {
        Err(missing("There is no firmware here."))
    }

    /// Runs a job to its end; blocks. A fault of the emulated board is an outcome.
    ///
    /// # Errors
    /// What kept the job from an outcome: a crash, a limit, an emulator that cannot be started;
    /// [`Diagnostic::cancelled`] soon after somebody asked.
    fn execute(
        &self,
        _job: Job,
        _on_event: &mut dyn FnMut(&Response),
    ) -> Result<RunOutcome, Diagnostic> {
        Err(missing("Nothing can be run here."))
    }

    /// Tells that a part of the way begins.
    ///
    /// # Errors
    /// [`Diagnostic::cancelled`] if somebody wants an end.
    fn begin(&self, stage: Stage) -> Result<(), Diagnostic> {
        self.cancel().check()?;
        self.tell(Progress::Stage(stage));
        Ok(())
    }
}

fn missing(what: &str) -> Diagnostic {
    let what_to_do = "Use the command line, or the page of a server.";
    Diagnostic::new(Blame::NotBuilt, what, "host", what_to_do)
}

/// A host that says nothing and runs nothing.
#[derive(Clone, Debug, Default)]
pub struct Silent(pub Cancel);

impl Host for Silent {
    fn tell(&self, _: Progress) {}

    fn cancel(&self) -> &Cancel {
        &self.0
    }
}
