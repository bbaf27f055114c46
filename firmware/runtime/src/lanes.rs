//! Lanes of transfer engines.

use core::fmt;

use crate::memory::Memory;
use tilewright_plan::image::LaneRecord;
use tilewright_plan::{After, LaneKind, PlanImage};

/// Why a lane cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneError {
    /// Nothing here runs lanes of this kind.
    NoEngine(LaneKind),
    /// A step waits for one that can never be complete.
    Deadlock,
    /// The engine failed for good at a step.
    Failed {
        /// The step, in the engine's lane.
        step: u32,
    },
}

impl fmt::Display for LaneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEngine(kind) => write!(f, "this firmware drives no {kind:?} engine"),
            Self::Deadlock => f.write_str("it waits for a step that cannot be complete"),
            Self::Failed { step } => write!(f, "the transfer of step {step} failed"),
        }
    }
}

/// Runs the lanes of transfer engines beside the core's: engines chain from interrupts, the core
/// lane asks when it must wait. No slice of `memory` exists while a method runs.
pub trait LaneDriver {
    /// Starts a lane for one frame; `lane` is its number in the program.
    ///
    /// # Errors
    /// [`LaneError::NoEngine`] if nothing runs lanes of this kind.
    fn start(
        &mut self,
        image: &PlanImage<'_>,
        lane: u8,
        record: &LaneRecord,
        memory: &mut Memory<'_>,
    ) -> Result<(), LaneError>;

    /// Returns when an engine's step is complete. Sleeps, never polls.
    ///
    /// # Errors
    /// [`LaneError::Failed`] if the engine gave up.
    fn wait(&mut self, after: After, memory: &mut Memory<'_>) -> Result<(), LaneError>;

    /// Says that a step of the core lane is complete, so that engines may go on.
    ///
    /// # Errors
    /// [`LaneError::Failed`] if an engine gave up.
    fn core_completed(&mut self, step: u32, memory: &mut Memory<'_>) -> Result<(), LaneError>;
}

/// A board without transfer engines.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEngines;

impl LaneDriver for NoEngines {
    fn start(
        &mut self,
        _image: &PlanImage<'_>,
        _lane: u8,
        record: &LaneRecord,
        _memory: &mut Memory<'_>,
    ) -> Result<(), LaneError> {
        Err(LaneKind::from_number(record.kind).map_or(LaneError::Deadlock, LaneError::NoEngine))
    }

    fn wait(&mut self, _after: After, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        Err(LaneError::Deadlock)
    }

    fn core_completed(&mut self, _step: u32, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        Ok(())
    }
}
