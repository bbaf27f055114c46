//! `tilewright allocate`: the solver for offsets alone.

use std::fmt::Write;
use std::time::Instant;

use serde::Serialize;
use tilewright_allocate::csv::{self, Table};
use tilewright_allocate::{Answer, Goal, Progress, Search, Solution, Stop, Witness};
use tilewright_app::{Blame, Diagnostic};

use super::{UNDECIDED, json};
use crate::args::Allocate;
use crate::outputs::{self, Readers};
use crate::text::{bytes, number};
use crate::{Said, files, interrupt};

/// Largest file that is read.
const FILE_LIMIT: u64 = 256 << 20;

/// Units of work between two looks at whether someone wants an end.
const SLICE: u64 = 1_000_000;

/// The answer that no placement is low enough.
const INFEASIBLE: &str = "infeasible";

#[derive(Debug, Serialize)]
struct Report {
    answer: &'static str,
    buffers: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    capacity_bytes: Option<u64>,
    height_bytes: Option<u64>,
    lower_bound_bytes: u64,
    proved: bool,
    ms: f64,
    units: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<Reason>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Reason {
    LiveBytes { time: u64, bytes: u64, ids: Vec<String> },
    Forced { bytes: u64 },
    SearchExhausted { units: u64 },
}

/// Places the buffers of a file.
pub fn allocate(options: &Allocate) -> Result<Said, Diagnostic> {
    let place = options.file.display().to_string();
    let wrong = |error: String| {
        let help = "The first line names the columns: id,lower,upper,size; each other a buffer.";
        Diagnostic::new(Blame::BadInput, error, place.clone(), help)
    };
    if let Some(output) = &options.output {
        outputs::apart(&[output], std::slice::from_ref(&options.file))?;
    }
    let text = String::from_utf8(files::read(&options.file, "file", FILE_LIMIT)?)
        .map_err(|_| wrong("The file is no UTF-8 text.".to_owned()))?;
    let table = csv::read(&text).map_err(|error| wrong(format!("{error}.")))?;
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let goal = options.capacity.map_or(Goal::Least, Goal::Fit);

    let start = Instant::now();
    let mut search = Search::new(table.buffers.clone(), goal)
        .map_err(|error| wrong(format!("The buffers make no problem: {error}.")))?;
    let mut stop = Stop::Spent;
    while search.units() < options.budget {
        let slice = SLICE.min(options.budget - search.units());
        if search.advance(slice) == Progress::Done {
            break;
        }
        if cancel.is_cancelled() {
            stop = Stop::Cancelled;
            break;
        }
    }
    let ms = start.elapsed().as_secs_f64() * 1e3;

    let (units, bound) = (search.units(), search.lower_bound().0);
    let answer = search.answer(stop);
    let (report, solution) = report(options, &table, answer, units, bound, ms);
    if let Some(solution) = &solution {
        tilewright_allocate::validate(&table.buffers, solution, None).map_err(|fault| {
            Diagnostic::ours(format!("The placement found is wrong: {fault}."), place.clone())
        })?;
    }
    if let (Some(path), Some(solution)) = (&options.output, &solution) {
        outputs::write(path, Readers::All, csv::write(&table, Some(solution)).as_bytes())?;
    }
    let fits = match (report.height_bytes, options.capacity) {
        (Some(height), Some(capacity)) => height <= capacity.0,
        (height, None) => height.is_some(),
        (None, Some(_)) => false,
    };
    let code = match stop {
        Stop::Cancelled => Blame::Cancelled.exit_code(),
        Stop::Spent if fits => 0,
        Stop::Spent if report.answer == INFEASIBLE => Blame::DoesNotFit.exit_code(),
        Stop::Spent => UNDECIDED,
    };
    Ok(Said { text: shown(options, &report)?, code })
}

fn report(
    options: &Allocate,
    table: &Table,
    answer: Answer,
    units: u64,
    lower_bound_bytes: u64,
    ms: f64,
) -> (Report, Option<Solution>) {
    let (word, solution, witness) = match answer {
        Answer::Solved { solution, .. } => ("solved", Some(solution), None),
        Answer::Infeasible(witness) => (INFEASIBLE, None, Some(witness)),
        Answer::Spent { best, .. } => ("budget_spent", best, None),
        Answer::Cancelled { best, .. } => ("cancelled", best, None),
    };
    let name = |index: &usize| table.ids.get(*index).cloned().unwrap_or_default();
    let witness = witness.map(|witness| match witness {
        Witness::Live { time, bytes, buffers } => {
            Reason::LiveBytes { time, bytes: bytes.0, ids: buffers.iter().map(name).collect() }
        }
        Witness::Forced { bytes } => Reason::Forced { bytes: bytes.0 },
        Witness::Exhausted { units } => Reason::SearchExhausted { units },
    });
    let height = solution.as_ref().map(|solution| solution.height.0);
    let report = Report {
        answer: word,
        buffers: table.buffers.len(),
        capacity_bytes: options.capacity.map(|capacity| capacity.0),
        height_bytes: height,
        lower_bound_bytes,
        proved: witness.is_some() || height == Some(lower_bound_bytes),
        ms: (ms * 1e3).round() / 1e3,
        units,
        witness,
    };
    (report, solution)
}

fn shown(options: &Allocate, report: &Report) -> Result<String, Diagnostic> {
    if options.json.json {
        return json(report);
    }
    let mut text = String::new();
    let bound = bytes(report.lower_bound_bytes);
    let head = match (report.answer, report.height_bytes) {
        (INFEASIBLE, _) => "no placement is that low: proved".to_owned(),
        (_, Some(height)) if report.proved => format!("{}: proved least", bytes(height)),
        (_, Some(height)) => format!(
            "{}: at most {} above the least, which is {bound} or more",
            bytes(height),
            bytes(height - report.lower_bound_bytes)
        ),
        _ => format!("no placement found; the least height is {bound} or more"),
    };
    let _ = writeln!(text, "{} buffers, {head}", number(report.buffers as u64));
    let _ = match &report.witness {
        Some(Reason::LiveBytes { time, bytes: live, ids }) => {
            writeln!(text, "at time {time} {} are live: buffers {}", bytes(*live), ids.join(", "))
        }
        Some(Reason::Forced { bytes: forced }) => {
            writeln!(text, "offsets and alignments asked for need {}", bytes(*forced))
        }
        Some(Reason::SearchExhausted { .. }) => writeln!(text, "every placement was excluded"),
        None => Ok(()),
    };
    let ended = match report.answer {
        "budget_spent" => ", the whole budget: give more with --budget",
        "cancelled" => ", then cancelled",
        _ => "",
    };
    let _ = writeln!(text, "{:.1} ms, {} units of work{ended}", report.ms, number(report.units));
    Ok(text)
}
