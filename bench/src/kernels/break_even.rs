//! From how many zeros on weights without them are faster: layers at each tenth of zeros against the same ones with all
//! weights.

use super::layers::{Layer, SWEPT};
use crate::counted::{self, Counted};
use serde::Serialize;
use tilewright_board::Board;
use tilewright_plan::Op;
use tilewright_planner::{Options, Strategy};

/// Hundredths of zeros that are measured.
const SPARSITIES: [u8; 10] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90];

/// A layer on a core.
#[derive(Debug, Serialize)]
struct Row {
    layer: &'static str,
    core: &'static str,
    at: Vec<Point>,
    /// Hundredths of zeros from which on it takes fewer instructions without them, between two that were measured on
    /// a straight line, or from the first on where it takes fewer bytes; nothing if it does nowhere.
    instructions_break_even: Option<f64>,
    /// The same of cycles.
    cycles_break_even: Option<f64>,
}

/// What a layer takes without zeros as a part of what it takes with them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Point {
    /// Hundredths of zeros, in pairs of neighbours.
    sparsity: u8,
    /// Instructions (counted); nothing where it would take more bytes, so that zeros stay.
    instructions: Option<f64>,
    /// Cycles (modelled) but for waits for flash.
    cycles: Option<f64>,
}

/// Measures and prints them.
///
/// # Errors
/// If a run fails.
pub fn break_even(json: bool) -> Result<(), String> {
    let mut rows = Vec::new();
    for (core, board) in counted::cores()? {
        let count = |layer: &Layer| counted::count(&layer.model(), &board, layer.packing);
        for layer in SWEPT {
            let dense = count(layer)?;
            let point = |sparsity: u8| {
                let layer = layer.with_zeros(sparsity);
                let is_sparse = is_sparse(&layer, &board)?;
                let found = is_sparse.then(|| count(&layer)).transpose()?;
                Ok(point(sparsity, dense, found))
            };
            let at: Vec<Point> =
                SPARSITIES.into_iter().map(point).collect::<Result<_, String>>()?;
            let row = Row {
                layer: layer.name,
                core: core.id(),
                instructions_break_even: crossing(&at, |point| point.instructions),
                cycles_break_even: crossing(&at, |point| point.cycles),
                at,
            };
            if !json {
                print(&row);
            }
            rows.push(row);
        }
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&rows).map_err(|e| e.to_string())?);
    }
    Ok(())
}

/// Whether a layer's weights are stored without zeros: only where that takes fewer bytes.
fn is_sparse(layer: &Layer, board: &Board) -> Result<bool, String> {
    let options = Options { packing: layer.packing, ..Options::default() };
    let planned = tilewright_planner::plan(&layer.model(), board, Strategy::Resident, &options);
    let planned = planned.map_err(|error| format!("{}: {error}", layer.name))?;
    Ok(planned.plan.ops.iter().any(Op::is_sparse))
}

fn point(sparsity: u8, dense: Counted, found: Option<Counted>) -> Point {
    let part =
        |of: &dyn Fn(Counted) -> u64| found.map(|found| of(found) as f64 / of(dense).max(1) as f64);
    Point {
        sparsity,
        instructions: part(&|counted| counted.instructions),
        cycles: part(&|counted| counted.cycles - counted.waits),
    }
}

/// Where what grows less with zeros becomes less than all.
fn crossing(points: &[Point], part: impl Fn(&Point) -> Option<f64>) -> Option<f64> {
    let known: Vec<(f64, f64)> =
        points.iter().filter_map(|point| Some((point.sparsity.into(), part(point)?))).collect();
    let first = known.iter().position(|(_, part)| *part < 1.0)?;
    let (x, y) = known[first];
    Some(match first.checked_sub(1).map(|before| known[before]) {
        Some((x0, y0)) => x0 + (x - x0) * (y0 - 1.0) / (y0 - y),
        None => x,
    })
}

fn print(row: &Row) {
    let told = |part: Option<f64>| part.map_or_else(|| "-".to_owned(), |part| format!("{part:.2}"));
    let zeros =
        |at: Option<f64>| at.map_or_else(|| "nowhere".to_owned(), |at| format!("{at:.0} %"));
    println!("{}, {}", row.core, row.layer);
    let line = |what: &str, part: &dyn Fn(&Point) -> Option<f64>, at: Option<f64>| {
        let parts: Vec<String> = row.at.iter().map(|point| told(part(point))).collect();
        println!("  {what:12} {}  less from {} on", parts.join(" "), zeros(at));
    };
    line("instructions", &|point| point.instructions, row.instructions_break_even);
    line("cycles", &|point| point.cycles, row.cycles_break_even);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn break_even_lies_between_what_was_measured() {
        let point = |sparsity, part| Point { sparsity, instructions: part, cycles: None };
        let of = |points: &[Point]| crossing(points, |point| point.instructions);
        let points = [point(30, None), point(40, Some(1.1)), point(50, Some(0.9))];
        assert!((of(&points).unwrap() - 45.0).abs() < 1e-9);
        // It may be less wherever it takes fewer bytes, or nowhere.
        assert_eq!((of(&points[2..]), of(&points[..2])), (Some(50.0), None));
    }
}
