//! `tilewright tile`: what tiles save of SRAM, and what they cost.

use std::borrow::Cow;

use serde::Serialize;
use tilewright_app::{Blame, Diagnostic, checked_plan, is_unsuited};
use tilewright_model::{Model, tiling};
use tilewright_planner::{Integrity, Options, Planned, tilings};
use tilewright_report::plain;
use tilewright_runner::Native;

use super::json;
use crate::args::Tile;
use crate::text::{BOLD, DIM, Side, Table, bytes, micros, number};
use crate::{Said, interrupt, load, outputs, progress};

/// A way to tile.
#[derive(Debug, Serialize)]
struct Row {
    /// Rows by columns; nothing: whole.
    tiles: Option<String>,
    /// Layers are in tiles whose active memory is more than this part of the peak; with them those in between.
    threshold: Option<f64>,
    first_layer: Option<String>,
    last_layer: Option<String>,
    peak_sram_bytes: u64,
    flash_bytes: u64,
    macs: u64,
    recomputed_macs: u64,
    latency_us: Option<f64>,
    fits: bool,
    /// Whether no other way needs less SRAM for as few multiply-accumulates.
    is_best: bool,
}

#[derive(Debug, Serialize)]
struct Compared {
    model: String,
    board: String,
    strategy: String,
    rows: Vec<Row>,
}

impl Row {
    fn of(planned: &Planned, model: &Model, options: &Options) -> Self {
        let report = &planned.report;
        let nodes =
            planned.tiled.as_ref().and_then(|tiled| model.nodes.get(tiled.region.nodes.clone()));
        let nodes = nodes.unwrap_or_default();
        Self {
            tiles: report.tiles.clone(),
            threshold: options.tiling.map(|tiling| f64::from(tiling.threshold) / 1000.0),
            first_layer: nodes.first().map(|node| node.name.clone()),
            last_layer: nodes.last().map(|node| node.name.clone()),
            peak_sram_bytes: report.peak_sram_bytes.0,
            flash_bytes: report.flash_bytes.0,
            macs: *report.macs,
            recomputed_macs: *report.recomputed_macs,
            latency_us: report.latency_us.map(|latency| latency.0),
            fits: report.fits,
            is_best: false,
        }
    }
}

/// Compares grids and thresholds, or writes the model in tiles.
pub fn tile(options: &Tile) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let mut teller = progress::Teller::new();
    let mut tell = |p| teller.tell(&p);
    let host = Native::new(&mut tell, &cancel);
    let (board, choices) = load::asked(&options.on, Integrity::Trusted)?;
    let prepared = load::prepared(&options.on.quantised, &host)?;
    let model = &prepared.model;
    let mut ways = vec![None];
    match choices.tiling {
        Some(tiling) => ways.push(Some(tiling)),
        None => ways.extend(tilings(model).into_iter().map(Some)),
    }
    let mut rows = Vec::new();
    for tiling in ways {
        let asked = Options { tiling, ..choices.clone() };
        let planned = checked_plan(model, &board, options.strategy, &asked, &host);
        match planned {
            Ok(planned) => rows.push(Row::of(&planned, model, &asked)),
            // A grid of those that are compared may be too fine.
            Err(problem) if choices.tiling.is_none() && is_unsuited(&problem) => {}
            Err(problem) => return Err(problem),
        }
    }
    mark(&mut rows);
    let mut written = String::new();
    if let (Some(path), Some(tiling)) = (&options.output, choices.tiling) {
        outputs::apart(&[path], &load::files(&options.on.quantised))?;
        let given = match outputs::is_tflite(path) {
            true => Cow::Borrowed(model),
            false => Cow::Owned(load::model(&options.on.quantised.file, &host)?),
        };
        let tiled = tiling::tile(&given, &tiling).map_err(|error| {
            let error = format!("{error}.");
            Diagnostic::new(Blame::BadInput, error, "--tiles", "Choose other tiles.")
        })?;
        let bytes = outputs::write_model(path, &tiled.model)?;
        written = format!("\n{}: {} bytes\n", path.display(), number(bytes));
    }
    drop(teller);
    let strategy = options.strategy.to_string();
    let compared = Compared { model: model.name.clone(), board: board.id, strategy, rows };
    Ok(Said::well(if options.json.json { json(&compared)? } else { words(&compared) + &written }))
}

/// Marks the rows that no other is better than.
fn mark(rows: &mut [Row]) {
    let figures: Vec<(u64, u64)> = rows.iter().map(|row| (row.peak_sram_bytes, row.macs)).collect();
    for (number, row) in rows.iter_mut().enumerate() {
        let own = (row.peak_sram_bytes, row.macs);
        row.is_best = figures.iter().enumerate().all(|(other, figures)| {
            let is_no_worse = figures.0 <= own.0 && figures.1 <= own.1;
            !is_no_worse || *figures == own && other >= number
        });
    }
}

fn words(compared: &Compared) -> String {
    let Compared { model, board, strategy, rows } = compared;
    let mut table = Table::new(&[
        ("tiles", Side::Left),
        ("threshold", Side::Right),
        ("layers", Side::Left),
        ("SRAM (counted)", Side::Right),
        ("MACs (counted)", Side::Right),
        ("again", Side::Right),
        ("latency (modelled)", Side::Right),
        ("fits", Side::Left),
    ]);
    // What was asked for is shown though something else may be better.
    let shown = |row: &&Row| row.is_best || rows.len() <= 2 || row.tiles.is_none();
    let mut shown: Vec<&Row> = rows.iter().filter(shown).collect();
    shown.sort_by_key(|row| (row.macs, std::cmp::Reverse(row.peak_sram_bytes)));
    for row in shown {
        let layers = match (&row.first_layer, &row.last_layer) {
            (Some(first), Some(last)) => format!("{} to {}", plain(first), plain(last)),
            _ => String::new(),
        };
        let nominal = (row.macs - row.recomputed_macs).max(1);
        table.row([
            row.tiles.clone().unwrap_or_else(|| "whole".to_owned()),
            row.threshold.map_or_else(String::new, |threshold| threshold.to_string()),
            layers,
            bytes(row.peak_sram_bytes),
            number(row.macs),
            format!("{:.1} %", 100.0 * row.recomputed_macs as f64 / nominal as f64),
            row.latency_us.map_or_else(String::new, micros),
            if row.fits { "yes" } else { "no" }.to_owned(),
        ]);
    }
    let hidden = rows.iter().filter(|row| !row.is_best && row.tiles.is_some()).count();
    let note = match hidden {
        0 => String::new(),
        _ if rows.len() <= 2 => String::new(),
        more => format!(
            "{DIM}{more} ways that need more SRAM for as many MACs are left out; --json has them.{DIM:#}\n"
        ),
    };
    format!(
        "{BOLD}{} on {board}, strategy {strategy}: layers in tiles{BOLD:#}\n{}{note}",
        plain(model),
        table.print()
    )
}
