//! `tilewright run`.

use std::path::{Path, PathBuf};
use std::time::Duration;
use tilewright_app::{
    Blame, Cancel, CardWish, Diagnostic, Done, Engine, Host, Mode, Prepared, RunOptions, Use,
    checked_plan, run_plan, unsupported,
};
use tilewright_runner::{Dist, Emulator, Execute, Native, WorkerLimits, Workers};

use tilewright_board::Board;
use tilewright_model::Data;
use tilewright_plan::image::ENTRY;
use tilewright_planner::{Integrity, Options, Planned, Strategy};

use super::json;
use crate::args::{Limits, OnBoard, Quantised, Run};
use crate::outputs::Outputs;
use crate::progress::Teller;
use crate::schedule;
use crate::several::{self, Several};
use crate::{Said, hot, interrupt, load, report};

/// Longest that a run may take: nobody else waits for the worker, and Ctrl-C ends it.
const LONGEST: Duration = Duration::from_secs(1800);

/// A model on an emulated board, ready to be planned and run.
pub struct Emulated {
    pub board: Board,
    /// The model and how it was quantised.
    pub prepared: Prepared,
    inputs: Vec<Data>,
    options: Options,
    dist: Dist,
    workers: Workers,
    cancel: Cancel,
    teller: Teller,
    mode: Mode,
    card_faults: Vec<CardWish>,
    limits: Vec<u32>,
    quantised: Quantised,
    /// Models beside the first, in the same image.
    others: Vec<PathBuf>,
}

/// A plan, and what the emulated board did with it; nothing if the plan does not fit.
pub struct Ran {
    /// The plan.
    pub planned: Planned,
    /// The run.
    pub done: Option<Done>,
}

impl Emulated {
    /// Reads model and input. What running needs is looked for before, so that its absence costs
    /// no time.
    ///
    /// # Errors
    /// If something is missing, cannot be read, or does not suit.
    pub fn new(
        on: &OnBoard,
        integrity: Integrity,
        input: Option<&Path>,
        mode: Mode,
    ) -> Result<Self, Diagnostic> {
        let cancel = interrupt::cancelled_by_ctrl_c()?;
        let (board, options) = load::asked(on, integrity)?;
        let dist = Dist::find()?;
        let workers = Workers::new(&dist);
        workers.ready()?;
        dist.firmware(&board.id)?;
        let mut teller = Teller::new();
        let prepared =
            load::prepared(&on.quantised, &Native::new(&mut |p| teller.tell(&p), &cancel))?;
        let inputs = load::input(&prepared, input)?;
        Ok(Self {
            board,
            prepared,
            inputs,
            options,
            dist,
            workers,
            cancel,
            teller,
            mode,
            card_faults: Vec::new(),
            limits: Vec::new(),
            quantised: on.quantised.clone(),
            others: Vec::new(),
        })
    }

    /// The same on another engine.
    #[must_use]
    pub fn on(self, engine: Engine) -> Self {
        Self { workers: self.workers.on(engine), ..self }
    }

    /// The same with these things going wrong with the card.
    #[must_use]
    pub fn with_card_faults(self, card_faults: &[CardWish]) -> Self {
        Self { card_faults: card_faults.to_vec(), ..self }
    }

    /// Plans with `strategy` and runs the plan, if it fits.
    ///
    /// # Errors
    /// Whatever keeps the run from a result; a fault or a difference is a result.
    pub fn run(&mut self, strategy: Strategy) -> Result<Ran, Diagnostic> {
        let Self { board, prepared, inputs, options, dist, workers, cancel, teller, .. } = self;
        let mut tell = |p| teller.tell(&p);
        let limits = WorkerLimits { wall: LONGEST, ..WorkerLimits::default() };
        let host =
            Native::new(&mut tell, cancel).with(Emulator { dist, executor: workers, limits });
        let model = &prepared.model;
        let planned = checked_plan(model, board, strategy, options, &host)?;
        match unsupported(&planned, board) {
            Some(Diagnostic { kind: Blame::DoesNotFit, .. }) => {
                return Ok(Ran { planned, done: None });
            }
            Some(problem) => return Err(problem),
            None => {}
        }
        let all = match self.others.as_slice() {
            [] => None,
            others => {
                let how = (&self.quantised, &*board, strategy, &*options);
                Some(several::joined((prepared, &planned), others, how, &host)?)
            }
        };
        if let Some(all) = all {
            let ran = ran_in_turn(&all, (board, options, self.mode), &host)?;
            teller.clear();
            return Ok(ran);
        }
        let run = RunOptions {
            comparing: Some(LONGEST),
            card: options.card.as_ref(),
            mode: self.mode,
            integrity: options.integrity,
            card_faults: &self.card_faults,
            limits: &self.limits,
            ..RunOptions::of_frames(planned.plan.frames())
        };
        let done = run_plan(&run, board, model, &planned, inputs, &host)?;
        teller.clear();
        Ok(Ran { planned, done: Some(done) })
    }
}

/// Runs all models of an image in turn, as often as there are models, each time another one last: that one is compared
/// layer by layer, and the arena it runs in is what the others left.
fn ran_in_turn(
    all: &Several,
    (board, options, mode): (&Board, &Options, Mode),
    host: &dyn Host,
) -> Result<Ran, Diagnostic> {
    let Several { model, planned, inputs } = all;
    if let Some(problem) = unsupported(planned, board) {
        return Err(problem);
    }
    let others = 0..planned.plan.subnetworks.len();
    let others = others.map(|index| planned.plan.entry_of_subnetwork(index) as u32);
    let entries = std::iter::once(0).chain(others);
    let mut limits: Vec<u32> = entries.map(|entry| ENTRY + entry).collect();
    let mut last: Option<Done> = None;
    for _ in 0..limits.len() {
        limits.rotate_left(1);
        let run = RunOptions {
            comparing: Some(LONGEST),
            card: options.card.as_ref(),
            mode,
            integrity: options.integrity,
            limits: &limits,
            ..RunOptions::default()
        };
        let mut done = run_plan(&run, board, model, planned, inputs, host)?;
        if let Some(before) = last.take().filter(|_| done.result.verified != Some(false)) {
            done.result.verified =
                done.result.verified.zip(before.result.verified).map(|(a, b)| a && b);
            *done.result.compared_layers += *before.result.compared_layers;
        }
        let is_over = done.result.fault.is_some() || done.result.verified == Some(false);
        last = Some(done);
        if is_over {
            break;
        }
    }
    Ok(Ran { planned: planned.clone(), done: last })
}

/// Runs a model on the emulated board.
pub fn run(options: &Run) -> Result<Said, Diagnostic> {
    if options.hot && options.mode == Mode::Sampled {
        return Err(Diagnostic::new(
            Blame::BadInput,
            "A sampled run passes over steps, so that it cannot say where all cycles went.",
            "--hot",
            "Leave out `--mode sampled`.",
        ));
    }
    let mut read = load::files(&options.on.quantised);
    read.extend(options.input.clone());
    let files = options.schedule.all();
    let mut outputs = Outputs::new(options.json.json, files, &read)?;
    let integrity = options.checked.integrity();
    let emulated = Emulated::new(&options.on, integrity, options.input.as_deref(), options.mode)?;
    let mut emulated = emulated.on(options.engine).with_card_faults(&options.card_faults);
    if let Some(Limits(limits)) = &options.limits {
        emulated.options.exits.subnetworks = true;
        emulated.limits.clone_from(limits);
    }
    emulated.others.clone_from(&options.with);
    emulated.options.recipe = load::recipe(&options.from, &emulated.prepared.model)?;
    let Ran { planned, done } = emulated.run(options.strategy)?;
    let used = Use::new(&emulated.board, &emulated.options, options.on.period);
    let Some(mut done) = done else {
        if options.json.json {
            let energy_and_wear = used.of_plan(&planned);
            let text = json(&report::plan_json(&planned, &emulated.prepared, &energy_and_wear)?)?;
            return Ok(Said { text, code: Blame::DoesNotFit.exit_code() });
        }
        let unknown = || Diagnostic::ours("A plan does not fit without a reason.", "planner");
        return Err(unsupported(&planned, &emulated.board).unwrap_or_else(unknown));
    };
    let energy_and_wear = used.of_run(&planned, &done.result);
    if !options.hot {
        done.result.layers.iter_mut().for_each(|layer| layer.profile = None);
    }
    let ran = (&planned, Some(&done.result.timeline));
    schedule::write(&options.schedule, &[ran], &mut outputs)?;
    let text = if let Some(text) = outputs.said() {
        text
    } else if options.json.json {
        json(&report::run_json(&planned.report, &emulated.prepared, &done, &energy_and_wear)?)?
    } else {
        let mut text = report::preparation(&emulated.prepared);
        text.push_str(&report::run(
            &planned.report,
            &done.result,
            &emulated.board,
            &energy_and_wear,
        ));
        text.push_str(&hot::text(&done.result.layers));
        text
    };
    let code = match &done.result.fault {
        Some(fault) => Blame::from(fault.kind).exit_code(),
        None if done.result.verified == Some(false) => Blame::Fault.exit_code(),
        None => 0,
    };
    Ok(Said { text, code })
}
