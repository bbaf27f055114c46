//! `tilewright explore exits`: what each early exit answers, and what thresholds of confidence come to.

use std::fmt::Write as _;

use tilewright_app::{Blame, Diagnostic, checked_plan, unsupported};
use tilewright_explore::exits::{Labelled, MOST_LOST, grey_inputs, report};
use tilewright_model::RunError;
use tilewright_model::int8::Interpreter;
use tilewright_planner::{Confidence, ExitError};
use tilewright_report::{ExitsReport, THRESHOLD_COLUMNS, WithKinds, sentence};
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
        let size = [images.height, images.width];
        let inputs = grey_inputs(model, size, &images.pixels).map_err(|error| {
            let what_to_do = "Give a model with one grey input at least as large.";
            Diagnostic::new(Blame::BadInput, sentence(&error.to_string()), "--data", what_to_do)
        })?;
        let ours = |error: RunError| {
            Diagnostic::ours(sentence(&error.to_string()), "reference interpreter")
        };
        let reference = Interpreter::new(model).map_err(ours)?;
        let run = |_: &mut (), index: usize| {
            let label = images.labels.get(index).copied().unwrap_or_default();
            Labelled::of(&reference, inputs[index].clone(), label).map_err(ours)
        };
        let take = |_, answer| {
            answers.push(answer);
            Ok(())
        };
        end = on_all_cores(inputs.len(), &cancel, "images", run, take)?;
    }
    let report = report(&planned.report, model, &answers, &confidences)
        .map_err(|error| wrong(&error, "--thresholds"))?;
    let record = WithKinds::of(report);
    told(
        &options.out,
        end,
        &record,
        &THRESHOLD_COLUMNS,
        &record.report.thresholds,
        |record| words(&record.report),
        |record| record.report.scatter(command()).svg(),
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
            row.shares(" "),
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
