//! Runs models on the emulated board: plan, proof, image, firmware, worker.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use tilewright_board::{Board, Support};
use tilewright_check::reference;
use tilewright_image::{FirmwareImage, Images};
use tilewright_model::{Data, Model};
use tilewright_plan::image::{AlignedBytes, CRC, Expected, input_frames};
use tilewright_plan::{Plan, PlanImage, Space};
use tilewright_planner::{Integrity, Objective, Options, Strategy};
use tilewright_protocol::{CardJob, Engine, Job, Limits, RunOutcome, Watch};
use tilewright_runner::{Runner, WorkerLimits};
use tilewright_seal::{KEY_BYTES, Key};

/// What weights are sealed with.
const KEY: Key = Key::new([0x5a; KEY_BYTES]);

/// What a run on the emulated board left.
pub struct Emulated {
    /// The plan that ran.
    pub plan: Plan,
    /// What the worker said.
    pub outcome: RunOutcome,
    /// The first difference from the reference interpreter, if there is one.
    pub mismatch: Option<reference::Mismatch>,
}

/// The project's folder.
#[must_use]
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder of built things: what `TILEWRIGHT_DIST` names, else the project's.
#[must_use]
pub fn dist() -> PathBuf {
    std::env::var_os("TILEWRIGHT_DIST").map_or_else(|| project().join("dist"), PathBuf::from)
}

/// The boards that can be emulated.
#[must_use]
pub fn boards() -> Vec<Board> {
    let mut boards = tilewright_board::all();
    boards.retain(|board| board.support == Support::Firmware);
    boards
}

/// Those, and boards that exist in the emulator alone: together they have every core.
#[must_use]
pub fn of_every_core() -> Vec<Board> {
    let mut boards = tilewright_board::all();
    boards.retain(|board| board.firmware.is_some());
    boards
}

/// These boards, and those of them whose firmware has small kernels.
#[must_use]
pub fn with_small(mut boards: Vec<Board>) -> Vec<Board> {
    let small: Vec<Board> = boards.iter().filter_map(Board::small).collect();
    boards.extend(small);
    boards
}

/// Does this for each board, for several at a time.
pub fn on_each(boards: &[Board], test: impl Fn(&Board) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(board) = boards.get(next.fetch_add(1, Ordering::Relaxed)) {
                    test(board);
                }
            });
        }
    });
}

/// The board's firmware.
///
/// # Errors
/// Says what to run if it is not there.
pub fn firmware(board: &Board) -> Result<Vec<u8>, String> {
    let path = dist().join("firmware").join(&board.id).with_extension("elf");
    fs::read(&path).map_err(|e| format!("{}: {e}; run `cargo xtask build`", path.display()))
}

/// Plans `model` with `strategy`, proves the plan and runs it on `inputs`.
///
/// # Errors
/// What went wrong on the way; a fault of the emulated board is in the outcome.
pub fn run(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    inputs: &[Data],
) -> Result<Emulated, String> {
    run_frames(model, board, strategy, inputs, 1)
}

/// The same as often as there are frames, one after the other; counts and outputs are the last one's.
///
/// # Errors
/// As [`run`].
pub fn run_frames(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    inputs: &[Data],
    frames: usize,
) -> Result<Emulated, String> {
    run_frames_with(model, board, strategy, inputs, frames, &least())
}

/// The same with these options.
///
/// # Errors
/// As [`run`].
pub fn run_frames_with(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    inputs: &[Data],
    frames: usize,
    options: &Options,
) -> Result<Emulated, String> {
    let plan = proved(model, board, strategy, options)?;
    run_plan(plan, model, board, inputs, frames, options)
}

/// The same for a plan that was made before.
///
/// # Errors
/// As [`run`].
pub fn run_plan(
    plan: Plan,
    model: &Model,
    board: &Board,
    inputs: &[Data],
    frames: usize,
    options: &Options,
) -> Result<Emulated, String> {
    let inputs = &reference::inputs_of_frames(inputs, plan.frames());
    let mut job = job_of(&plan, model, board, inputs, options)?;
    job.frames = job.frames.iter().cycle().take(job.frames.len() * frames).cloned().collect();
    let outputs = reference::layer_outputs(&plan);
    job.watches = watches(&outputs, board);
    let outcome = run_job(job)?;
    let expected = reference::expected(&plan, model, inputs).map_err(|e| e.to_string())?;
    let found: Vec<_> = outputs
        .into_iter()
        .zip(&outcome.watched)
        .map(|(output, bytes)| {
            let bytes = bytes.as_deref().unwrap_or_default();
            let read = reference::Read { space: output.space, start: output.offset, bytes };
            (output, output.elements(&read))
        })
        .collect();
    let mismatch = reference::first_mismatch(&plan, &expected, &found);
    Ok(Emulated { plan, outcome, mismatch })
}

/// The places of layers' outputs on a board.
#[must_use]
pub fn watches(outputs: &[reference::LayerOutput], board: &Board) -> Vec<Watch> {
    let place = |output: &reference::LayerOutput| {
        let base = match output.space {
            Space::Arena => board.firmware.as_ref()?.arena_address,
            Space::Card => 0,
            space => board.external(space)?.address?,
        };
        Some(Watch {
            lane: output.lane,
            step: output.step,
            on_card: output.space == Space::Card,
            address: base + output.offset as u32,
            rows: 1,
            row_bytes: output.bytes as u32,
            pitch: output.bytes as u32,
        })
    };
    outputs.iter().filter_map(place).collect()
}

/// A proved plan of `model` with as little memory as the strategy can, and the job that runs it on `inputs`
/// with nothing watched.
///
/// # Errors
/// What went wrong on the way.
pub fn job(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    inputs: &[Data],
) -> Result<(Plan, Job), String> {
    job_with(model, board, strategy, inputs, &least())
}

/// As little memory as the strategy can.
fn least() -> Options {
    Options { objective: Objective::Memory, ..Options::default() }
}

/// The same with these options.
///
/// # Errors
/// As [`job`].
pub fn job_with(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    inputs: &[Data],
    options: &Options,
) -> Result<(Plan, Job), String> {
    let plan = proved(model, board, strategy, options)?;
    let job = job_of(&plan, model, board, inputs, options)?;
    Ok((plan, job))
}

/// A proved plan of `model`.
///
/// # Errors
/// If there is none.
pub fn proved(
    model: &Model,
    board: &Board,
    strategy: Strategy,
    options: &Options,
) -> Result<Plan, String> {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    let planned =
        tilewright_planner::plan(model, board, strategy, options).map_err(|e| text(&e))?;
    tilewright_check::check(&planned.plan, model, board).map_err(|e| text(&e))?;
    Ok(planned.plan)
}

/// The job that runs a plan on `inputs`.
///
/// # Errors
/// As [`job`].
pub fn job_of(
    plan: &Plan,
    model: &Model,
    board: &Board,
    inputs: &[Data],
    options: &Options,
) -> Result<Job, String> {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    let images = match options.integrity {
        Integrity::Trusted => tilewright_image::images(plan, model),
        Integrity::Checked => tilewright_image::checked_images(plan, model),
        Integrity::Sealed => tilewright_image::sealed_images(plan, model, KEY),
    };
    let Images { plan: image, mut stores } = images.map_err(|e| text(&e))?;
    let firmware = FirmwareImage::new(&firmware(board)?, &image, board).map_err(|e| text(&e))?;
    let payload: Vec<u8> = inputs
        .iter()
        .filter_map(Data::as_i8)
        .flat_map(|values| values.iter().map(|value| value.cast_unsigned()))
        .collect();
    let aligned = AlignedBytes::copy_of(&image);
    let expected = Expected { board: &board.id, space_bytes: board.space_bytes() };
    let read = PlanImage::read(aligned.bytes(), &expected).map_err(|e| text(&e))?;
    let frames = input_frames(&read, &payload).map_err(|e| text(&e))?;
    let mut store = |space| {
        let found = stores.iter_mut().find(|(there, _)| *there == space);
        found.map(|(_, bytes)| std::mem::take(bytes)).unwrap_or_default()
    };
    let (external_flash, card) = (store(Space::ExternalFlash), store(Space::Card));
    let class = options.card_in(board).filter(|_| !card.is_empty());
    let card = class.map(|class| CardJob {
        class: class.id,
        image: card.into(),
        bytes: class.bytes.0,
        faults: Vec::new(),
    });
    Ok(Job {
        external_flash,
        card,
        frames: vec![frames],
        ..Job::new(
            board.id.clone(),
            firmware.elf,
            Limits { instructions: 20_000_000_000, console_bytes: 1 << 20 },
        )
    })
}

/// One job of so many, by its firmware's checksum, runs on both engines in lock step, which takes long; the others run
/// on the own core.
const LOCK_STEP_EVERY: u32 = 32;

/// Runs a job in the built worker.
///
/// # Errors
/// What kept it from an outcome.
pub fn run_job(job: Job) -> Result<RunOutcome, String> {
    let is_compared = CRC.checksum(&job.elf).is_multiple_of(LOCK_STEP_EVERY);
    run_job_on(if is_compared { Engine::Both } else { Engine::Own }, job)
}

/// The same on an engine.
///
/// # Errors
/// As [`run_job`].
pub fn run_job_on(engine: Engine, job: Job) -> Result<RunOutcome, String> {
    let limits = WorkerLimits { wall: Duration::from_secs(300), memory_bytes: 4 << 30 };
    Runner::new(dist().join("bin/tilewright-worker"))
        .on(engine)
        .run(job, &limits, &mut |_| {}, &AtomicBool::new(false))
        .map_err(|e| e.to_string())
}
