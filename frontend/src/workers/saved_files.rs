//! Files that show elsewhere what happened when: a trace for Perfetto, a table, everything; what a board said.

use tilewright_desk::Record;
use tilewright_model::Model;
use tilewright_report::{
    Accesses, MemoryMap, Occupancy, Pictured, PlacedTensor, PlanReport, Schedule, Timeline, Trace,
    film_svg, report_html,
};

use super::import::file_stem;
use super::plan::{self, ours};
use super::{Outcome, sha256};
use crate::message::{FileFacts, ImportReply, PlanSettings, ScheduleFile};

/// Makes a file of what the page has encoded; `again` is the link that leads to the plan.
///
/// # Errors
/// If the bytes are no schedule.
pub fn file(file: ScheduleFile, bytes: &[u8], again: &str) -> Outcome<ImportReply> {
    type Facts =
        (PlanReport, MemoryMap, Timeline, Occupancy, Option<Timeline>, Accesses, Vec<PlacedTensor>);
    let facts: Facts = postcard::from_bytes(bytes).map_err(|error| ours("schedule", &error))?;
    let (report, memory, predicted, occupancy, run, accesses, tensors) = facts;
    let schedule = Schedule {
        report: &report,
        memory: &memory,
        predicted: &predicted,
        occupancy: &occupancy,
        run: run.as_ref(),
    };
    let pictured = Pictured { schedule, accesses: &accesses, tensors: &tensors };
    let text = match file {
        ScheduleFile::Perfetto | ScheduleFile::InPerfetto => {
            let mut trace = Trace::new();
            trace.add(&schedule);
            serde_json::to_string(&trace)
        }
        ScheduleFile::Csv => Ok(tilewright_report::slices_csv(&schedule)),
        ScheduleFile::Json => serde_json::to_string(&schedule),
        ScheduleFile::Film => Ok(film_svg(&pictured).unwrap_or_default()),
        ScheduleFile::Report => Ok(report_html(&pictured, again)),
    };
    let text = text.map_err(|error| ours("schedule", &error))?;
    Ok(named(&report, file.ending(), text))
}

/// Writes the recipe of the plan that settings make.
///
/// # Errors
/// If they make none.
pub fn recipe(model: &Model, settings: &PlanSettings) -> Outcome<ImportReply> {
    let (planned, _) = plan::make(model, settings)?;
    Ok(named(&planned.report, "recipe.json", planned.recipe.text(model)))
}

/// Writes the record of a measurement, with the sum of the input that was sent.
///
/// # Errors
/// If the bytes are no record.
pub fn record(bytes: &[u8], input: &[u8]) -> Outcome<ImportReply> {
    let record: Record = postcard::from_bytes(bytes).map_err(|error| ours("record", &error))?;
    let record = Record { input_sha256: sha256(input), ..record };
    let text = serde_json::to_string_pretty(&record).map_err(|error| ours("record", &error))?;
    let stem = format!("{}-{}", record.board, file_stem(&record.model));
    Ok(saved(format!("{stem}.json"), text + "\n"))
}

/// A text as a file that a plan names.
fn named(report: &PlanReport, ending: &str, text: String) -> (ImportReply, Vec<Vec<u8>>) {
    let stem = format!("{}-{}-{}", file_stem(&report.model), report.board, report.strategy);
    saved(format!("{stem}-{ending}"), text)
}

fn saved(name: String, text: String) -> (ImportReply, Vec<Vec<u8>>) {
    let bytes = text.into_bytes();
    let facts = FileFacts { name, bytes: bytes.len() as u64, sha256: sha256(&bytes) };
    (ImportReply::Saved(facts), vec![bytes])
}
