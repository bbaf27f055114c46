//! `tilewright explore operators`: what each operator of many networks takes on a core.

use std::fmt::Write as _;

use tilewright_app::{Blame, Cancel, Diagnostic, zoo};
use tilewright_board::Board;
use tilewright_explore::{OPERATORS_BACKBONES, Operators};
use tilewright_report::{
    Axis, CsvColumn, DistinctOperator, OperatorClaim, OperatorUse, OperatorsNetwork,
    OperatorsReport, Point, Scatter, WithKinds,
};

use super::all_cores::on_all_cores;
use super::emulation::Emulation;
use super::{End, command, series, some, take_steps, told};
use crate::args::explore::ExploreOperators;
use crate::text::{BOLD, DIM, Side, Table, number};
use crate::{Said, interrupt, load};

/// Runs the benchmark.
pub fn operators(options: &ExploreOperators) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let board = load::board_of(&options.board)?;
    let backbones: Vec<String> = match options.backbones.as_slice() {
        [] => OPERATORS_BACKBONES.map(str::to_owned).to_vec(),
        given => given.iter().map(|name| name.trim_start_matches(zoo::PREFIX).to_owned()).collect(),
    };
    let experiment = Operators::new(&backbones, &board, super::stop(&cancel));
    let mut experiment = experiment.map_err(|error| {
        Diagnostic::new(
            Blame::BadInput,
            format!("{error}."),
            backbones.join(","),
            "Give networks with widths from 0.1 to 1 and resolutions from 48 to 224.",
        )
    })?;
    let mut end = take_steps(&mut experiment, &cancel, &board.id)?;
    if let (End::Whole, Some(most_macs)) = (end, options.emulate) {
        end = emulate(&mut experiment, &board, most_macs, &cancel)?;
    }
    let record = WithKinds::of(experiment.report());
    let rows = rows(&record.report);
    let said = told(
        &options.out,
        &record,
        &COLUMNS,
        &rows,
        |record| words(&record.report),
        |record| scatter(&record.report),
    )?;
    Ok(match end {
        End::Whole => said,
        End::Cancelled => Said { code: Blame::Cancelled.exit_code(), ..said },
    })
}

/// Runs each operator that the board holds, unless it has more multiply-accumulates, and compares it with the
/// reference; a process for each core of this computer.
fn emulate(
    experiment: &mut Operators,
    board: &Board,
    most_macs: u64,
    cancel: &Cancel,
) -> Result<End, Diagnostic> {
    let emulation = Emulation::on(&[board], cancel)?;
    let shared = &*experiment;
    let mut ran = Vec::new();
    let end = on_all_cores(
        shared.distinct(),
        cancel,
        "operators emulated",
        |_: &mut (), operator| {
            let Some(model) = shared.runnable(operator, most_macs) else { return Ok(None) };
            let emulated = emulation.run(model, board)?;
            Ok(emulated.ran.ok().map(|ran| ran.kernels))
        },
        |operator, run| {
            ran.push((operator, run));
            Ok(())
        },
    )?;
    ran.into_iter().for_each(|(operator, run)| experiment.ran(operator, run));
    Ok(end)
}

/// A place of a network, with the operator that stands there.
struct Row {
    network: OperatorsNetwork,
    index: usize,
    operator: DistinctOperator,
}

fn rows(record: &OperatorsReport) -> Vec<Row> {
    let row = |one: &OperatorUse| {
        let network = record.networks.get(one.network)?.clone();
        let operator = record.operators.get(one.operator)?.clone();
        Some(Row { network, index: one.index, operator })
    };
    record.uses.iter().filter_map(row).collect()
}

fn dims(dims: &[usize]) -> String {
    dims.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
}

/// A place, as comma-separated values; heads say how figures came to be.
const COLUMNS: [CsvColumn<Row>; 15] = [
    CsvColumn { head: "backbone", field: |row| row.network.backbone.clone() },
    CsvColumn { head: "width", field: |row| row.network.width.to_string() },
    CsvColumn { head: "resolution", field: |row| row.network.resolution.to_string() },
    CsvColumn { head: "index", field: |row| row.index.to_string() },
    CsvColumn { head: "operator", field: |row| row.operator.shape.op.clone() },
    CsvColumn { head: "window", field: |row| dims(&row.operator.shape.window) },
    CsvColumn { head: "stride", field: |row| dims(&row.operator.shape.stride) },
    CsvColumn {
        head: "inputs",
        field: |row| {
            row.operator.shape.inputs.iter().map(|one| dims(one)).collect::<Vec<_>>().join(" ")
        },
    },
    CsvColumn { head: "output", field: |row| dims(&row.operator.shape.output) },
    CsvColumn { head: "macs_counted", field: |row| row.operator.macs.to_string() },
    CsvColumn { head: "fits_proved", field: |row| row.operator.fits.to_string() },
    CsvColumn {
        head: "instructions_counted",
        field: |row| some(row.operator.run.map(|run| run.instructions)),
    },
    CsvColumn { head: "cycles_modelled", field: |row| some(row.operator.cycles()) },
    CsvColumn {
        head: "cycles_from",
        field: |row| {
            if row.operator.run.is_some() { "emulated run" } else { "cost table" }.to_owned()
        },
    },
    CsvColumn {
        head: "cycles_a_mac_modelled",
        field: |row| {
            let macs = *row.operator.macs as f64;
            let cycles = row.operator.cycles().filter(|_| macs > 0.0);
            some(cycles.map(|cycles| format!("{:.4}", cycles as f64 / macs)))
        },
    },
];

/// Figure 5.5: cycles against multiply-accumulates, by operator and window.
fn scatter(record: &OperatorsReport) -> Scatter {
    let point = |operator: &DistinctOperator| {
        let cycles = operator.cycles()?;
        let shape = &operator.shape;
        let inputs = shape.inputs.iter().map(|one| dims(one)).collect::<Vec<_>>().join(" + ");
        let title = format!("{} {inputs} to {}: {cycles} cycles", shape.op, dims(&shape.output));
        let class = operator.class();
        Some((class, Point { x: *operator.macs as f64, y: cycles as f64, title }))
    };
    let has_macs = |operator: &&DistinctOperator| *operator.macs > 0;
    Scatter {
        title: format!("Operators of mobile networks on {}", record.board),
        command: command(),
        x: Axis { title: "multiply-accumulates (counted)".to_owned(), is_logarithmic: true },
        y: Axis { title: "cycles (modelled)".to_owned(), is_logarithmic: true },
        series: series(record.operators.iter().filter(has_macs).filter_map(point)),
    }
}

fn words(record: &OperatorsReport) -> String {
    let emulated: usize = record.classes.iter().map(|class| *class.emulated).sum();
    let mut text = format!(
        "{BOLD}{} operators of {} networks on {}: {} distinct, {} emulated{BOLD:#}\n\n",
        number(record.uses.len() as u64),
        record.networks.len(),
        record.board,
        number(record.operators.len() as u64),
        number(emulated as u64),
    );
    let mut table = Table::new(&[
        ("operator", Side::Left),
        ("places (counted)", Side::Right),
        ("distinct (counted)", Side::Right),
        ("emulated (counted)", Side::Right),
        ("MACs of the distinct (counted)", Side::Right),
        ("cycles a MAC (modelled)", Side::Right),
    ]);
    for class in &record.classes {
        table.row([
            class.name.clone(),
            number(*class.uses as u64),
            number(*class.distinct as u64),
            number(*class.emulated as u64),
            number(*class.macs),
            some(class.cycles_a_mac.map(|rate| format!("{:.2}", *rate))),
        ]);
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", table.print());
    for claim @ OperatorClaim { says, compared, holds, of } in &record.claims {
        let answer = claim.answer();
        let _ = writeln!(
            text,
            "{BOLD}{answer}{BOLD:#}: {says}\n  {DIM}holds in {holds} of {of}: {compared} (modelled){DIM:#}"
        );
    }
    if !record.depthwise.is_empty() {
        let mut table = Table::new(&[
            ("network", Side::Left),
            ("MACs in depthwise convolutions (counted)", Side::Right),
            ("cycles (modelled)", Side::Right),
        ]);
        for share in &record.depthwise {
            let percent = |value: f64| format!("{value:.1} %");
            table.row([
                share.network.clone(),
                percent(*share.macs_percent),
                percent(*share.cycles_percent),
            ]);
        }
        let _ = writeln!(text, "\n{}", table.print());
    }
    text
}
