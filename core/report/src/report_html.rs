//! A plan as one file of HTML that stands alone: for a colleague, a review, an archive.

use std::fmt::Write;

use tilewright_plan::grouped;

use crate::canvas::escaped;
use crate::figure::Kind;
use crate::film_svg::film_svg;
use crate::memory_map_svg::{Drawn, svg};
use crate::plan_report::{LayerRow, PlanReport};
use crate::quantity::{binary, duration, joules};
use crate::schedule::{Pictured, Schedule};

const STYLE: &str = "\
body{font:15px/1.5 system-ui,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif;color:#171b1f;background:#fff;max-width:960px;\
margin:32px auto;padding:0 16px;font-variant-numeric:tabular-nums}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}img{max-width:100%;height:auto}\
table{border-collapse:collapse;width:100%;font-size:.85rem}th,td{text-align:left;padding:4px 8px;border-bottom:1px solid #d5dadd}\
td.n,th.n{text-align:right}small{color:#565f67}.scroll{overflow-x:auto}code{font-size:.85em;overflow-wrap:anywhere}";

/// The report of a plan, and of its run if it ran; `command` is what makes the plan again.
#[must_use]
pub fn report_html(pictured: &Pictured<'_>, command: &str) -> String {
    let Pictured { schedule, tensors, .. } = pictured;
    let report = schedule.report;
    let title = escaped(&format!("{} on {}", report.model, report.board));
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p>{}</p>\n",
        escaped(&verdict(report))
    );
    text += "<table>\n";
    for (name, value, kind) in figures(schedule) {
        row(&mut text, &name, &value, kind);
    }
    text += "</table>\n";
    if let Some(film) = film_svg(pictured) {
        section(&mut text, "Film", &picture(&film));
    }
    let drawn = Drawn { report, memory: schedule.memory, tensors };
    section(&mut text, "Memory", &picture(&svg(&[drawn])));
    section(&mut text, "Layers", &layers(&report.layers));
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "<p><small>Made by Tilewright. Again: <code>{}</code></small></p>\n</body>\n</html>\n",
        escaped(command)
    );
    text
}

/// Whether it fits, in a sentence.
fn verdict(report: &PlanReport) -> String {
    match (report.no_program(), report.fits, &report.does_not_fit) {
        (Some(why), _, _) => crate::sentence(&why.what),
        (None, true, _) => format!("It fits, by strategy {}.", report.strategy),
        (None, false, Some(why)) => format!(
            "It does not fit: {} are needed, {} are there.",
            binary(why.needed_bytes.0),
            binary(why.available_bytes.0)
        ),
        (None, false, None) => "It does not fit.".to_owned(),
    }
}

fn figures(schedule: &Schedule<'_>) -> Vec<(String, String, Kind)> {
    let report = schedule.report;
    let of = |used, limit| format!("{} of {}", binary(used), binary(limit));
    let mut all = vec![
        (
            "SRAM for tensors".to_owned(),
            of(report.peak_sram_bytes.0, report.sram_limit_bytes.0),
            Kind::Counted,
        ),
        (
            "No plan of this kind needs less than".to_owned(),
            binary(report.lower_bound_bytes.0),
            Kind::Proved,
        ),
        ("Flash".to_owned(), of(report.flash_bytes.0, report.flash_limit_bytes.0), Kind::Counted),
        ("Outside of the chip".to_owned(), binary(report.external_bytes.0), Kind::Counted),
        ("Multiply-accumulates".to_owned(), grouped(*report.macs), Kind::Counted),
    ];
    let frames = match report.frames {
        1 => String::new(),
        frames => format!(" of {frames} frames"),
    };
    let time = |name: &str, micros: Option<f64>| {
        micros.map(|micros| (format!("{name}{frames}"), duration(micros), Kind::Modelled))
    };
    all.extend(time("Latency", report.latency_us.map(|time| time.0)));
    all.extend(time("The core waits", report.stall_us.map(|time| time.0)));
    if let Some(energy) = report.energy_uj {
        all.push(("Energy of a frame".to_owned(), joules(*energy), Kind::Modelled));
    }
    if let Some(run) = schedule.run {
        let micros = run.end().since(tilewright_plan::CyclePoint(0)).at(run.clock_hz).0;
        all.push(("The run took".to_owned(), duration(micros), run.cycles_kind));
    }
    all
}

fn row(text: &mut String, name: &str, value: &str, kind: Kind) {
    let _ = writeln!(
        text,
        "<tr><th>{}</th><td>{}</td><td><small>{}</small></td></tr>",
        escaped(name),
        escaped(value),
        kind.word()
    );
}

fn section(text: &mut String, title: &str, body: &str) {
    let _ = write!(text, "<h2>{title}</h2>\n<div class=\"scroll\">\n{body}</div>\n");
}

/// A drawing as a picture: styles of several in one page would count for all of them.
fn picture(svg: &str) -> String {
    let data = escaped(&svg.replace('%', "%25").replace('#', "%23"));
    format!("<img alt=\"\" src=\"data:image/svg+xml;charset=utf-8,{data}\">\n")
}

fn layers(rows: &[LayerRow]) -> String {
    let mut text = "<table>\n<tr><th>Layer</th><th>Kernel</th><th>Output</th><th class=\"n\">MACs (counted)</th>\
                    <th class=\"n\">Flash (counted)</th><th class=\"n\">Cycles (modelled)</th></tr>\n"
        .to_owned();
    for row in rows {
        let [height, width, channels] = row.output;
        let _ = writeln!(
            text,
            "<tr><td>{}</td><td>{}</td><td>{height}×{width}×{channels}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td></tr>",
            escaped(&row.name),
            escaped(&row.op),
            grouped(*row.macs),
            binary(row.flash_bytes.0),
            grouped(*row.cycles)
        );
    }
    text + "</table>\n"
}
