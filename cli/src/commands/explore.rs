//! `tilewright explore`: experiments over many networks and techniques.

mod all_cores;
mod emulation;
mod exits;
mod fit;
mod genotypes;
mod operators;
mod rows;
mod scale;
mod search;
mod sweep;
mod sweep_rows;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_board::Board;
use tilewright_explore::Experiment;
use tilewright_planner::Stop;
use tilewright_report::{CsvColumn, Point, Series, csv_table};

pub(super) use all_cores::on_all_cores;

use super::json;
use crate::args::explore::{Explore, Out};
use crate::outputs::{self, Readers};
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

/// What planning asks whether somebody pressed Ctrl-C.
pub(super) fn stop(cancel: &Cancel) -> Stop {
    let cancel = cancel.clone();
    Stop::when(move |_| cancel.is_cancelled())
}

/// How an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// All steps are done.
    Whole,
    /// Ctrl-C.
    Cancelled,
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

/// That no file is written over another one, or over one that is read.
pub(super) fn apart(
    out: &Out,
    others: &[&Option<PathBuf>],
    read: &[PathBuf],
) -> Result<(), Diagnostic> {
    let written = [&out.csv, &out.svg].into_iter().chain(others.iter().copied());
    outputs::apart(&written.filter_map(|file| file.as_deref()).collect::<Vec<_>>(), read)
}

/// Writes the rows where they are wanted, and says the record in the form that is wanted; what was cancelled
/// says so by its exit code.
pub(super) fn told<T: Serialize, R>(
    out: &Out,
    end: End,
    record: &T,
    columns: &[CsvColumn<R>],
    rows: &[R],
    words: impl FnOnce(&T) -> String,
    svg: impl FnOnce(&T) -> String,
) -> Result<Said, Diagnostic> {
    if let Some(path) = &out.svg {
        outputs::write(path, Readers::All, svg(record).as_bytes())?;
    }
    if let Some(path) = &out.csv {
        outputs::write(path, Readers::All, csv_table(columns, rows).as_bytes())?;
    }
    let said = Said::well(if out.json.json { json(record)? } else { words(record) });
    Ok(match end {
        End::Whole => said,
        End::Cancelled => Said { code: Blame::Cancelled.exit_code(), ..said },
    })
}

/// The command that is running, without the folder of the program.
pub(super) fn command() -> String {
    let arguments = std::env::args().skip(1);
    std::iter::once("tilewright".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Series of points, in the order of their names.
pub(super) fn series(points: impl Iterator<Item = (String, Point)>) -> Vec<Series> {
    let mut all: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    for (name, point) in points {
        all.entry(name).or_default().push(point);
    }
    all.into_iter().map(|(name, points)| Series { name, points }).collect()
}

/// The text of what may be missing.
pub(super) fn some(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
