//! What fits a small board, for many networks and techniques.

use tilewright_explore::{Experiment, FIT_BOARD, Fit};
use tilewright_report::{FitReport, sentence};

use crate::message::trouble;
use tilewright_report::Diagnostic;

/// Runs the experiment.
///
/// # Errors
/// If a network cannot be planned.
pub fn fit(say: &dyn Fn(&str)) -> Result<FitReport, Diagnostic> {
    let failed = |error: &dyn std::fmt::Display| {
        trouble(
            "The experiment did not end",
            sentence(&error.to_string()),
            "Reload the page and try again.",
        )
    };
    let board = tilewright_board::find(FIT_BOARD).map_err(|error| failed(&error))?;
    let mut experiment = Fit::new(&board);
    while experiment.advance().map_err(|error| failed(&error))? {
        if let Some(last) = experiment.last() {
            say(&format!("{} of {}: {last}", experiment.done(), experiment.steps()));
        }
    }
    Ok(experiment.report())
}
