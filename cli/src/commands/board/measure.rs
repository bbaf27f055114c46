//! `tilewright board measure`.

mod told;
mod utc;

use std::time::{Duration, SystemTime};
use tilewright_app::{
    Blame, Cancel, Diagnostic, Package, PlanFile, Prepared, RunOptions, RunResult, bytes_of,
    checked_plan, hexadecimal, plan_file, run_image, sha256, unsupported,
};
use tilewright_runner::{Dist, Emulator, Execute, Native, WorkerLimits, Workers};

use tilewright_board::Board;
use tilewright_check::reference::{expected_outputs, inputs_of_frames};
use tilewright_desk::{Circumstances, Emulated, Record};
use tilewright_model::Data;
use tilewright_plan::Micros;
use tilewright_planner::{Integrity, Options, Planned};
use tilewright_report::sentence;

use super::flash;
use super::talk::{Talked, resetter_of, with_board};
use crate::args::board::Measure;
use crate::commands::json;
use crate::desk::image::Image;
use crate::desk::ports::choose;
use crate::desk::writers::Way;
use crate::files::{self, MODEL_LIMIT};
use crate::outputs::{self, Readers};
use crate::progress::Teller;
use crate::{Said, interrupt, load};

/// Longest that the emulated run beside may take.
const LONGEST: Duration = Duration::from_secs(1800);

/// What is measured.
struct Measured<'m> {
    options: &'m Measure,
    board: Board,
    prepared: Prepared,
    planned: Planned,
    file: PlanFile,
    inputs: Vec<Data>,
    choices: Options,
    dist: Dist,
    cancel: Cancel,
}

/// Measures a model on a board.
pub fn measure(options: &Measure) -> Result<Said, Diagnostic> {
    // What keeps a board from answering is looked for before anything takes time.
    choose(options.at.port.as_deref())?;
    let mut teller = Teller::new();
    let measured = Measured::plan(options, &mut teller)?;
    teller.clear();
    let by = match options.flash {
        true => Some(measured.flash()?),
        false => resetter_of(&options.at, &measured.board, &options.flashing)?,
    };
    let image = measured.file.image();
    let (at, board, cancel) = (&options.at, &measured.board, &measured.cancel);
    let payload = bytes_of(&measured.inputs);
    let predicted = Duration::from_secs_f64(measured.predicted().0.max(0.0) / 1e6);
    let talked =
        with_board(at, board, image, (&payload, None), Some(predicted), by.as_ref(), cancel)?;
    let reference = measured.reference()?;
    let emulated = measured.emulate(&payload, &mut teller)?;
    teller.clear();
    let record = measured.record(&talked, &payload, &reference, emulated.as_ref())?;
    let written = json(&record)?;
    if let Some(path) = &options.output {
        outputs::write(path, Readers::All, written.as_bytes())?;
    }
    let text = if options.json.json {
        written
    } else {
        told::text(&record, &talked, board, options.output.as_deref())
    };
    let code = if record.verified { 0 } else { Blame::Fault.exit_code() };
    Ok(Said { text, code })
}

impl<'m> Measured<'m> {
    fn plan(options: &'m Measure, teller: &mut Teller) -> Result<Self, Diagnostic> {
        let cancel = interrupt::cancelled_by_ctrl_c()?;
        let mut tell = |progress| teller.tell(&progress);
        let host = Native::new(&mut tell, &cancel);
        let dist = Dist::find()?;
        let integrity = options.checked.integrity();
        let (board, choices) = load::asked(&options.on, integrity)?;
        if integrity == Integrity::Sealed {
            return Err(Diagnostic::new(
                Blame::BadInput,
                "Each sealed image has a key of its own, so that the one on the board is never this one.",
                "--encrypt",
                "Leave it out, or flash the image and use `tilewright board run`.",
            ));
        }
        let prepared = load::prepared(&options.on.quantised, &host)?;
        let inputs = load::input(&prepared, options.input.as_deref())?;
        let recipe = load::recipe(&options.from, &prepared.model)?;
        let choices = Options { recipe, ..choices };
        let model = &prepared.model;
        let planned = checked_plan(model, &board, options.strategy, &choices, &host)?;
        if let Some(problem) = unsupported(&planned, &board) {
            return Err(problem);
        }
        let file = plan_file(&planned, model, &board, integrity, &host)?;
        let inputs = inputs_of_frames(&inputs, planned.plan.frames());
        Ok(Self { options, board, prepared, planned, file, inputs, choices, dist, cancel })
    }

    /// Writes the image to the board; gives what resets it then.
    fn flash(&self) -> Result<Way, Diagnostic> {
        if !self.file.external_flash().is_empty() || !self.file.card().is_empty() {
            return Err(Diagnostic::new(
                Blame::BadInput,
                "The plan keeps weights outside of the microcontroller, which no tool writes along with the image.",
                "--flash",
                "Write the image with `tilewright image`, bring it and its store to the board as its README.txt \
                 says, and measure without --flash.",
            ));
        }
        let firmware = Package::new(
            self.dist.firmware(&self.board.id)?,
            &self.board,
            self.file.bytes().to_vec(),
        )
        .image()?;
        let wrong = |error| Diagnostic::ours(format!("{error}."), "temporary folder");
        let folder = tempfile::tempdir().map_err(wrong)?;
        let stem = load::stem(&self.options.on.quantised.file)?;
        let path = folder.path().join(format!("{stem}.elf"));
        outputs::write(&path, Readers::Owner, &firmware.elf)?;
        outputs::write(&path.with_extension("bin"), Readers::Owner, &firmware.bin)?;
        if let Some(uf2) = &firmware.uf2 {
            outputs::write(&path.with_extension("uf2"), Readers::Owner, uf2)?;
        }
        flash::write(&Image::read(&path, None)?, &self.options.flashing, &self.cancel)
    }

    /// The time that the planner predicts for what one program computes.
    fn predicted(&self) -> Micros {
        let report = &self.planned.report;
        let part = f64::from(self.planned.plan.frames()) / f64::from(report.frames.max(1));
        Micros(report.latency_us.map_or(0.0, |latency| latency.0 * part))
    }

    fn reference(&self) -> Result<Vec<Vec<i8>>, Diagnostic> {
        let stop = || self.cancel.is_cancelled();
        expected_outputs(&self.prepared.model, &self.inputs, &stop).map_err(|error| {
            self.cancel.check().err().unwrap_or_else(|| {
                Diagnostic::ours(sentence(&error.to_string()), "reference interpreter")
            })
        })
    }

    /// The same on the emulated board; nothing if it cannot run or takes a fault.
    fn emulate(
        &self,
        payload: &[u8],
        teller: &mut Teller,
    ) -> Result<Option<RunResult>, Diagnostic> {
        let workers = Workers::new(&self.dist);
        if workers.ready().is_err() {
            return Ok(None);
        }
        let run = RunOptions {
            card: self.choices.card.as_ref(),
            integrity: self.choices.integrity,
            ..RunOptions::of_frames(self.planned.plan.frames())
        };
        let emulator = Emulator {
            dist: &self.dist,
            executor: &workers,
            limits: WorkerLimits { wall: LONGEST, ..WorkerLimits::default() },
        };
        let mut tell = |progress| teller.tell(&progress);
        let host = Native::new(&mut tell, &self.cancel).with(emulator);
        let done = run_image(&run, &self.board, &self.file, payload, false, &host);
        match done {
            Ok(done) => Ok(Some(done.result).filter(|result| result.fault.is_none())),
            Err(problem) if problem.kind == Blame::Cancelled => Err(problem),
            // What the board said is worth keeping without it.
            Err(_) => Ok(None),
        }
    }

    fn record(
        &self,
        talked: &Talked,
        payload: &[u8],
        reference: &[Vec<i8>],
        emulated: Option<&RunResult>,
    ) -> Result<Record, Diagnostic> {
        let date = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let measured = tilewright_desk::Measured {
            outcome: &talked.outcome,
            measured_on: talked.measured_on,
            report: &self.planned.report,
            clock: self.board.core.clock.hertz,
            frames: self.planned.plan.frames(),
            reference,
            emulated: emulated.map(|run| Emulated {
                cycles: *run.cycles,
                instructions: *run.instructions,
                layers: &run.layers,
            }),
        };
        Ok(measured.record(Circumstances {
            port: talked.port.to_string(),
            date_utc: utc::iso_8601(date.as_secs()),
            board_revision: self.options.revision.clone(),
            plan_id: hexadecimal(self.file.image().plan_id()),
            model_sha256: self.model_sha256()?,
            input_sha256: hexadecimal(&sha256(payload)),
        }))
    }

    fn model_sha256(&self) -> Result<Option<String>, Diagnostic> {
        let path = &self.options.on.quantised.file.model;
        if load::of_zoo(path)?.is_some() {
            return Ok(None);
        }
        let bytes = files::read(path, "model", MODEL_LIMIT)?;
        Ok(Some(hexadecimal(&sha256(&bytes))))
    }
}
