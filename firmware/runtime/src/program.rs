//! Walks a program's core lane. Where rows of its input are yet to arrive it stops, and goes on once they have.

use crate::dispatch;
use crate::error::{Cause, RunError};
use crate::exit;
use crate::lanes::{LaneDriver, LaneError, NoEngines};
use crate::memory::Memory;
use crate::observe::Observer;
use tilewright_plan::image::LaneRecord;
use tilewright_plan::{After, Instruction, LaneKind, PlanImage, StepRecord, View};

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// All of the program is done.
    End,
    /// An exit was taken, and the run is over.
    Exit {
        /// Number of the output with which it was: those behind it are not there.
        output: u16,
    },
    /// Rows of the input are to arrive.
    Arrival(Awaited),
}

/// Rows of a program's input that a run needs now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Where they are put: a run of bytes.
    pub rows: View,
    /// The step of the core lane with which the run goes on then.
    pub next: u32,
}

/// Runs program `entry` (an index into [`PlanImage::entries`]) once, for as many frames as it takes, whose inputs
/// lie in memory already. Programs with lanes of transfer engines are refused.
///
/// # Errors
/// [`RunError`] names step and layer.
pub fn run_program(
    image: &PlanImage<'_>,
    entry: usize,
    memory: &mut Memory<'_>,
    observer: &mut impl Observer,
) -> Result<(), RunError> {
    run_with(image, entry, memory, &mut NoEngines, observer)
}

/// Like [`run_program`], with transfer engines. A program whose input arrives in rows is refused.
///
/// # Errors
/// [`RunError`] names step and layer.
pub fn run_with(
    image: &PlanImage<'_>,
    entry: usize,
    memory: &mut Memory<'_>,
    engines: &mut impl LaneDriver,
    observer: &mut impl Observer,
) -> Result<(), RunError> {
    match run_from(image, (entry, 0), memory, engines, observer)? {
        Reached::End | Reached::Exit { .. } => Ok(()),
        Reached::Arrival(Awaited { next, .. }) => {
            Err(RunError::Step { step: next.saturating_sub(1), layer: 0, cause: Cause::NoInput })
        }
    }
}

/// Like [`run_with`], from a step of the core lane on: as far as what it needs has arrived. Of an exit that is
/// taken engines end what they are about and begin nothing more.
///
/// # Errors
/// [`RunError`] names step and layer.
// A function of its own, so that boards can say where it lies.
#[inline(never)]
pub fn run_from(
    image: &PlanImage<'_>,
    (entry, first): (usize, u32),
    memory: &mut Memory<'_>,
    engines: &mut impl LaneDriver,
    observer: &mut impl Observer,
) -> Result<Reached, RunError> {
    let program = image.entries().get(entry).ok_or(RunError::NoProgram { index: entry })?;
    let is_core = |lane: &LaneRecord| lane.kind == LaneKind::Core as u16;
    let (core, others) = match image.entry_lanes(program) {
        [core, others @ ..] if is_core(core) && !others.iter().any(is_core) => (core, others),
        _ => return Err(RunError::CoreLane),
    };
    for (lane, record) in (1u8..).zip(others.iter().filter(|_| first == 0)) {
        let started = engines.start(image, lane, record, memory);
        started.map_err(|cause| RunError::Lane { lane, cause })?;
    }
    let (mut reader, mut record) = (image.reader(), StepRecord::default());
    for index in first..core.step_count {
        // Errors are large: where none is, none is moved about.
        if reader.step(core, index, &mut record).is_none() {
            return Err(RunError::Step { step: index, layer: 0, cause: Cause::BadStep });
        }
        let layer = record.layer;
        let fail = |cause| Err(RunError::Step { step: index, layer, cause });
        if let Err(cause) = wait(record.after, index, engines, memory) {
            return fail(Cause::Lane(cause));
        }
        let Some(instruction) = Instruction::from_record(&record) else {
            return fail(Cause::BadStep);
        };
        match instruction {
            Instruction::Compute { op, tile, first_view, order } => {
                let Some(compute) = reader.compute(op, tile, first_view) else {
                    return fail(Cause::BadStep);
                };
                observer.step_begin(index, layer);
                if let Err(cause) = dispatch::run(image, memory, &compute, order) {
                    return fail(cause);
                }
                observer.step_end(index, layer);
            }
            Instruction::Exit { output, least } => {
                observer.step_begin(index, layer);
                let taken = exit::is_taken(image, program, (output, least), memory, engines);
                observer.step_end(index, layer);
                let is_taken = match taken {
                    Ok(is_taken) => is_taken,
                    Err(cause) => return fail(cause),
                };
                if is_taken {
                    return Ok(Reached::Exit { output });
                }
            }
            Instruction::Arrive { view } => {
                let Some(rows) = image.view(view) else { return fail(Cause::BadStep) };
                return Ok(Reached::Arrival(Awaited { rows, next: index + 1 }));
            }
            Instruction::Copy { .. } => return fail(Cause::BadStep),
        }
        if !others.is_empty()
            && let Err(cause) = engines.core_completed(index, memory)
        {
            return fail(Cause::Lane(cause));
        }
    }
    // What engines still have to do belongs to this run.
    for (lane, record) in (1u8..).zip(others) {
        if let Some(step) = record.step_count.checked_sub(1) {
            let ended = engines.wait(After { lane, step }, memory);
            ended.map_err(|cause| RunError::Lane { lane, cause })?;
        }
    }
    Ok(Reached::End)
}

/// Waits for all that a step of the core lane needs, which its record says.
fn wait(
    after: [u32; 3],
    index: u32,
    engines: &mut impl LaneDriver,
    memory: &mut Memory<'_>,
) -> Result<(), LaneError> {
    for after in after.into_iter().filter_map(After::from_word) {
        if after.lane != 0 {
            engines.wait(after, memory)?;
        } else if after.step >= index {
            return Err(LaneError::Deadlock);
        }
    }
    Ok(())
}
