//! This computer as the application's host: built files, worker processes, the clock.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tilewright_app::{Cancel, Diagnostic, Host, Progress};
use tilewright_protocol::{Job, Response, RunOutcome};

use crate::dist::Dist;
use crate::run::WorkerLimits;
use crate::workers::Execute;

/// This computer, for one piece of work.
pub struct Native<'n> {
    tell: RefCell<&'n mut dyn FnMut(Progress)>,
    cancel: &'n Cancel,
    began: Instant,
    emulator: Option<Emulator<'n>>,
}

/// What runs images.
#[derive(Clone, Copy)]
pub struct Emulator<'n> {
    /// Where the boards' firmware lies.
    pub dist: &'n Dist,
    /// Runs jobs.
    pub executor: &'n dyn Execute,
    /// Bounds of a worker process.
    pub limits: WorkerLimits,
}

impl<'n> Native<'n> {
    /// This computer, which runs nothing; `tell` takes news.
    pub fn new(tell: &'n mut dyn FnMut(Progress), cancel: &'n Cancel) -> Self {
        Self { tell: RefCell::new(tell), cancel, began: Instant::now(), emulator: None }
    }

    /// The same with what runs images.
    #[must_use]
    pub fn with(self, emulator: Emulator<'n>) -> Self {
        Self { emulator: Some(emulator), ..self }
    }
}

impl fmt::Debug for Native<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Native").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

impl Host for Native<'_> {
    fn tell(&self, news: Progress) {
        if let Ok(mut tell) = self.tell.try_borrow_mut() {
            tell(news);
        }
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }

    fn clock(&self) -> Duration {
        self.began.elapsed()
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), Diagnostic> {
        getrandom::fill(bytes)
            .map_err(|error| Diagnostic::ours(format!("No random numbers: {error}."), "key"))
    }

    fn firmware(&self, board: &str) -> Result<Arc<Vec<u8>>, Diagnostic> {
        match &self.emulator {
            Some(emulator) => emulator.dist.firmware(board),
            None => Dist::find()?.firmware(board),
        }
    }

    fn execute(
        &self,
        job: Job,
        on_event: &mut dyn FnMut(&Response),
    ) -> Result<RunOutcome, Diagnostic> {
        match &self.emulator {
            Some(Emulator { executor, limits, .. }) => {
                executor.execute(job, limits, on_event, self.cancel)
            }
            None => Err(Diagnostic::ours("There is no emulator.", "host")),
        }
    }
}
