//! Files that show a schedule elsewhere: a trace for Perfetto, a table, everything.

use serde::Serialize;
use tilewright_report::{MemoryMap, Occupancy, PlanReport, Timeline, Trace};

use super::import::file_stem;
use super::plan::ours;
use super::{Outcome, sha256};
use crate::message::{FileFacts, ImportReply, ScheduleFile};

/// What a JSON file holds.
#[derive(Serialize)]
struct Everything<'s> {
    report: &'s PlanReport,
    memory: &'s MemoryMap,
    predicted: &'s Timeline,
    occupancy: &'s Occupancy,
    run: Option<&'s Timeline>,
}

/// Makes a file of what the page has encoded.
///
/// # Errors
/// If the bytes are no schedule.
pub fn file(file: ScheduleFile, bytes: &[u8]) -> Outcome<ImportReply> {
    type Facts = (PlanReport, MemoryMap, Timeline, Occupancy, Option<Timeline>);
    let facts: Facts = postcard::from_bytes(bytes).map_err(|error| ours("schedule", &error))?;
    let (report, memory, predicted, occupancy, run) = facts;
    let text = match file {
        ScheduleFile::Perfetto => {
            let mut trace = Trace::new();
            for timeline in [Some(&predicted), run.as_ref()].into_iter().flatten() {
                trace.add(&report, &memory, timeline);
            }
            serde_json::to_string(&trace)
        }
        ScheduleFile::Csv => {
            let timelines = [("predicted", Some(&predicted)), ("run", run.as_ref())];
            let all = timelines.into_iter().filter_map(|(word, of)| Some((word, of?)));
            Ok(tilewright_report::slices_csv(&report, all))
        }
        ScheduleFile::Json => {
            let (report, memory, predicted) = (&report, &memory, &predicted);
            let (occupancy, run) = (&occupancy, run.as_ref());
            serde_json::to_string(&Everything { report, memory, predicted, occupancy, run })
        }
    };
    let bytes = text.map_err(|error| ours("schedule", &error))?.into_bytes();
    let stem = format!("{}-{}-{}", file_stem(&report.model), report.board, report.strategy);
    let name = format!("{stem}-{}", file.ending());
    let facts = FileFacts { name, bytes: bytes.len() as u64, sha256: sha256(&bytes) };
    Ok((ImportReply::Schedule(facts), vec![bytes]))
}
