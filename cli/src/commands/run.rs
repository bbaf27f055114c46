//! `tilewright run`.

use std::path::Path;

use tilewright_planner::{Planned, Strategy};
use tilewright_server::pipeline::{Machine, Prepared, checked_plan, run_plan};
use tilewright_server::{Blame, Config, Dist, Done, Execute, Problem, Workers};

use super::json;
use crate::args::{OnBoard, Run};
use crate::{Said, load, progress, report};

/// A run with all that it rests on.
#[derive(Debug)]
pub struct Ran {
    /// The model and how it was quantised.
    pub prepared: Prepared,
    /// The plan.
    pub planned: Planned,
    /// What the emulated board did.
    pub done: Done,
}

/// Runs a model on the emulated board.
pub fn run(options: &Run) -> Result<Said, Problem> {
    let ran = one(&options.on, options.input.as_deref(), options.strategy)?;
    let text = if options.json.json {
        json(&report::run_json(&ran)?)?
    } else {
        let board = load::board(&options.on.board)?;
        let mut text = report::preparation(&ran.prepared);
        text.push_str(&report::run(&ran, &board));
        text
    };
    let well = ran.done.result.fault.is_none() && ran.done.result.verified != Some(false);
    Ok(Said { text, code: if well { 0 } else { Blame::Fault.exit_code() } })
}

/// Plans and runs.
///
/// # Errors
/// Whatever keeps the run from a result; a fault or a difference is a result.
pub fn one(on: &OnBoard, input: Option<&Path>, strategy: Strategy) -> Result<Ran, Problem> {
    let cancel = load::cancelled_by_ctrl_c()?;
    let mut teller = progress::Teller::new();
    let mut tell = |p| teller.tell(&p);
    let board = load::board(&on.board)?;
    // Both are looked for before the work, so that their absence costs no time.
    let dist = Dist::find()?;
    let workers = Workers::new(&dist);
    workers.ready()?;
    dist.firmware(&board.id)?;
    let prepared = load::prepared(&on.quantised, &mut tell, &cancel)?;
    let inputs = load::input(&prepared, input)?;
    let planned =
        checked_plan(&prepared.model, &board, strategy, &load::options(on), &mut tell, &cancel)?;
    let machine = machine(&workers, &dist);
    let done = run_plan(&machine, &board, &prepared.model, &planned, &inputs, &mut tell, &cancel)?;
    drop(teller);
    Ok(Ran { prepared, planned, done })
}

/// The emulator within the limits of a single run.
fn machine<'m>(workers: &'m Workers, dist: &'m Dist) -> Machine<'m> {
    let config = Config::default();
    Machine {
        executor: workers,
        dist,
        worker: config.worker,
        instructions: config.instructions,
        console_bytes: config.console_bytes,
    }
}
