//! The files that show a schedule elsewhere.

use serde::Serialize;
use tilewright_app::{Blame, Diagnostic};
use tilewright_planner::Planned;
use tilewright_report::{Schedule, Timeline, Trace, slices_csv};

use crate::args::ScheduleFiles;
use crate::outputs::Outputs;

/// The schedule of a plan, with what ran beside it if it did.
pub const fn schedule<'p>(planned: &'p Planned, run: Option<&'p Timeline>) -> Schedule<'p> {
    let Planned { report, memory, timeline: predicted, occupancy, .. } = planned;
    Schedule { report, memory, predicted, occupancy, run }
}

/// Writes the files that were asked for, of as many plans as there are.
///
/// # Errors
/// If one cannot be written, or is of one plan and there are several.
pub fn write(
    files: &ScheduleFiles,
    schedules: &[Schedule<'_>],
    outputs: &mut Outputs,
) -> Result<(), Diagnostic> {
    outputs.put(files.perfetto.as_deref(), || {
        let mut trace = Trace::new();
        schedules.iter().for_each(|schedule| trace.add(schedule));
        json(&trace)
    })?;
    let one = || match schedules {
        [one] => Ok(one),
        _ => Err(Diagnostic::new(
            Blame::BadInput,
            format!("These files hold one schedule, there are {}.", schedules.len()),
            "--schedule-csv, --schedule-json",
            "Give one strategy.",
        )),
    };
    outputs.put(files.schedule_csv.as_deref(), || Ok(slices_csv(one()?)))?;
    outputs.put(files.schedule_json.as_deref(), || json(one()?))
}

fn json(value: &impl Serialize) -> Result<String, Diagnostic> {
    serde_json::to_string(value).map_err(|error| Diagnostic::ours(format!("{error}."), "schedule"))
}
