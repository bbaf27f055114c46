//! `tilewright papers`: figures of published systems beside ours.

use std::fmt::Write as _;

use tilewright_app::{Blame, Diagnostic};
use tilewright_papers::Paper;
use tilewright_plan::grouped;
use tilewright_report::{
    Axis, CsvColumn, PaperFigure, PaperReport, Point, Scatter, paper_curves, paper_number,
    sentence, stacked_svg,
};

use super::json;
use crate::all_cores::on_all_cores;
use crate::args::Papers;
use crate::experiment::{apart, command, series, some, stop, told};
use crate::text::{BOLD, DIM, Side, Table};
use crate::{Said, interrupt};

/// Lists the papers, or computes the figures of one.
pub fn papers(options: &Papers) -> Result<Said, Diagnostic> {
    let Some(id) = &options.paper else { return list(options) };
    let Some(paper) = Paper::find(id) else {
        let known: Vec<&str> = Paper::ALL.iter().map(|paper| paper.id).collect();
        return Err(Diagnostic::new(
            Blame::BadInput,
            format!("There is no paper '{id}'."),
            "papers",
            format!("Give one of {}.", known.join(", ")),
        ));
    };
    apart(&options.out, &[], &[])?;
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let waits = stop(&cancel);
    let mut parts: Vec<Vec<PaperFigure>> = vec![Vec::new(); paper.parts()];
    let make = |_: &mut (), part: usize| {
        let figures = paper.figures(part, &waits);
        figures.map(Some).map_err(|error| Diagnostic::ours(sentence(&error), paper.name))
    };
    let take = |part: usize, figures| {
        parts[part] = figures;
        Ok(())
    };
    let end = on_all_cores(paper.parts(), &cancel, paper.name, make, take)?;
    let report = paper.report(parts.into_iter().flatten().collect());
    told(&options.out, end, &report, &COLUMNS, &report.figures, words, pictures)
}

fn list(options: &Papers) -> Result<Said, Diagnostic> {
    if options.out.json.json {
        let all: Vec<PaperReport> =
            Paper::ALL.iter().map(|paper| paper.report(Vec::new())).collect();
        return Ok(Said::well(json(&all)?));
    }
    let mut table = Table::new(&[("paper", Side::Left), ("", Side::Left), ("", Side::Left)]);
    for paper in Paper::ALL {
        table.row([paper.id, paper.name, paper.citation].map(str::to_owned));
    }
    Ok(Said::well(table.print()))
}

/// A figure, as comma-separated values.
const COLUMNS: [CsvColumn<PaperFigure>; 10] = [
    CsvColumn { head: "what", field: |row| row.what.clone() },
    CsvColumn { head: "of", field: |row| row.of.clone() },
    CsvColumn { head: "setting", field: |row| row.setting.clone() },
    CsvColumn { head: "ours", field: |row| row.ours.to_string() },
    CsvColumn { head: "printed", field: |row| some(row.printed) },
    CsvColumn { head: "unit", field: |row| row.unit.clone() },
    CsvColumn { head: "kind", field: |row| row.kind.word().to_owned() },
    CsvColumn {
        head: "difference_percent",
        field: |row| some(row.difference.map(|off| format!("{:.1}", 100.0 * off))),
    },
    CsvColumn { head: "why", field: |row| some(row.why.clone()) },
    CsvColumn { head: "command", field: |row| some(row.plan.as_ref().map(|plan| plan.command())) },
];

fn number(figure: f64) -> String {
    paper_number(figure, grouped)
}

fn words(report: &PaperReport) -> String {
    let PaperReport { name, citation, reading, figures, .. } = report;
    let mut text = format!("{BOLD}{name}{BOLD:#}\n{citation}\n\n{reading}\n");
    let mut rest = figures.as_slice();
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|row| row.what == first.what).count();
        let (rows, others) = rest.split_at(count);
        rest = others;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{BOLD}{}{BOLD:#}", first.what);
        let ours = format!("ours ({})", first.kind.word());
        let mut table = Table::new(&[
            ("", Side::Left),
            ("", Side::Left),
            (&ours, Side::Right),
            ("printed", Side::Right),
            ("", Side::Left),
            ("", Side::Right),
        ]);
        for row in rows {
            table.row([
                row.of.clone(),
                row.setting.clone(),
                number(row.ours),
                row.printed.map_or_else(String::new, number),
                row.unit.clone(),
                some(row.difference.map(|off| format!("{:+.1} %", 100.0 * off))),
            ]);
        }
        text += &table.print();
        let mut reasons: Vec<&str> = rows.iter().filter_map(|row| row.why.as_deref()).collect();
        reasons.dedup();
        for why in reasons {
            let _ = writeln!(text, "  {DIM}{}{DIM:#}", sentence(why));
        }
    }
    let beside = figures.iter().filter(|row| row.printed.is_some()).count();
    let off = figures.iter().filter(|row| row.why.is_some()).count();
    let _ = writeln!(
        text,
        "\n{beside} printed figures, {off} of them more than 10 % off, each with its reason"
    );
    text
}

/// Ours against printed, and below what is a curve over its settings.
fn pictures(report: &PaperReport) -> String {
    let mut charts = vec![scatter(report)];
    let mut whats: Vec<&str> = report.figures.iter().map(|row| row.what.as_str()).collect();
    whats.dedup();
    charts.extend(whats.into_iter().filter_map(|what| {
        let of: Vec<&PaperFigure> = report.figures.iter().filter(|row| row.what == what).collect();
        paper_curves(&of)
    }));
    stacked_svg(&report.name, &charts)
}

/// Ours against printed.
fn scatter(report: &PaperReport) -> Scatter {
    let point = |row: &PaperFigure| {
        let (x, y) = (row.printed?, row.ours);
        // Both axes are logarithmic.
        let title = format!("{}, {}", row.of, row.setting);
        (x > 0.0 && y > 0.0).then(|| (row.what.clone(), Point { x, y, title }))
    };
    let axis = |title: &str| Axis { title: title.to_owned(), is_logarithmic: true };
    Scatter {
        title: format!("{}: ours against printed", report.name),
        x: axis("printed, each in its unit"),
        y: axis("ours, in the same"),
        series: series(report.figures.iter().filter_map(point)),
        command: command(),
        ..Scatter::default()
    }
}
