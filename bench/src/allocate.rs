//! The allocator on files in MiniMalloc's format, named `<name>.<bytes>.csv`: the time to place
//! their buffers in those bytes, then the least height that a budget finds.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use tilewright_allocate::csv::{self, Table};
use tilewright_allocate::{Answer, Goal, solve, validate};
use tilewright_plan::Bytes;

use crate::figures::{Goal as Limit, Measured};

/// Units of work for a placement in the bytes that a file's name gives.
const FIT_BUDGET: u64 = 1_000_000_000;

/// Units of work for the least height.
const LEAST_BUDGET: u64 = 3_000_000_000;

/// Milliseconds that MiniMalloc took for its own hard instances at 1,048,576 bytes, single
/// thread, on the two-core machine of docs/results.md.
const MINIMALLOC: [(&str, f64); 11] = [
    ("A", 3710.0),
    ("B", 2770.0),
    ("C", 510.0),
    ("D", 2340.0),
    ("E", 3530.0),
    ("F", 4350.0),
    ("G", 960.0),
    ("H", 1290.0),
    ("I", 2850.0),
    ("J", 780.0),
    ("K", 550.0),
];

/// Lowest heights known of them that are not the largest sum of live bytes.
const KNOWN: [(&str, u64); 2] = [("D", 1_040_384), ("J", 1_048_576)];

/// Places what the files of a folder hold.
pub fn folder(folder: &Path) -> Result<Vec<Measured>, String> {
    let place = folder.display();
    let entries = fs::read_dir(folder).map_err(|error| format!("{place}: {error}"))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    files.sort();
    let mut measured = Vec::new();
    for path in files {
        let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let named = stem.rsplit_once('.').and_then(|(n, bytes)| Some((n, bytes.parse().ok()?)));
        let Some((name, bytes)) = named.filter(|_| path.extension().is_some_and(|e| e == "csv"))
        else {
            continue;
        };
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let table = csv::read(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        measured.extend(file(name, Bytes(bytes), &table)?);
    }
    if measured.is_empty() {
        return Err(format!("{place}: no file <name>.<bytes>.csv"));
    }
    Ok(measured)
}

fn file(name: &str, bytes: Bytes, table: &Table) -> Result<Vec<Measured>, String> {
    let wrong = |error: String| format!("{name}: {error}");
    let ask = |goal, budget| {
        let start = Instant::now();
        let answer =
            solve(table.buffers.clone(), goal, budget).map_err(|e| wrong(e.to_string()))?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        Ok::<_, String>((answer, ms))
    };
    let (answer, ms) = ask(Goal::Fit(bytes), FIT_BUDGET)?;
    let word = match &answer {
        Answer::Solved { solution, .. } => {
            validate(&table.buffers, solution, Some(bytes)).map_err(|e| wrong(e.to_string()))?;
            "placed"
        }
        Answer::Infeasible(_) => "proved not to fit",
        _ => "NOT placed",
    };
    let theirs = MINIMALLOC.iter().find(|(known, _)| *known == name);
    let beside = theirs.map_or_else(String::new, |(_, ms)| format!(" (MiniMalloc {ms} ms)"));
    let what = format!("{name}: {word} in {} bytes{beside}", bytes.0);
    // What was not placed took no time that says anything.
    let ms = if word.starts_with("NOT") { f64::INFINITY } else { ms };
    let placed = Measured::new(what, ms, "ms", Some(Limit::AtMost(500.0)));
    let mut measured = vec![placed.named(format!("allocate/{name}/time"))];
    let (answer, ms) = ask(Goal::Least, LEAST_BUDGET)?;
    let (solution, bound, proved) = match answer {
        Answer::Solved { solution, lower_bound } => (solution, lower_bound, true),
        Answer::Spent { best: Some(solution), lower_bound } => (solution, lower_bound, false),
        other => return Err(wrong(format!("no placement at all: {other:?}"))),
    };
    validate(&table.buffers, &solution, None).map_err(|e| wrong(e.to_string()))?;
    let sure = if proved { "proved least".to_owned() } else { format!("{} at least", bound.0) };
    let limit = KNOWN.iter().find(|(known, _)| *known == name).map_or(bytes.0, |(_, b)| *b);
    let what = format!("{name}: height, {sure}, after {ms:.0} ms");
    let goal = Some(Limit::AtMost(limit as f64));
    let height = Measured::new(what, solution.height.0 as f64, "bytes", goal);
    measured.push(height.named(format!("allocate/{name}/height")));
    Ok(measured)
}
