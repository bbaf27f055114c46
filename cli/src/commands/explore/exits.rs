//! `tilewright explore exits`: what each early exit answers, and what thresholds of confidence come to.

use std::cmp::Ordering;
use std::fmt::Write as _;

use tilewright_app::{Blame, Diagnostic, checked_plan, unsupported};
use tilewright_explore::exits::{Answer, Labelled, MOST_LOST, Scaled, report};
use tilewright_formats::LabelledImages;
use tilewright_model::{Data, Model, int8};
use tilewright_planner::{Confidence, ExitError};
use tilewright_report::{
    Axis, CsvColumn, ExitsReport, Point, Scatter, Series, ThresholdRow, WithKinds, sentence,
};
use tilewright_runner::Native;

use crate::all_cores::on_all_cores;
use crate::args::explore::ExploreExits;
use crate::experiment::{End, command, told};
use crate::labelled;
use crate::progress::Teller;
use crate::text::{BOLD, DIM, Side, Table, micros, number};
use crate::{Said, interrupt, load};

/// Runs the experiment.
pub fn exits(options: &ExploreExits) -> Result<Said, Diagnostic> {
    let cancel = interrupt::cancelled_by_ctrl_c()?;
    let (board, mut choices) = load::asked(&options.on, options.checked.integrity())?;
    let confidences = confidences(&options.thresholds)?;
    choices.exits.subnetworks = true;
    // Where a run ends depends on it, how long it takes until then does not.
    choices.exits.confidence = confidences.first().copied();
    let mut teller = Teller::new();
    let mut tell = |progress| teller.tell(&progress);
    let host = Native::new(&mut tell, &cancel);
    let prepared = load::prepared(&options.on.quantised, &host)?;
    let model = &prepared.model;
    let planned = checked_plan(model, &board, options.strategy, &choices, &host)?;
    teller.clear();
    if let Some(problem) = unsupported(&planned, &board) {
        return Err(problem);
    }
    let images = match &options.data {
        Some(folder) => {
            Some(labelled::of_folder(folder, &["t10k", "train"], options.images.get())?)
        }
        None => None,
    };
    let mut answers = Vec::new();
    let mut end = End::Whole;
    if let Some(images) = &images {
        let inputs = quantised(model, images)?;
        let run = |_: &mut (), index: usize| {
            let outputs = int8::run(model, &[Data::I8(inputs[index].clone())], &mut |_, _| {});
            let outputs = outputs.map_err(|error| {
                Diagnostic::ours(sentence(&error.to_string()), "reference interpreter")
            })?;
            let answers: Option<Vec<Answer>> =
                outputs.iter().map(|output| Answer::of(output.as_i8()?)).collect();
            let label = images.labels.get(index).copied().unwrap_or_default().into();
            Ok(answers.map(|answers| Labelled { answers, label }))
        };
        let take = |_, answer| {
            answers.push(answer);
            Ok(())
        };
        end = on_all_cores(inputs.len(), &cancel, "images", run, take)?;
    }
    let outputs = scaled(model)?;
    let report = report(&planned.report, &outputs, &answers, &confidences)
        .map_err(|error| wrong(&error, "--thresholds"))?;
    let record = WithKinds::of(report);
    told(
        &options.out,
        end,
        &record,
        &COLUMNS,
        &record.report.thresholds,
        |record| words(&record.report),
        |record| scatter(&record.report).svg(),
    )
}

fn wrong(error: &ExitError, place: &str) -> Diagnostic {
    Diagnostic::new(
        Blame::BadInput,
        sentence(&error.to_string()),
        place,
        "Give probabilities that the outputs can hold, such as 0.5,0.9.",
    )
}

fn confidences(given: &[f64]) -> Result<Vec<Confidence>, Diagnostic> {
    let confidence = |number: &f64| {
        let error = || wrong(&ExitError::NoConfidence(number.to_string()), "--thresholds");
        Confidence::new(*number).ok_or_else(error)
    };
    given.iter().map(confidence).collect()
}

/// How the values of the model's outputs stand for probabilities.
fn scaled(model: &Model) -> Result<Vec<Scaled>, Diagnostic> {
    let of = |id: &tilewright_model::TensorId| {
        let tensor = model.tensor(*id);
        let quantised = tensor.quantisation.as_ref()?;
        let zero = i16::try_from(*quantised.zeros.first()?).ok()?;
        Some(Scaled { name: tensor.name.clone(), scale: *quantised.scales.first()?, zero })
    };
    let all: Option<Vec<Scaled>> = model.outputs.iter().map(of).collect();
    all.ok_or_else(|| Diagnostic::ours("An output has no scale.", "outputs"))
}

/// Grey images as a model takes them: over 255, in the middle of zeros.
fn quantised(model: &Model, images: &LabelledImages) -> Result<Vec<Vec<i8>>, Diagnostic> {
    let (height, width) = (images.height, images.width);
    let input = model.inputs.first().map(|id| model.tensor(*id));
    let place = input.and_then(|input| match *input.shape.dims() {
        [_, rows, columns, 1] if model.inputs.len() == 1 && height <= rows && width <= columns => {
            Some((input.quantisation.as_ref()?, rows, columns))
        }
        _ => None,
    });
    let Some((quantisation, rows, columns)) = place else {
        return Err(Diagnostic::new(
            Blame::BadInput,
            format!("The images are grey, {height}x{width}: they do not fit the model's input."),
            "--data",
            "Give a model with one grey input at least as large.",
        ));
    };
    let (above, left) = ((rows - height) / 2, (columns - width) / 2);
    let values: Vec<i8> = quantisation
        .quantise(&(0..=255u8).map(|pixel| f32::from(pixel) / 255.0).collect::<Vec<_>>());
    let image = |pixels: &[u8]| {
        let mut input = vec![values[0]; rows * columns];
        for (row, line) in pixels.chunks_exact(width).enumerate() {
            let start = (above + row) * columns + left;
            for (to, pixel) in input[start..start + width].iter_mut().zip(line) {
                *to = values[usize::from(*pixel)];
            }
        }
        input
    };
    Ok(images.pixels.chunks_exact((height * width).max(1)).map(image).collect())
}

/// A threshold, as comma-separated values; heads say how figures came to be.
const COLUMNS: [CsvColumn<ThresholdRow>; 5] = [
    CsvColumn { head: "confidence", field: |row| row.confidence.to_string() },
    CsvColumn {
        head: "accuracy_percent_counted",
        field: |row| format!("{:.2}", *row.accuracy_percent),
    },
    CsvColumn { head: "shares_percent_counted", field: |row| shares(row, " ") },
    CsvColumn {
        head: "mean_latency_us_modelled",
        field: |row| format!("{:.0}", row.mean_latency_us.0),
    },
    CsvColumn {
        head: "change_percent_modelled",
        field: |row| format!("{:.1}", *row.change_percent),
    },
];

fn shares(row: &ThresholdRow, between: &str) -> String {
    let shares = row.shares_percent.iter().map(|share| format!("{share:.1}"));
    shares.collect::<Vec<_>>().join(between)
}

fn words(report: &ExitsReport) -> String {
    let ExitsReport { model, board, strategy, images, .. } = report;
    let mut text = format!(
        "{BOLD}{model} on {board}, strategy {strategy}, over {} images{BOLD:#}\n",
        number(*images as u64)
    );
    let percent = |percent: f64| format!("{percent:.2} %");
    let mut table = Table::new(&[
        ("exit alone", Side::Left),
        ("MACs (counted)", Side::Right),
        ("latency (modelled)", Side::Right),
        ("accuracy (counted)", Side::Right),
    ]);
    for exit in &report.exits {
        table.row([
            exit.output.clone(),
            number(*exit.macs),
            micros(exit.latency_us.0),
            exit.accuracy_percent.map_or_else(String::new, |all| percent(*all)),
        ]);
    }
    text += &table.print();
    if report.thresholds.is_empty() {
        text += &format!("\n{DIM}Accuracies need labelled images: --data FOLDER.{DIM:#}\n");
        return text;
    }
    let mut table = Table::new(&[
        ("confidence", Side::Right),
        ("accuracy (counted)", Side::Right),
        ("of the last exit", Side::Right),
        ("end at each exit, %", Side::Left),
        ("mean latency (modelled)", Side::Right),
        ("of the network without exits", Side::Right),
    ]);
    let last = report.exits.last().and_then(|exit| exit.accuracy_percent).map_or(0.0, |all| *all);
    for row in &report.thresholds {
        table.row([
            row.confidence.to_string(),
            percent(*row.accuracy_percent),
            format!("{:+.2}", *row.accuracy_percent - last),
            shares(row, " "),
            micros(row.mean_latency_us.0),
            format!("{:+.1} %", *row.change_percent),
        ]);
    }
    text.push('\n');
    text += &table.print();
    let best = report.best.and_then(|best| report.thresholds.get(best));
    // Writing to a string cannot fail.
    let _ = match best {
        Some(row) => writeln!(
            text,
            "\nWithin {MOST_LOST} points of the last exit's accuracy, {} is fastest: {:+.1} % of mean latency.",
            row.confidence, *row.change_percent
        ),
        None => writeln!(
            text,
            "\nNo threshold stays within {MOST_LOST} points of the last exit's accuracy."
        ),
    };
    text
}

/// Accuracy against latency, as in figure 5.11 of the thesis: exits alone, and thresholds.
fn scatter(report: &ExitsReport) -> Scatter {
    let point = |us: f64, percent: f64, name: &str| Point {
        x: us / 1e3,
        y: percent,
        title: name.to_owned(),
    };
    let alone = report.exits.iter().filter_map(|exit| {
        Some(point(exit.latency_us.0, exit.accuracy_percent.map(|all| *all)?, &exit.output))
    });
    let mut thresholds: Vec<Point> = report
        .thresholds
        .iter()
        .map(|row| {
            let name = row.confidence.to_string();
            point(row.mean_latency_us.0, *row.accuracy_percent, &name)
        })
        .collect();
    thresholds.sort_by(|a, b| a.x.partial_cmp(&b.x).unwrap_or(Ordering::Equal));
    let all = vec![
        Series { name: "exits alone".to_owned(), points: alone.collect() },
        Series { name: "thresholds of confidence".to_owned(), points: thresholds },
    ];
    Scatter {
        title: format!("Early exits of {} on {}", report.model, report.board),
        x: Axis { title: "mean latency, ms (modelled)".to_owned(), is_logarithmic: false },
        y: Axis { title: "accuracy, % (counted)".to_owned(), is_logarithmic: false },
        series: all,
        command: command(),
    }
}
