//! Early exits of a plan, and what limits of latency came to.

use tilewright_plan::Micros;
use tilewright_report::{ExitRow, InvokeRow, PlanReport, RunResult, short_name};

use crate::text::{BOLD, Side, Table, micros, number};

/// The outputs with which a run may end; empty if there are none.
pub fn of_plan(report: &PlanReport) -> String {
    if report.exits.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("exit", Side::Left),
        ("MACs (counted)", Side::Right),
        ("alone (modelled)", Side::Right),
        ("taken on the way (modelled)", Side::Right),
    ]);
    let time = |time: Option<Micros>| time.map_or_else(String::new, |time| micros(time.0));
    for ExitRow { output, macs, latency_us, exit_us } in &report.exits {
        table.row([
            short_name(output).to_owned(),
            macs.map_or_else(String::new, |macs| number(*macs)),
            time(latency_us.map(|time| *time)),
            time(exit_us.map(|time| *time)),
        ]);
    }
    format!("\n{BOLD}Early exits{BOLD:#}\n{}", table.print())
}

/// What each limit of a run came to; empty without limits.
pub fn of_run(result: &RunResult) -> String {
    if result.invokes.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("limit", Side::Right),
        ("program", Side::Left),
        ("to choose it (counted)", Side::Right),
        ("instructions (counted)", Side::Right),
        ("latency (modelled)", Side::Right),
        ("", Side::Left),
    ]);
    for row in &result.invokes {
        table.row([
            row.limit_us.map_or_else(String::new, |limit| micros(limit.into())),
            short_name(&row.program).to_owned(),
            number(*row.select_instructions),
            number(*row.instructions),
            micros(row.latency_us.0),
            remark(row),
        ]);
    }
    format!("\n{BOLD}Programs in turn{BOLD:#}\n{}", table.print())
}

fn remark(row: &InvokeRow) -> String {
    let limit = match (row.limit_us, *row.is_met) {
        (None, _) => "",
        (Some(_), true) => "met, ",
        (Some(_), false) => "missed, ",
    };
    let verified = match row.verified {
        Some(true) => "bit-equal",
        Some(false) => "DIFFERS from the reference",
        None => "not compared",
    };
    format!("{limit}{verified}")
}

/// What was predicted of the run that a result tells of: of a sub-network, and up to the exit that was taken, that.
pub fn predicted(report: &PlanReport, result: &RunResult) -> Option<Micros> {
    let alone = result.invokes.last().and_then(|invoke| {
        report.exits.iter().find(|exit| exit.output == invoke.program)?.latency_us
    });
    let taken = result.exit.and_then(|exit| report.exits.get(*exit)?.exit_us);
    // Of several models in an image that of the first is known.
    let of_main = report.latency_us.filter(|_| result.invokes.is_empty());
    alone.or(taken).or(of_main).map(|time| *time)
}
