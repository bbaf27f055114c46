//! `tilewright explore`: experiments over many networks and techniques.

mod emulation;
mod exits;
mod fit;
mod genotypes;
mod operators;
mod rows;
mod scale;
mod search;
mod sweep;
mod sweep_queue;
mod sweep_rows;

use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_board::Board;
use tilewright_explore::Experiment;

use crate::args::explore::Explore;
use crate::experiment::End;
use crate::{Said, load, progress};

/// Runs an experiment.
pub fn explore(options: &Explore) -> Result<Said, Diagnostic> {
    match options {
        Explore::Exits(options) => exits::exits(options),
        Explore::Fit(options) => fit::fit(options),
        Explore::Genotypes(options) => genotypes::genotypes(options),
        Explore::Operators(options) => operators::operators(options),
        Explore::Scale(options) => scale::scale(options),
        Explore::Search(options) => search::search(options),
        Explore::Sweep(options) => sweep::sweep(options),
    }
}

/// Takes all steps, until somebody cancels.
fn take_steps(
    experiment: &mut dyn Experiment,
    cancel: &Cancel,
    board: &str,
) -> Result<End, Diagnostic> {
    let mut teller = progress::Teller::new();
    loop {
        if cancel.is_cancelled() {
            return Ok(End::Cancelled);
        }
        match experiment.advance() {
            Ok(true) => {}
            Ok(false) => return Ok(End::Whole),
            // Planning was stopped.
            Err(_) if cancel.is_cancelled() => return Ok(End::Cancelled),
            Err(error) => {
                let (what, what_to_do) = (format!("{error}."), "Choose another board.");
                return Err(Diagnostic::new(Blame::BadInput, what, board, what_to_do));
            }
        }
        let last = experiment.last().unwrap_or_default();
        teller.tell_step(experiment.done(), experiment.steps(), &last);
    }
}

/// The boards of these names.
fn boards(names: &[String]) -> Result<Vec<Board>, Diagnostic> {
    names.iter().map(|name| load::board_of(name)).collect()
}
