//! The files that show a schedule elsewhere.

use serde::Serialize;
use tilewright_app::{Blame, Diagnostic};
use tilewright_planner::Planned;
use tilewright_report::{
    Accesses, Pictured, PlacedTensor, Schedule, Timeline, Trace, badge_svg, film_svg, report_html,
    slices_csv,
};

use crate::args::ScheduleFiles;
use crate::outputs::Outputs;

/// The schedule of a plan, with what ran beside it if it did.
const fn schedule<'p>(planned: &'p Planned, run: Option<&'p Timeline>) -> Schedule<'p> {
    let Planned { report, memory, timeline: predicted, occupancy, .. } = planned;
    Schedule { report, memory, predicted, occupancy, run }
}

/// Writes the files that were asked for, of as many plans as there are, each with what ran beside it if it did.
///
/// # Errors
/// If one cannot be written, or is of one plan and there are several.
pub fn write(
    files: &ScheduleFiles,
    plans: &[(&Planned, Option<&Timeline>)],
    outputs: &mut Outputs,
) -> Result<(), Diagnostic> {
    let schedules = || plans.iter().map(|(planned, run)| schedule(planned, *run));
    outputs.put(files.perfetto.as_deref(), || {
        let schedules: Vec<_> = schedules().collect();
        let mut trace = Trace::new();
        schedules.iter().for_each(|schedule| trace.add(schedule));
        json(&trace)
    })?;
    let one = || match plans {
        [(planned, run)] => Ok((*planned, schedule(planned, *run))),
        _ => Err(Diagnostic::new(
            Blame::BadInput,
            format!("These files hold one plan, there are {}.", plans.len()),
            "--schedule-csv, --schedule-json, --film, --report, --badge",
            "Give one strategy.",
        )),
    };
    outputs.put(files.schedule_csv.as_deref(), || Ok(slices_csv(&one()?.1)))?;
    outputs.put(files.schedule_json.as_deref(), || json(&one()?.1))?;
    outputs.put(files.badge.as_deref(), || Ok(badge_svg(one()?.1.report)))?;
    outputs.put(files.report.as_deref(), || {
        let (planned, schedule) = one()?;
        Ok(with_pictures(planned, schedule, |pictured| report_html(pictured, &command())))
    })?;
    outputs.put(files.film.as_deref(), || {
        let (planned, schedule) = one()?;
        let film = with_pictures(planned, schedule, film_svg);
        film.ok_or_else(|| {
            let what = "There is no film: the plan has no steps that could run.";
            Diagnostic::new(Blame::BadInput, what, "--film", "Choose a strategy whose plan runs.")
        })
    })
}

fn with_pictures<T>(
    planned: &Planned,
    schedule: Schedule<'_>,
    draw: impl FnOnce(&Pictured<'_>) -> T,
) -> T {
    let (accesses, tensors) = (Accesses::of(&planned.plan), PlacedTensor::of(&planned.plan));
    draw(&Pictured { schedule, accesses: &accesses, tensors: &tensors })
}

/// The command that is being carried out.
fn command() -> String {
    let words = std::env::args().skip(1);
    words.fold("tilewright".to_owned(), |command, word| format!("{command} {word}"))
}

fn json(value: &impl Serialize) -> Result<String, Diagnostic> {
    serde_json::to_string(value).map_err(|error| Diagnostic::ours(format!("{error}."), "schedule"))
}
