//! Small models on emulated boards, planned with strategy `resident`, each run compared with the reference.

use std::time::Duration;

use tilewright_app::{Cancel, Diagnostic, RunOptions, checked_plan, run_plan};
use tilewright_board::Board;
use tilewright_model::{Data, Model};
use tilewright_planner::{Options, Strategy};
use tilewright_report::{OperatorRun, sentence};
use tilewright_runner::{Dist, Emulator, Execute, Native, WorkerLimits, Workers};

/// Most wall-clock time of a run. A run that takes that long ends the experiment; one that only has to share this
/// computer with other work must not.
const LONGEST: Duration = Duration::from_secs(3600);

/// What runs models, each in a worker process of its own; threads share it.
pub struct Emulation<'c> {
    dist: Dist,
    workers: Workers,
    cancel: &'c Cancel,
}

/// What became of a model.
pub struct Emulated {
    /// Cycles of its layers by the cost tables; nothing without a plan.
    pub predicted_cycles: Option<u64>,
    /// Its run, bit-equal to the reference; or why there is none.
    pub ran: Result<Ran, String>,
}

/// What a run counted.
pub struct Ran {
    /// Inside of kernels.
    pub kernels: OperatorRun,
    /// From the beginning of the frame to its end.
    pub frame: OperatorRun,
}

impl<'c> Emulation<'c> {
    /// What runs models on these boards.
    ///
    /// # Errors
    /// If worker or firmware were not built.
    pub fn on(boards: &[&Board], cancel: &'c Cancel) -> Result<Self, Diagnostic> {
        let dist = Dist::find()?;
        let workers = Workers::new(&dist);
        workers.ready()?;
        for board in boards {
            dist.firmware(&board.id)?;
        }
        Ok(Self { dist, workers, cancel })
    }

    /// Plans a model and runs it, with inputs that vary.
    ///
    /// # Errors
    /// If the plan is wrong, or the run faults or differs from the reference, which is our fault; or somebody wants
    /// an end. A model that does not fit is no error.
    pub fn run(&self, model: &Model, board: &Board) -> Result<Emulated, Diagnostic> {
        let mut silent = |_| {};
        let limits = WorkerLimits { wall: LONGEST, ..WorkerLimits::default() };
        let emulator = Emulator { dist: &self.dist, executor: &self.workers, limits };
        let host = Native::new(&mut silent, self.cancel).with(emulator);
        let planned = checked_plan(model, board, Strategy::Resident, &Options::default(), &host)?;
        let report = &planned.report;
        let predicted_cycles = report.layers.iter().map(|layer| *layer.cycles).sum();
        let predicted_cycles = report.runnable.then_some(predicted_cycles);
        if let Some(why) = report.no_program().or_else(|| report.no_room()) {
            return Ok(Emulated { predicted_cycles, ran: Err(sentence(&why.what)) });
        }
        let varied = |elements: usize| (0..elements).map(|at| (at * 37 % 251) as u8 as i8);
        let input = |id| varied(model.tensor(id).shape.elements().unwrap_or(0)).collect();
        let inputs: Vec<Data> = model.inputs.iter().map(|id| Data::I8(input(*id))).collect();
        let done = run_plan(&RunOptions::default(), board, model, &planned, &inputs, &host)?;
        let result = done.result;
        if let Some(fault) = &result.fault {
            return Err(Diagnostic::ours(fault.message.clone(), &*model.name));
        }
        if result.verified == Some(false) {
            let what = "It differs from the reference interpreter.";
            return Err(Diagnostic::ours(what, &*model.name));
        }
        let kernels = OperatorRun {
            instructions: result.layers.iter().map(|layer| *layer.instructions).sum(),
            cycles: result.layers.iter().map(|layer| layer.cycles.0).sum(),
        };
        let cycles = result.cycles.0.into();
        let frame = OperatorRun { instructions: result.instructions, cycles };
        Ok(Emulated { predicted_cycles, ran: Ok(Ran { kernels, frame }) })
    }
}
