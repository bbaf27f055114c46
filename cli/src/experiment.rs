//! What experiments have in common: how they end, and the forms in which they say what they found.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use tilewright_app::{Blame, Cancel, Diagnostic};
use tilewright_planner::Stop;
use tilewright_report::{CsvColumn, Point, Series, csv_table};

use crate::Said;
use crate::args::Out;
use crate::commands::json;
use crate::outputs::{self, Readers};

/// What planning asks whether somebody pressed Ctrl-C.
pub fn stop(cancel: &Cancel) -> Stop {
    let cancel = cancel.clone();
    Stop::when(move |_| cancel.is_cancelled())
}

/// How an experiment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All steps are done.
    Whole,
    /// Ctrl-C.
    Cancelled,
}

/// That no file is written over another one, or over one that is read.
pub fn apart(out: &Out, others: &[&Option<PathBuf>], read: &[PathBuf]) -> Result<(), Diagnostic> {
    let written = [&out.csv, &out.svg].into_iter().chain(others.iter().copied());
    outputs::apart(&written.filter_map(|file| file.as_deref()).collect::<Vec<_>>(), read)
}

/// Writes the rows where they are wanted, and says the record in the form that is wanted; what was cancelled
/// says so by its exit code.
pub fn told<T: Serialize, R>(
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
pub fn command() -> String {
    let arguments = std::env::args().skip(1);
    std::iter::once("tilewright".to_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Series of points, in the order of their names.
pub fn series(points: impl Iterator<Item = (String, Point)>) -> Vec<Series> {
    let mut all: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    for (name, point) in points {
        all.entry(name).or_default().push(point);
    }
    all.into_iter().map(|(name, points)| Series { name, points, is_joined: false }).collect()
}

/// The text of what may be missing.
pub fn some(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
