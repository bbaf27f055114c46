//! Numbered steps: which one is at work, and how long each took.

use std::time::Instant;

use anyhow::Result;

use crate::terminal;

/// How far some work is.
#[derive(Debug)]
pub struct Progress {
    what: &'static str,
    done: usize,
    all: usize,
}

impl Progress {
    /// Work that has so many steps.
    pub fn of(what: &'static str, all: usize) -> Self {
        Self { what, done: 0, all }
    }

    /// Does the next step.
    ///
    /// # Errors
    /// The step's own.
    pub fn step<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        self.done += 1;
        let head = format!("{} [{} of {}] {name}", self.what, self.done, self.all);
        terminal::note(&head);
        let start = Instant::now();
        let result = work();
        let verdict = if result.is_ok() { "done in" } else { "failed after" };
        terminal::note(&format!("{head}: {verdict} {}", terminal::elapsed(start.elapsed())));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_counts_and_gives_its_error() {
        let mut progress = Progress::of("test", 2);
        assert!(progress.step("breaks", || -> Result<()> { anyhow::bail!("broken") }).is_err());
        assert_eq!((progress.step("works", || Ok(7)).unwrap(), progress.done), (7, 2));
    }
}
