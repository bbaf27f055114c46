//! Int8 model → plan, proved valid → plan image.

use tilewright_board::Board;
use tilewright_check::CheckError;
use tilewright_image::Images;
use tilewright_model::Model;
use tilewright_plan::Space;
use tilewright_planner::{
    ExitError, Integrity, Options, PlanError, Planned, Planning, Stop, Strategy,
};
use tilewright_report::{PlanReport, sentence};

use crate::host::Host;
use crate::integrity::{checks, images};
use crate::plan_file::PlanFile;
use crate::progress::{Progress, Stage};
use tilewright_report::{Blame, Diagnostic};

/// Units of work between two looks at whether someone wants an end.
const SLICE: u64 = 2_000_000;

/// Plans `model` and proves the plan: of one that no firmware can run, that its tensors have room.
/// A plan that does not fit is one, but nothing is proved of it: its report says what is missing.
///
/// # Errors
/// If there is no plan whatever the memory, or somebody wants an end; a plan that fits and is found
/// wrong is our fault.
pub fn checked_plan(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    options: &Options,
    host: &dyn Host,
) -> Result<Planned, Diagnostic> {
    host.begin(Stage::Planning)?;
    let options = &stopped_by(host, options.clone());
    if let Some(recipe) = &options.recipe {
        let planned = recipe.planned(model, board, options).map_err(no_recipe)?;
        host.begin(Stage::Checking)?;
        return match check(&planned, model, board) {
            Ok(()) => Ok(planned),
            Err(error) => Err(no_recipe(error)),
        };
    }
    let mut planning = Planning::new(model, board, strategy, options).map_err(no_plan)?;
    planned_for(&mut planning, model, u64::MAX, host)?;
    proved(planning, model, board, host)
}

/// Proves a plan that fits: of one that no firmware can run, that its tensors have room.
fn check(planned: &Planned, model: &Model, board: &Board) -> Result<(), CheckError> {
    let model = planned.model(model);
    match planned.report {
        PlanReport { fits: false, .. } => Ok(()),
        PlanReport { runnable: true, .. } => {
            tilewright_check::check(&planned.plan, model, board).map(drop)
        }
        _ => tilewright_check::check_memory(&planned.plan, model, board).map(drop),
    }
}

/// Proves a plan that fits.
///
/// # Errors
/// A plan that is found wrong is our fault.
pub fn prove(planned: &Planned, model: &Model, board: &Board) -> Result<(), Diagnostic> {
    check(planned, model, board)
        .map_err(|error| Diagnostic::ours(sentence(&error.to_string()), "check of the plan"))
}

/// The problem of a recipe that makes no plan, or a wrong one.
pub fn no_recipe(error: impl std::fmt::Display) -> Diagnostic {
    let text = sentence(&error.to_string());
    let what_to_do = "Mend the recipe, or write it anew with --write-recipe.";
    Diagnostic::new(Blame::BadInput, text, "--recipe", what_to_do)
}

/// The options with an end to long work once somebody wants it.
pub fn stopped_by(host: &dyn Host, options: Options) -> Options {
    let cancel = host.cancel().clone();
    Options { stop: Stop::when(move |_| cancel.is_cancelled()), ..options }
}

/// Plans on for `units` of work at most; whether that was enough.
///
/// # Errors
/// As [`checked_plan`].
pub fn planned_for(
    planning: &mut Planning,
    model: &Model,
    units: u64,
    host: &dyn Host,
) -> Result<bool, Diagnostic> {
    loop {
        host.cancel().check()?;
        if planning.advance(model, SLICE).map_err(no_plan)? {
            return Ok(true);
        }
        if planning.spent() >= units {
            return Ok(false);
        }
        let tilewright_planner::Progress { arena, bound, ways } = planning.progress();
        host.tell(Progress::Planning { arena, bound, ways });
    }
}

/// The best plan that was found, proved if it fits.
///
/// # Errors
/// As [`checked_plan`].
pub fn proved(
    planning: Planning,
    model: &Model,
    board: &Board,
    host: &dyn Host,
) -> Result<Planned, Diagnostic> {
    let planned = planning.finish(model).map_err(no_plan)?;
    if planned.report.fits {
        host.begin(Stage::Checking)?;
        prove(&planned, model, board)?;
    }
    Ok(planned)
}

/// The problem of a plan that cannot run on its board; nothing if it can.
#[must_use]
pub fn unsupported(planned: &Planned, board: &Board) -> Option<Diagnostic> {
    let report = &planned.report;
    let mut problem = Diagnostic::unsupported(planned.unsupported(board)?);
    if report.no_program().is_none() && !report.fits {
        problem.kind = Blame::DoesNotFit;
        if report.does_not_fit.as_ref().is_some_and(|reason| reason.remedies.is_empty()) {
            problem.what_to_do.push_str(" `tilewright plan` tries what would help.");
        }
    }
    Some(problem)
}

/// Whether a strategy merely does not suit the model, so that another may.
#[must_use]
pub const fn is_unsuited(problem: &Diagnostic) -> bool {
    matches!(problem.kind, Blame::BadInput | Blame::TooLarge)
}

/// Why what was begun comes to no plan.
#[must_use]
pub fn no_plan(error: PlanError) -> Diagnostic {
    let text = sentence(&error.to_string());
    match error {
        PlanError::Unsupported(why) => Diagnostic::unsupported(why),
        PlanError::Arena(_) => Diagnostic::new(
            Blame::TooLarge,
            text,
            "the tensor arena",
            "Export the model with a smaller input.",
        ),
        PlanError::UnknownStrategy { .. } => {
            Diagnostic::new(Blame::BadInput, text, "--strategy", "Choose one of them.")
        }
        PlanError::Buffer { .. } => {
            Diagnostic::new(Blame::TooLarge, text, "--buffer", "Give larger buffers, or more SRAM.")
        }
        PlanError::Exits(error) => {
            let what_to_do = match error {
                ExitError::States => "Leave exits out for this model.",
                ExitError::OneOutput => {
                    "Give a model with an output at each exit, or leave exits out."
                }
                ExitError::Frames(_) => "Plan one frame, or leave out the confidence.",
                ExitError::NoConfidence(_) | ExitError::TooCertain { .. } => {
                    "Give a smaller confidence."
                }
                ExitError::NoProbabilities { .. } => {
                    "Put a softmax behind each exit, or choose exits by latency alone."
                }
            };
            Diagnostic::new(Blame::BadInput, text, "exits", what_to_do)
        }
        PlanError::Stopped => Diagnostic::cancelled("The planning was cancelled."),
        PlanError::Integer { .. } | PlanError::Order(_) => Diagnostic::ours(text, "planner"),
    }
}

/// The image of a plan that fits. One that is sealed has another key each time.
///
/// # Errors
/// [`Blame::BadInput`] if operators have no kernel, [`Blame::DoesNotFit`] if it does not fit; else a
/// plan without image is our fault.
pub fn plan_file(
    planned: &Planned,
    model: &Model,
    board: &Board,
    integrity: Integrity,
    host: &dyn Host,
) -> Result<PlanFile, Diagnostic> {
    if let Some(problem) = unsupported(planned, board) {
        return Err(problem);
    }
    if integrity != Integrity::Trusted {
        checks(planned, board)?;
    }
    let Images { plan: image, mut stores } = images(planned, model, integrity, host)?;
    let file = PlanFile::read(&image, board)
        .map_err(|problem| Diagnostic::ours(problem.what, problem.place))?;
    let mut store = |space| {
        let found = stores.iter_mut().find(|(there, _)| *there == space);
        found.map_or_else(Vec::new, |(_, bytes)| std::mem::take(bytes))
    };
    Ok(file.with_stores(store(Space::ExternalFlash), store(Space::Card)))
}
