//! Running a case: plan, proof, image, run, comparison.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tilewright_app::{Blame, Cancel, Diagnostic, RunOptions, checked_plan, run_plan, unsupported};
use tilewright_runner::{self as runner, Dist, Native, WorkerLimits, Workers};

use serde::{Deserialize, Serialize};
use tilewright_board::Board;
use tilewright_check::reference::inputs_of_frames;
use tilewright_model::{Model, int8};
use tilewright_planner::Planned;
use tilewright_runtime::Pace;

use super::Case;
use crate::host;

/// Where a case runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// The board's firmware, in the emulator.
    Emulator,
    /// The firmware's runtime on this computer, with portable kernels.
    Host,
}

/// What came of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The strategy has no plan, with the reason.
    Unsupported(String),
    /// The plan does not fit, with the memory that lacks.
    DoesNotFit(String),
    /// The plan fits and no firmware runs it, with the reason.
    CannotRun(String),
    /// It ran and was bit-equal.
    Right(Way),
    /// It ran and was not, or its run faulted.
    Wrong(String),
    /// A defect that was told as such: a plan that was refuted, a panic, a run without a result.
    Ours(String),
}

/// What is known of a run that was right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// Modelled cycles of the run as a share of those that were predicted; of an emulated run.
    pub over_prediction: Option<f64>,
}

impl Verdict {
    /// Whether both fail, for reasons of one kind.
    #[must_use]
    pub const fn fails_as(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Wrong(_), Self::Wrong(_)) | (Self::Ours(_), Self::Ours(_)))
    }

    /// Whether it must never be.
    #[must_use]
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Wrong(_) | Self::Ours(_))
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported(why) => write!(f, "no plan: {why}"),
            Self::DoesNotFit(why) => write!(f, "does not fit: {why}"),
            Self::CannotRun(why) => write!(f, "cannot run: {why}"),
            Self::Right(_) => f.write_str("bit-equal"),
            Self::Wrong(what) => write!(f, "wrong: {what}"),
            Self::Ours(what) => write!(f, "defect: {what}"),
        }
    }
}

/// Longest that a run, or the comparison of one, may take.
const LONGEST: Duration = Duration::from_secs(600);

/// Where cases run.
pub struct Lab {
    dist: Dist,
    workers: Workers,
}

impl Lab {
    /// With the firmware and the worker that were built. Both engines run each case, in lock step.
    #[must_use]
    pub fn new() -> Self {
        let dist = Dist::at(crate::emulated::dist());
        let workers = Workers::new(&dist).on(tilewright_protocol::Engine::Both);
        Self { dist, workers }
    }

    /// Runs a case. A panic is a verdict too.
    #[must_use]
    pub fn run(&self, model: &Model, case: &Case, engine: Engine, cancel: &Cancel) -> Verdict {
        let run = AssertUnwindSafe(|| self.outcome(model, case, engine, cancel));
        match catch_unwind(run) {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(problem)) => Verdict::Ours(problem.to_string()),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|&s| s.to_owned()));
                Verdict::Ours(format!("panic: {}", text.unwrap_or_default()))
            }
        }
    }

    fn outcome(
        &self,
        model: &Model,
        case: &Case,
        engine: Engine,
        cancel: &Cancel,
    ) -> Result<Verdict, Diagnostic> {
        let unknown = |error| Diagnostic::ours(error, "board");
        let board = case.board().map_err(unknown)?;
        if let Some(why) = case.strategy.unsupported(model, Some(&board)) {
            return Ok(Verdict::Unsupported(why.what));
        }
        let quiet = &mut |_| {};
        let host = Native::new(quiet, cancel);
        let planned = checked_plan(model, &board, case.strategy, &case.options(), &host);
        let planned = match planned {
            Ok(planned) => planned,
            Err(Diagnostic { kind: Blame::BadInput | Blame::TooLarge, what, .. }) => {
                return Ok(Verdict::Unsupported(what));
            }
            Err(problem) => return Err(problem),
        };
        if let Some(problem) = unsupported(&planned, &board) {
            let memory = planned.report.does_not_fit.map(|reason| reason.memory);
            return Ok(match memory.filter(|_| problem.kind == Blame::DoesNotFit) {
                Some(memory) => Verdict::DoesNotFit(memory),
                None => Verdict::CannotRun(problem.what),
            });
        }
        match engine {
            Engine::Emulator => self.emulate(model, case, &board, &planned, cancel),
            Engine::Host => Ok(on_host(model, case, &planned)),
        }
    }

    fn emulate(
        &self,
        model: &Model,
        case: &Case,
        board: &Board,
        planned: &Planned,
        cancel: &Cancel,
    ) -> Result<Verdict, Diagnostic> {
        let options = case.options();
        let limits = WorkerLimits { wall: LONGEST, ..WorkerLimits::default() };
        let emulator = runner::Emulator { dist: &self.dist, executor: &self.workers, limits };
        let run = RunOptions {
            comparing: Some(LONGEST),
            integrity: options.integrity,
            ..RunOptions::of_frames(planned.plan.frames())
        };
        let inputs = case.inputs(model);
        let quiet = &mut |_| {};
        let host = Native::new(quiet, cancel).with(emulator);
        let done = run_plan(&run, board, model, planned, &inputs, &host)?;
        let result = done.result;
        if let Some(fault) = result.fault {
            return Ok(Verdict::Wrong(format!("fault: {}", fault.message)));
        }
        if let Some(found) = result.difference {
            return Ok(Verdict::Wrong(format!(
                "layer '{}', element {} of '{}': {} instead of {}; {} differ",
                found.layer,
                found.element,
                found.tensor,
                found.found,
                found.expected,
                found.differing
            )));
        }
        if result.verified != Some(true) {
            return Ok(Verdict::Ours("the run was not compared".to_owned()));
        }
        let predicted = planned.timeline.end().0;
        let over_prediction = (predicted > 0).then(|| result.cycles.0 as f64 / predicted as f64);
        Ok(Verdict::Right(Way { over_prediction }))
    }
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs a plan with the firmware's own runtime, in memories that hold garbage.
fn on_host(model: &Model, case: &Case, planned: &Planned) -> Verdict {
    let inputs = inputs_of_frames(&case.inputs(model), planned.plan.frames());
    let found = match host::run(&planned.plan, planned.model(model), &inputs, (0xa5, Pace::Early)) {
        Ok(found) => found,
        Err(error) => return Verdict::Wrong(format!("fault: {error}")),
    };
    let frames = inputs.chunks(model.inputs.len().max(1));
    let expected = frames.map(|inputs| int8::run(model, inputs, &mut |_, _| {}));
    let expected: Result<Vec<_>, _> = expected.collect();
    let expected = match expected {
        Ok(expected) => expected,
        Err(error) => return Verdict::Ours(error.to_string()),
    };
    let expected: Vec<Vec<i8>> = expected.iter().flatten().map(host::bytes).collect();
    match expected.iter().zip(&found).position(|(expected, found)| expected != found) {
        None if expected.len() == found.len() => Verdict::Right(Way { over_prediction: None }),
        None => Verdict::Ours("the run gave other outputs than the model has".to_owned()),
        Some(output) => {
            let pairs = expected[output].iter().zip(&found[output]);
            let mut differing = pairs.enumerate().filter(|(_, (a, b))| a != b);
            let first = differing.next();
            let (element, expected, found) =
                first.map_or((0, 0, 0), |(element, (a, b))| (element, *a, *b));
            Verdict::Wrong(format!(
                "output {output}, element {element}: {found} instead of {expected}; {} differ",
                1 + differing.count()
            ))
        }
    }
}
