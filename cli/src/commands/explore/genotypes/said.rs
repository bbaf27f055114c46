//! What is said of genotypes: words, columns, picture and table of costs.

use std::fmt::Write as _;

use tilewright_report::{
    Axis, CsvColumn, GenotypesReport, Point, Proxy, RankedGenotype, Scatter, Series, Verdict,
};

use crate::experiment::{command, some};
use crate::text::{BOLD, DIM, Side, Table, number};

fn value(row: &RankedGenotype, proxy: Proxy) -> String {
    some(row.value(proxy))
}

/// A network, as comma-separated values; heads say how figures came to be.
pub const COLUMNS: [CsvColumn<RankedGenotype>; 12] = [
    CsvColumn { head: "genotype", field: |one| one.row.of.genotype.clone() },
    CsvColumn { head: "board", field: |one| one.row.of.board.clone() },
    CsvColumn { head: "published_cost_modelled", field: |one| value(one, Proxy::Published) },
    CsvColumn {
        head: "published_cost_table_3_4_modelled",
        field: |one| value(one, Proxy::PublishedOnce),
    },
    CsvColumn {
        head: "cost_table_instructions_counted",
        field: |one| value(one, Proxy::CountedInstructions),
    },
    CsvColumn { head: "cost_table_cycles_modelled", field: |one| value(one, Proxy::CountedCycles) },
    CsvColumn { head: "cost_in_place_cycles_modelled", field: |one| value(one, Proxy::InPlace) },
    CsvColumn { head: "macs_counted", field: |one| value(one, Proxy::Macs) },
    CsvColumn { head: "plan_cycles_modelled", field: |one| value(one, Proxy::Predicted) },
    CsvColumn {
        head: "run_instructions_counted",
        field: |one| some(one.row.run.map(|run| run.instructions)),
    },
    CsvColumn { head: "run_cycles_modelled", field: |one| some(one.row.run.map(|run| run.cycles)) },
    CsvColumn { head: "problem", field: |one| some(one.row.problem.clone()) },
];

/// The costs as text, a line each: what an architecture search can take instead of the published table.
pub fn costs(report: &GenotypesReport) -> String {
    report.costs.iter().map(|cost| format!("{} = {}\n", cost.operation, cost.cycles)).collect()
}

/// Costs of both tables against the cycles of whole networks.
pub fn scatter(report: &GenotypesReport) -> Scatter {
    let series = |proxy: Proxy, name: &str| {
        let point = |one: &RankedGenotype| {
            let (cost, cycles) = (one.value(proxy)?, *one.row.run?.cycles);
            let (x, y) = (cost as f64, cycles as f64);
            Some(Point { x, y, title: format!("{cost}: {}", one.row.of.genotype) })
        };
        let points = report.genotypes.iter().filter_map(point).collect();
        Series { name: name.to_owned(), points, is_joined: false }
    };
    Scatter {
        title: format!(
            "{} genotypes in {} cells of {} channels on {}",
            report.genotypes.len(),
            report.cells,
            report.channels,
            report.board
        ),
        command: command(),
        x: Axis {
            title: "cost of both cells' operations in cycles (modelled)".to_owned(),
            is_logarithmic: false,
        },
        y: Axis {
            title: "cycles of the whole network (modelled, emulated run)".to_owned(),
            is_logarithmic: false,
        },
        series: vec![
            series(Proxy::Published, "published cost, table 3.2"),
            series(Proxy::CountedCycles, "cost of operations that were run"),
        ],
        ..Scatter::default()
    }
}

/// Two digits behind the point, or a dash.
fn correlation(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// Whether the published cost predicts, in one sentence.
fn answer(report: &GenotypesReport) -> String {
    let of = |proxy| report.correlation(proxy);
    let Some(published) = of(Proxy::Published) else { return String::new() };
    let percent = |proxy| {
        let part = of(proxy).and_then(|one| one.in_order_percent);
        part.map_or_else(|| "-".to_owned(), |part| format!("{:.1} %", *part))
    };
    let verdict = match report.published_predicts {
        Verdict::Unknown => {
            return "Does the proxy predict? Unknown: there are too few networks that differ."
                .to_owned();
        }
        known => known.word(),
    };
    format!(
        "Does the proxy predict? {}: of two networks the published cost orders {} by cycles rightly (Spearman {}), \
         costs of operations that were run {}, multiply-accumulates {}, the plan's cycles {}.",
        capital(verdict),
        percent(Proxy::Published),
        correlation(published.spearman.map(|value| *value)),
        percent(Proxy::CountedCycles),
        percent(Proxy::Macs),
        percent(Proxy::Predicted),
    )
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).collect()
}

/// All of it, for people.
pub fn words(report: &GenotypesReport) -> String {
    let ran = report.genotypes.iter().filter(|one| one.row.run.is_some()).count();
    let of = match report.genotypes.len() {
        all if all == report.of => format!("{all} genotypes"),
        part => format!("cancelled after {part} of {} genotypes", report.of),
    };
    let GenotypesReport { board, cells, channels, resolution, .. } = report;
    let mut text = format!(
        "{BOLD}{of} in {cells} cells of {channels} channels, {resolution}x{resolution} pixels, on {board}: {ran} run, \
         bit-equal to the reference{BOLD:#}\n\n"
    );
    let mut table = Table::new(&[
        ("operation", Side::Left),
        ("table 3.2 (modelled)", Side::Right),
        ("instructions (counted)", Side::Right),
        ("cycles (modelled, emulated runs)", Side::Right),
    ]);
    for cost in &report.costs {
        table.row([
            cost.operation.clone(),
            number(*cost.published),
            number(*cost.instructions),
            number(*cost.cycles),
        ]);
    }
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "Operations on an input of a cell, mean of the {cells} cells\n{}",
        table.print()
    );
    let mut table = Table::new(&[
        ("what may predict cycles", Side::Left),
        ("networks", Side::Right),
        ("Spearman", Side::Right),
        ("Kendall", Side::Right),
        ("pairs in order", Side::Right),
        ("Spearman, instructions (counted)", Side::Right),
    ]);
    for one in &report.correlations {
        let part = one.in_order_percent;
        table.row([
            one.proxy.words().to_owned(),
            number(*one.networks as u64),
            correlation(one.spearman.map(|value| *value)),
            correlation(one.kendall.map(|value| *value)),
            part.map_or_else(|| "-".to_owned(), |part| format!("{:.1} %", *part)),
            correlation(one.spearman_of_instructions.map(|value| *value)),
        ]);
    }
    let _ = writeln!(
        text,
        "Rank correlation with the cycles of whole networks (modelled, emulated runs)\n{}",
        table.print()
    );
    let _ = writeln!(text, "{BOLD}{}{BOLD:#}", answer(report));
    let note = "Cycles of runs follow from counted instructions and a model of the core.";
    text + &format!("{DIM}{note}{DIM:#}\n")
}
