//! `tilewright explore scale`: widths and resolutions of a backbone, and what is most accurate within a latency.

use std::fmt::Write as _;
use std::path::Path;

use tilewright_app::{Blame, Diagnostic, zoo};
use tilewright_explore::{
    ACCURACY_COLUMNS, AccuracyTable, ExploreError, SCALE_LIMITS_MS, Scale, Target,
};
use tilewright_plan::Micros;
use tilewright_report::{
    Axis, CsvColumn, Measured, Point, ScaleReport, ScaledNetwork, Scatter, SweepPlan, WithKinds,
    plain,
};

use super::{command, series, some, take_steps, told};
use crate::args::explore::ExploreScale;
use crate::text::{BOLD, DIM, Side, Table, bytes, number};
use crate::{Said, files, interrupt, load, outputs};

/// Largest table of accuracies that is read.
const TABLE_LIMIT: u64 = 4 << 20;

/// Runs the experiment.
pub fn scale(options: &ExploreScale) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let written: Vec<&Path> = options.out.csv.as_deref().into_iter().collect();
    outputs::apart(&written, options.accuracy.as_slice())?;
    let board = load::board_of(&options.board)?;
    let backbone = options.backbone.trim_start_matches(zoo::PREFIX);
    let accuracies = accuracies(options.accuracy.as_deref())?;
    let limits = match options.limits.as_slice() {
        [] => SCALE_LIMITS_MS.map(|ms| Micros(f64::from(ms) * 1e3)).to_vec(),
        given => given.to_vec(),
    };
    let target = Target { board: board.clone(), strategy: options.strategy, sram: options.sram };
    let stop = super::stop(&cancel);
    let experiment = Scale::new(backbone, target, &limits, accuracies, stop);
    let mut experiment = experiment.map_err(|error| wrong(&error, backbone, options))?;
    let end = take_steps(&mut experiment, &cancel, &board.id)?;
    let record = WithKinds::of(experiment.report());
    told(
        &options.out,
        end,
        &record,
        &COLUMNS,
        &record.report.sizes,
        |record| words(&record.report),
        |record| scatter(&record.report),
    )
}

fn wrong(error: &ExploreError, backbone: &str, options: &ExploreScale) -> Diagnostic {
    let what_to_do = match error {
        ExploreError::NoAccuracy { .. } if options.accuracy.is_none() => {
            "Give a table that has some with --accuracy, or a backbone of the thesis."
        }
        ExploreError::NoAccuracy { .. } => "Add some of these sizes to the table.",
        _ => "Give a network with widths from 0.3 to 1 and resolutions from 64 to 224.",
    };
    Diagnostic::new(Blame::BadInput, format!("{error}."), backbone, what_to_do)
}

/// The given table, or the published one.
fn accuracies(file: Option<&Path>) -> Result<AccuracyTable, Diagnostic> {
    let Some(file) = file else {
        return AccuracyTable::published()
            .map_err(|error| Diagnostic::ours(format!("{error}."), "published accuracies"));
    };
    let wrong = |what: String| {
        let columns = ACCURACY_COLUMNS.join(",");
        let what_to_do = format!(
            "Give comma-separated values: {columns}; a row a network of the zoo, accuracies in per cent."
        );
        Diagnostic::new(Blame::BadInput, what, file.display().to_string(), what_to_do)
    };
    let bytes = files::read(file, "table of accuracies", TABLE_LIMIT)?;
    let text =
        String::from_utf8(bytes).map_err(|_| wrong("The table is no UTF-8 text.".to_owned()))?;
    AccuracyTable::read(&text).map_err(|error| wrong(format!("{error}.")))
}

const fn plan(size: &ScaledNetwork) -> Option<&SweepPlan> {
    size.row.plan.as_ref()
}

/// A size, as comma-separated values; heads say how figures came to be.
const COLUMNS: [CsvColumn<ScaledNetwork>; 17] = [
    CsvColumn { head: "network", field: |size| size.row.key.network.clone() },
    CsvColumn { head: "width", field: |size| size.width.to_string() },
    CsvColumn { head: "resolution", field: |size| size.resolution.to_string() },
    CsvColumn { head: "board", field: |size| size.row.key.board.clone() },
    CsvColumn { head: "strategy", field: |size| size.row.key.strategy.clone() },
    CsvColumn { head: "sram_budget_bytes", field: |size| some(size.row.key.sram_budget_bytes) },
    CsvColumn { head: "macs_counted", field: |size| some(size.row.macs) },
    CsvColumn { head: "parameters_counted", field: |size| some(size.row.parameters) },
    CsvColumn { head: "fits_proved", field: |size| some(plan(size).map(|plan| plan.fits)) },
    CsvColumn {
        head: "latency_us_modelled",
        field: |size| {
            some(plan(size).and_then(|plan| plan.latency_us).map(|us| format!("{:.0}", us.0)))
        },
    },
    CsvColumn {
        head: "sram_bytes_counted",
        field: |size| some(plan(size).map(|plan| plan.sram_bytes.0)),
    },
    CsvColumn {
        head: "flash_bytes_counted",
        field: |size| some(plan(size).map(|plan| plan.flash_bytes.0)),
    },
    CsvColumn {
        head: "external_bytes_counted",
        field: |size| some(plan(size).map(|plan| plan.external_bytes.0)),
    },
    CsvColumn { head: "problem", field: |size| some(size.row.problem.clone()) },
    CsvColumn {
        head: "int8_percent_measured",
        field: |size| some(size.accuracy.as_ref().map(|of| of.int8_percent)),
    },
    CsvColumn {
        head: "fp32_percent_measured",
        field: |size| some(size.accuracy.as_ref().and_then(|of| of.fp32_percent)),
    },
    CsvColumn {
        head: "accuracy_source",
        field: |size| some(size.accuracy.as_ref().map(|of| of.source.clone())),
    },
];

const HEADS: [(&str, Side); 7] = [
    ("network", Side::Left),
    ("int8 (measured)", Side::Right),
    ("FP32 (measured)", Side::Right),
    ("latency (modelled)", Side::Right),
    ("MACs (counted)", Side::Right),
    ("SRAM (counted)", Side::Right),
    ("flash (counted)", Side::Right),
];

/// Milliseconds, as limits are given.
fn millis(us: f64) -> String {
    match us / 1e3 {
        few if few < 10.0 => format!("{few:.3} ms"),
        many => format!("{} ms", number(many.round() as u64)),
    }
}

/// What stands below [`HEADS`].
fn cells(record: &ScaleReport, network: &str) -> Vec<String> {
    let size = record.size(network);
    let of_row = |text: &dyn Fn(&ScaledNetwork) -> Option<String>| size.and_then(text);
    let of_plan = |text: &dyn Fn(&SweepPlan) -> String| size.and_then(plan).map(text);
    let percent = |percent: Measured<f64>| format!("{percent:.2} %");
    let accuracy = |size: &ScaledNetwork| size.accuracy.clone();
    [
        Some(network.to_owned()),
        of_row(&|size| Some(percent(accuracy(size)?.int8_percent))),
        of_row(&|size| accuracy(size)?.fp32_percent.map(percent)),
        of_row(&|size| size.row.latency_us().map(millis)),
        of_row(&|size| size.row.macs.map(|macs| number(*macs))),
        of_plan(&|plan| bytes(plan.sram_bytes.0)),
        of_plan(&|plan| bytes(plan.flash_bytes.0)),
    ]
    .map(some)
    .to_vec()
}

/// Accuracy against latency.
fn scatter(record: &ScaleReport) -> Scatter {
    let point = |size: &ScaledNetwork| {
        let at = size.trade_off()?;
        let network = &size.row.key.network;
        let is_best = record.front.contains(network);
        let series = if is_best { "no other is faster and as accurate" } else { "others" };
        let (x, y, title) = (at.latency_us / 1e3, at.percent, network.clone());
        Some((series.to_owned(), Point { x, y, title }))
    };
    Scatter {
        title: format!("{} on {}, {}", record.backbone, record.board, record.strategy),
        command: command(),
        x: Axis { title: "latency in milliseconds (modelled)".to_owned(), is_logarithmic: false },
        y: Axis { title: "int8 accuracy in per cent (measured)".to_owned(), is_logarithmic: false },
        series: series(record.sizes.iter().filter_map(point)),
    }
}

fn words(record: &ScaleReport) -> String {
    let ScaleReport { backbone, board, strategy, of, sizes, limits, front, diminishing, .. } =
        record;
    let fitting = sizes.iter().filter(|size| size.row.latency_us().is_some()).count();
    let known = sizes.iter().filter(|size| size.trade_off().is_some()).count();
    let planned = match sizes.len() {
        all if all == *of => format!("{of} sizes"),
        some => format!("cancelled after {some} of {of} sizes"),
    };
    let mut text = format!(
        "{BOLD}{} on {board}, {strategy}: {planned}, {fitting} fit, {known} of these with a known accuracy{BOLD:#}\n\n",
        plain(backbone)
    );
    let mut heads = vec![("limit", Side::Right), ("meet it (modelled)", Side::Right)];
    heads.extend(HEADS);
    let mut table = Table::new(&heads);
    for within in limits {
        let meet = format!("{}, {} known", within.meet_it, within.of_known_accuracy);
        let chosen = match &within.network {
            Some(network) => cells(record, network),
            None => vec!["none of known accuracy".to_owned()],
        };
        table.row([millis(within.limit_us), meet].into_iter().chain(chosen));
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "Most accurate within each limit\n{}", table.print());
    let mut table = Table::new(&HEADS);
    for network in front {
        table.row(cells(record, network));
    }
    let _ = writeln!(text, "No other is faster and as accurate\n{}", table.print());
    for point in diminishing {
        let _ = writeln!(
            text,
            "Width {}: from {} on, more pixels do not pay; {} is as accurate and as fast, or better.",
            point.width, point.network, point.by
        );
    }
    let note = "Accuracies are those of the table alone: sizes that it does not have are planned, but never chosen.";
    text + &format!("{DIM}{note}{DIM:#}\n")
}
