//! Lanes of transfer engines.

use core::fmt;

use crate::card::CardError;
use crate::memory::Memory;
use tilewright_plan::image::LaneRecord;
use tilewright_plan::{After, LaneKind, PlanImage, Span};

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
    /// A card's lane failed for good at a step.
    Card {
        /// The step, in the card's lane.
        step: u32,
        /// Its layer.
        layer: u16,
        /// The first sector of what was read or written.
        sector: u32,
        /// How often it was tried.
        tries: u8,
        /// Why it failed the last time.
        cause: CardError,
    },
    /// A card cannot be used at all.
    NoCard(CardError),
    /// What is swapped is encrypted, and nothing here decrypts it.
    Sealed,
}

impl fmt::Display for LaneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEngine(kind) => write!(f, "this firmware drives no {kind:?} engine"),
            Self::Deadlock => f.write_str("it waits for a step that cannot be complete"),
            Self::Failed { step } => write!(f, "the transfer of step {step} failed"),
            Self::Card { step, layer, sector, tries, cause } => write!(
                f,
                "card: copy {step}, for layer {layer}, failed {tries} times at sector {sector}: \
                 {cause}"
            ),
            Self::NoCard(cause) => write!(f, "card: {cause}"),
            Self::Sealed => {
                f.write_str("what is swapped is encrypted, and nothing here decrypts it")
            }
        }
    }
}

/// Runs the lanes of transfer engines beside the core's: engines chain from interrupts, the core
/// lane asks when it must wait. No slice of `memory` exists while a method runs.
pub trait LaneDriver {
    /// Makes engines ready for an image, before anything runs: a card that it uses is there and holds
    /// what belongs to it.
    ///
    /// # Errors
    /// [`LaneError::NoCard`] says what about the card.
    fn open(&mut self, _image: &PlanImage<'_>, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        Ok(())
    }

    /// A frame is going to arrive: nothing that the one before it left outside is needed any more.
    ///
    /// # Errors
    /// As [`Self::store`].
    fn begin_frame(&mut self, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        Ok(())
    }

    /// Begins to store a part of an input that has arrived, once what was given before is stored: bytes of the arena,
    /// whole sectors in one run, on a card.
    ///
    /// # Errors
    /// [`LaneError`] if that, or what was given before, cannot be stored.
    fn store(
        &mut self,
        _from: &Span,
        _to: &Span,
        _memory: &mut Memory<'_>,
    ) -> Result<(), LaneError> {
        Err(LaneError::NoEngine(LaneKind::Card))
    }

    /// Returns when all that was given is stored.
    ///
    /// # Errors
    /// As [`Self::store`].
    fn stored(&mut self, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        Ok(())
    }

    /// Starts a lane for one run; `lane` is its number in the program.
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

    /// Gives up what lanes do, behind an error, so that they can be started again.
    fn give_up(&mut self) {}

    /// Lets no lane begin another step of this run, and returns when those under way have ended: an exit was
    /// taken. Sleeps, never polls. Drivers that leave nothing under way have nothing to do.
    ///
    /// # Errors
    /// [`LaneError::Failed`] if an engine gave up.
    fn drain(&mut self, _memory: &mut Memory<'_>) -> Result<(), LaneError> {
        Ok(())
    }

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
