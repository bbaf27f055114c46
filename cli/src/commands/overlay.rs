//! `tilewright overlay`: what each overlay brings, and latency against memory, in the form of the
//! TinyOps thesis' figures 4.8 and 4.9.

use serde::Serialize;
use tilewright_app::{Diagnostic, checked_plan};
use tilewright_plan::Bytes;
use tilewright_planner::{Integrity, Options, Overlaid, Planned, Strategy};
use tilewright_report::{csv_row, plain};
use tilewright_runner::Native;

use super::json;
use crate::args::Overlay;
use crate::text::{BOLD, Side, Table, bytes, micros, number};
use crate::{Said, interrupt, load, progress};

/// Budgets that the second view compares.
const BUDGETS: u64 = 12;

/// What one plan takes.
#[derive(Debug, Serialize)]
struct Point {
    what: String,
    budget_bytes: u64,
    peak_sram_bytes: u64,
    steps: usize,
    latency_us: f64,
    transfer_us: f64,
    stall_us: f64,
    read_bytes: u64,
    written_bytes: u64,
}

impl Point {
    fn of(what: impl Into<String>, planned: &Planned) -> Self {
        let report = &planned.report;
        let program = planned.plan.main.as_ref();
        let time = |micros: Option<tilewright_plan::Micros>| micros.map_or(0.0, |us| us.0);
        Self {
            what: what.into(),
            budget_bytes: report.sram_limit_bytes.0,
            peak_sram_bytes: report.peak_sram_bytes.0,
            steps: program.and_then(|p| p.lanes.first()).map_or(0, |lane| lane.steps.len()),
            latency_us: time(report.latency_us.map(|figure| *figure)),
            transfer_us: time(report.transfer_us.map(|figure| *figure)),
            stall_us: time(report.stall_us.map(|figure| *figure)),
            read_bytes: report.read_bytes.0,
            written_bytes: report.written_bytes.0,
        }
    }
}

#[derive(Debug, Serialize)]
struct Views {
    model: String,
    board: String,
    overlays: Vec<Point>,
    budgets: Vec<Point>,
}

/// Compares overlays.
pub fn overlay(options: &Overlay) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let mut teller = progress::Teller::new();
    let mut tell = |p| teller.tell(&p);
    let host = Native::new(&mut tell, &cancel);
    let (board, choices) = load::asked(&options.on, Integrity::Trusted)?;
    let prepared = load::prepared(&options.on.quantised, &host)?;
    let model = &prepared.model;
    let nothing = Overlaid { inputs: false, filters: false, parameters: false, ..Overlaid::THESIS };
    let inputs = Overlaid { inputs: true, ..nothing };
    let filters = Overlaid { filters: true, ..inputs };
    let mut overlays = Vec::new();
    for (what, strategy) in [("all in SRAM", Strategy::Resident), ("external", Strategy::External)]
    {
        let plan = checked_plan(model, &board, strategy, &choices, &host)?;
        overlays.push(Point::of(what, &plan));
    }
    let steps = [
        ("and tiles of inputs", inputs),
        ("and filters", filters),
        ("and biases, parameters", Overlaid::THESIS),
        ("and outputs, staged", Overlaid::ALL),
    ];
    for (what, overlaid) in steps {
        let choices = Options { overlaid, ..choices.clone() };
        let plan = checked_plan(model, &board, Strategy::Overlay, &choices, &host)?;
        overlays.push(Point::of(what, &plan));
    }
    let most = choices.sram.map_or(board.arena(), |sram| sram.min(board.arena())).0;
    let mut budgets = Vec::new();
    for part in 1..=BUDGETS {
        let sram = Bytes(most * part / BUDGETS);
        for (what, overlaid) in [("as the thesis", Overlaid::THESIS), ("staged", Overlaid::ALL)] {
            let choices = Options { sram: Some(sram), overlaid, ..choices.clone() };
            let strategy = Strategy::Overlay;
            let plan = checked_plan(model, &board, strategy, &choices, &host)?;
            budgets.push(Point::of(what, &plan));
        }
    }
    drop(teller);
    let views = Views { model: model.name.clone(), board: board.id, overlays, budgets };
    let text = match (options.json.json, options.csv) {
        (true, _) => json(&views)?,
        (_, true) => csv(&views),
        _ => tables(&views),
    };
    Ok(Said::well(text))
}

fn tables(views: &Views) -> String {
    let (model, board) = (plain(&views.model), &views.board);
    let mut text =
        format!("{BOLD}{model} on {board}: what each overlay brings{BOLD:#} (modelled)\n");
    text.push_str(&table(&views.overlays));
    text.push_str(&format!("{BOLD}Latency against memory{BOLD:#} (modelled)\n"));
    text.push_str(&table(&views.budgets));
    text
}

fn table(points: &[Point]) -> String {
    let mut table = Table::new(&[
        ("", Side::Left),
        ("budget", Side::Right),
        ("SRAM", Side::Right),
        ("steps", Side::Right),
        ("latency", Side::Right),
        ("transfers", Side::Right),
        ("stalls", Side::Right),
        ("read", Side::Right),
        ("written", Side::Right),
    ]);
    for point in points {
        table.row([
            point.what.clone(),
            bytes(point.budget_bytes),
            bytes(point.peak_sram_bytes),
            number(point.steps as u64),
            micros(point.latency_us),
            micros(point.transfer_us),
            micros(point.stall_us),
            bytes(point.read_bytes),
            bytes(point.written_bytes),
        ]);
    }
    table.print()
}

fn csv(views: &Views) -> String {
    let heads = "view,what,budget_bytes,peak_sram_bytes,steps,latency_us,transfer_us,stall_us,\
                 read_bytes,written_bytes\r\n";
    let mut text = heads.to_owned();
    for (view, points) in [("overlays", &views.overlays), ("budgets", &views.budgets)] {
        for point in points {
            text.push_str(&csv_row(&[
                view.to_owned(),
                point.what.clone(),
                point.budget_bytes.to_string(),
                point.peak_sram_bytes.to_string(),
                point.steps.to_string(),
                point.latency_us.to_string(),
                point.transfer_us.to_string(),
                point.stall_us.to_string(),
                point.read_bytes.to_string(),
                point.written_bytes.to_string(),
            ]));
        }
    }
    text
}
