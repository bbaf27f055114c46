//! Named steps of a long check. A failing step does not hide the results of the others.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::summary::Summary;
use crate::terminal;

/// Steps that have run.
#[derive(Debug)]
pub struct Steps {
    done: Vec<Step>,
    say: fn(&str),
}

#[derive(Debug)]
struct Step {
    name: String,
    summary: Summary,
    time: Duration,
}

impl Steps {
    /// No step yet; reports to the terminal.
    pub fn new() -> Self {
        Self { done: Vec::new(), say: terminal::line }
    }

    /// Runs a step that holds several tests. An error is shown and counts as one failure.
    pub fn tests(&mut self, name: &str, run: impl FnOnce() -> Result<Summary>) {
        (self.say)(&format!("\n==> {name}"));
        let start = Instant::now();
        let summary = run().unwrap_or_else(|error| {
            (self.say)(&format!("error: {error:#}"));
            Summary::one(false)
        });
        let step = Step { name: name.to_owned(), summary, time: start.elapsed() };
        (self.say)(&step.line());
        self.done.push(step);
    }

    /// Runs a step that passes or fails as a whole, and counts as one test.
    pub fn check(&mut self, name: &str, run: impl FnOnce() -> Result<bool>) {
        self.tests(name, || Ok(Summary::one(run()?)));
    }

    /// As [`Steps::check`], for what has no answer but its success.
    pub fn work(&mut self, name: &str, run: impl FnOnce() -> Result<()>) {
        self.check(name, || run().map(|()| true));
    }

    /// Prints every step, then the sum alone on the last line. Whether all passed.
    pub fn finish(self) -> bool {
        let mut sum = Summary::default();
        let mut time = Duration::ZERO;
        (self.say)("");
        for step in &self.done {
            (self.say)(&step.line());
            sum += step.summary;
            time += step.time;
        }
        (self.say)(&format!("all steps took {}", terminal::elapsed(time)));
        (self.say)(&sum.to_string());
        sum.failed == 0
    }
}

impl Step {
    fn line(&self) -> String {
        let verdict = match self.summary {
            Summary { passed: 0, failed: 0 } => "NONE  ",
            Summary { failed: 0, .. } => "ok    ",
            Summary { .. } => "FAILED",
        };
        let time = terminal::elapsed(self.time);
        format!("{verdict} {:<34} {time:>10}  {}", self.name, self.summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent() -> Steps {
        Steps { done: Vec::new(), say: |_| () }
    }

    #[test]
    fn one_failure_fails_the_whole_but_hides_nothing() {
        let mut steps = silent();
        steps.work("breaks", || anyhow::bail!("broken"));
        steps.check("is false", || Ok(false));
        steps.tests("tests", || Ok(Summary { passed: 3, failed: 0 }));
        let failed: Vec<_> = steps.done.iter().map(|step| step.summary.failed).collect();
        assert_eq!(failed, [1, 1, 0]);
        assert!(steps.done[0].line().starts_with("FAILED breaks"));
        assert!(!steps.finish());
    }

    #[test]
    fn a_step_that_checked_nothing_is_not_called_good() {
        let mut steps = silent();
        steps.tests("nothing", || Ok(Summary::default()));
        assert!(steps.done[0].line().starts_with("NONE   nothing"));
        assert!(steps.finish());
    }

    #[test]
    fn all_passing_steps_pass() {
        let mut steps = silent();
        steps.check("good", || Ok(true));
        assert!(steps.finish());
    }
}
