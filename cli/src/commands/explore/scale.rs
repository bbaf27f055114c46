//! `tilewright explore scale`: widths and resolutions of a backbone, and what is most accurate within a latency.

use std::fmt::Write as _;
use std::path::Path;

use tilewright_app::{Blame, Diagnostic, zoo};
use tilewright_explore::{
    ACCURACY_COLUMNS, AccuracyTable, ExploreError, SCALE_LIMITS_MS, Scale, Targets,
};
use tilewright_plan::Micros;
use tilewright_report::{
    Axis, CsvColumn, Measured, Point, ScaleReport, ScaleTarget, ScaledNetwork, Scatter, WithKinds,
    plain, stacked_svg, sweep_columns,
};

use super::boards;
use super::sweep_rows::planned;
use crate::args::explore::ExploreScale;
use crate::experiment::{apart, command, series, some, told};
use crate::text::{BOLD, DIM, Side, Table, bytes, number};
use crate::{Said, files, interrupt};

/// Largest table of accuracies that is read.
const TABLE_LIMIT: u64 = 4 << 20;

/// Runs the experiment.
pub fn scale(options: &ExploreScale) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    apart(&options.out, &[&options.rows], options.accuracy.as_slice())?;
    let targets = Targets {
        boards: boards(&options.board)?,
        strategies: options.strategy.clone(),
        sram: options.sram,
    };
    let backbone = options.backbone.trim_start_matches(zoo::PREFIX);
    let accuracies = accuracies(options.accuracy.as_deref())?;
    let limits = match options.limits.as_slice() {
        [] => SCALE_LIMITS_MS.map(|ms| Micros(f64::from(ms) * 1e3)).to_vec(),
        given => given.to_vec(),
    };
    let scale = Scale::new(backbone, targets, &limits, accuracies)
        .map_err(|error| wrong(&error, backbone, options))?;
    let (rows, end) = planned(scale.sweep(), options.rows.as_deref(), None, &cancel)?;
    let record = WithKinds::of(scale.report(&rows));
    let sizes = record.report.targets.iter().flat_map(|target| target.sizes.clone());
    told(
        &options.out,
        end,
        &record,
        &sweep_columns().into_iter().chain(COLUMNS).collect::<Vec<_>>(),
        &sizes.collect::<Vec<_>>(),
        |record| words(&record.report),
        |record| svg(&record.report),
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

/// What a size has besides its row, as comma-separated values; heads say how figures came to be.
const COLUMNS: [CsvColumn<ScaledNetwork>; 5] = [
    CsvColumn { head: "width", field: |size| size.width.to_string() },
    CsvColumn { head: "resolution", field: |size| size.resolution.to_string() },
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
fn cells(target: &ScaleTarget, network: &str) -> Vec<String> {
    let size = target.size(network);
    let of_row = |text: &dyn Fn(&ScaledNetwork) -> Option<String>| size.and_then(text);
    let plan = size.and_then(|size| size.row.plan.as_ref());
    let percent = |percent: Measured<f64>| format!("{percent:.2} %");
    let accuracy = |size: &ScaledNetwork| size.accuracy.clone();
    [
        Some(network.to_owned()),
        of_row(&|size| Some(percent(accuracy(size)?.int8_percent))),
        of_row(&|size| accuracy(size)?.fp32_percent.map(percent)),
        of_row(&|size| size.row.latency_us().map(millis)),
        of_row(&|size| size.row.macs.map(|macs| number(*macs))),
        plan.map(|plan| bytes(plan.sram_bytes.0)),
        plan.map(|plan| bytes(plan.flash_bytes.0)),
    ]
    .map(some)
    .to_vec()
}

/// Accuracy against latency, a chart for each board and strategy.
fn svg(record: &ScaleReport) -> String {
    let charts = record.targets.iter().map(|target| scatter(&record.backbone, target));
    stacked_svg(&record.backbone, &charts.collect::<Vec<_>>())
}

fn scatter(backbone: &str, target: &ScaleTarget) -> Scatter {
    let point = |size: &ScaledNetwork| {
        let at = size.trade_off()?;
        let network = &size.row.key.network;
        let is_best = target.front.contains(network);
        let series = if is_best { "no other is faster and as accurate" } else { "others" };
        let (x, y, title) = (at.latency_us / 1e3, at.percent, network.clone());
        Some((series.to_owned(), Point { x, y, title }))
    };
    Scatter {
        title: format!("{backbone} on {}, {}", target.board, target.strategy),
        command: command(),
        x: Axis { title: "latency in milliseconds (modelled)".to_owned(), is_logarithmic: false },
        y: Axis { title: "int8 accuracy in per cent (measured)".to_owned(), is_logarithmic: false },
        series: series(target.sizes.iter().filter_map(point)),
        ..Scatter::default()
    }
}

fn words(record: &ScaleReport) -> String {
    let targets = record.targets.iter().map(|target| words_of(record, target));
    let note = "Accuracies are those of the table alone: sizes that it does not have are planned, but never chosen.";
    targets.collect::<Vec<_>>().join("\n") + &format!("{DIM}{note}{DIM:#}\n")
}

fn words_of(record: &ScaleReport, target: &ScaleTarget) -> String {
    let ScaleReport { backbone, of, .. } = record;
    let ScaleTarget { board, strategy, sizes, limits, front, diminishing } = target;
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
            Some(network) => cells(target, network),
            None => vec!["none of known accuracy".to_owned()],
        };
        table.row([millis(within.limit_us), meet].into_iter().chain(chosen));
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "Most accurate within each limit\n{}", table.print());
    let mut table = Table::new(&HEADS);
    for network in front {
        table.row(cells(target, network));
    }
    let _ = writeln!(text, "No other is faster and as accurate\n{}", table.print());
    for point in diminishing {
        let _ = writeln!(
            text,
            "Width {}: from {} on, more pixels do not pay; {} is as accurate and as fast, or better.",
            point.width, point.network, point.by
        );
    }
    text
}
