//! Why a program stopped.

use core::fmt;

use crate::card::CardError;
use crate::lanes::LaneError;
use crate::memory::AccessError;
use tilewright_kernels::KernelError;
use tilewright_plan::PlanImage;

/// Why a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// An operand cannot be had.
    Access(AccessError),
    /// The kernel refused.
    Kernel(KernelError),
    /// What it waits for failed or can never come.
    Lane(LaneError),
    /// Rows of the input are yet to arrive, and nothing here brings them.
    NoInput,
    /// The step makes no sense here; the image was not validated.
    BadStep,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Access(error) => error.fmt(f),
            Self::Kernel(error) => error.fmt(f),
            Self::Lane(error) => error.fmt(f),
            Self::NoInput => f.write_str("the input arrives in rows, which nothing here brings"),
            Self::BadStep => f.write_str("the step is malformed"),
        }
    }
}

/// Why a program stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The image has no program with this index.
    NoProgram {
        /// The index.
        index: usize,
    },
    /// The program's lane 0 is not the core's, or it has another core lane.
    CoreLane,
    /// Nothing here runs a lane.
    Lane {
        /// The lane.
        lane: u8,
        /// Why.
        cause: LaneError,
    },
    /// A part of a frame could not be stored.
    Frame {
        /// Why.
        cause: LaneError,
    },
    /// A step of the core lane failed.
    Step {
        /// Index of the step in the core lane.
        step: u32,
        /// Its layer.
        layer: u16,
        /// Why.
        cause: Cause,
    },
}

/// Where a program stopped, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Whether it was for a card.
    pub card: bool,
    /// Index of the step in the core lane that failed, or waited for what failed.
    pub step: Option<u32>,
    /// The layer: of a copy that failed the one that it is for.
    pub layer: Option<u16>,
    /// The copy that failed: its step in the card's lane, and the first sector of what it read or wrote last.
    pub copy: Option<(u32, u32)>,
}

impl RunError {
    /// Where the program stopped.
    #[must_use]
    pub const fn place(&self) -> Place {
        let (cause, at) = match self {
            // It belongs to no layer, and no lane has it.
            Self::Frame { .. } => return Place { card: true, step: None, layer: None, copy: None },
            Self::Lane { cause, .. } => (Some(*cause), None),
            Self::Step { step, layer, cause: Cause::Lane(cause) } => {
                (Some(*cause), Some((*step, *layer)))
            }
            Self::Step { step, layer, .. } => (None, Some((*step, *layer))),
            _ => (None, None),
        };
        let (step, own) = match at {
            Some((step, layer)) => (Some(step), Some(layer)),
            None => (None, None),
        };
        match cause {
            Some(LaneError::Card { step: copy, layer, sector, .. }) => {
                Place { card: true, step, layer: Some(layer), copy: Some((copy, sector)) }
            }
            Some(LaneError::NoCard(_)) => Place { card: true, step, layer: own, copy: None },
            _ => Place { card: false, step, layer: own, copy: None },
        }
    }

    /// The name of the layer that failed; empty if none is known.
    #[must_use]
    pub fn layer_name<'i>(&self, image: &PlanImage<'i>) -> &'i str {
        let layer = self.place().layer;
        let layer = layer.and_then(|layer| image.layers().get(usize::from(layer)));
        layer.map_or("", |layer| image.name(layer.name))
    }

    /// Whether something that the program wrote to a card is lost: what computes it again mends that.
    #[must_use]
    pub const fn is_loss(&self) -> bool {
        let (Self::Lane { cause, .. } | Self::Step { cause: Cause::Lane(cause), .. }) = self else {
            return false;
        };
        matches!(cause, LaneError::Card { cause: CardError::Content, .. })
    }

    /// What to do about it.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self {
            Self::Frame { .. }
            | Self::Lane { cause: LaneError::Card { .. }, .. }
            | Self::Step { cause: Cause::Lane(LaneError::Card { .. }), .. } => {
                "look at the card's contacts, write its image again, or take another card"
            }
            _ => "flash a plan image that was made for this firmware",
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgram { index } => write!(f, "the plan image has no program {index}"),
            Self::CoreLane => f.write_str("lane 0 of the program must be its only core lane"),
            Self::Lane { lane, cause } => write!(f, "lane {lane}: {cause}"),
            Self::Frame { cause: LaneError::Card { sector, cause, .. } } => {
                write!(f, "card: the frame, at sector {sector}: {cause}")
            }
            Self::Frame { cause } => cause.fmt(f),
            Self::Step { step, layer, cause } => write!(f, "step {step} of layer {layer}: {cause}"),
        }
    }
}

impl core::error::Error for RunError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_copy_is_told_with_step_layer_and_sector() {
        let cause =
            LaneError::Card { step: 7, layer: 3, sector: 99, tries: 4, cause: CardError::NoData };
        let copy = Some((7, 99));
        let starting = RunError::Lane { lane: 1, cause };
        assert_eq!(starting.place(), Place { card: true, step: None, layer: Some(3), copy });
        // The layer is the copy's, not the one that waits.
        let waiting = RunError::Step { step: 5, layer: 2, cause: Cause::Lane(cause) };
        assert_eq!(waiting.place(), Place { card: true, step: Some(5), layer: Some(3), copy });
        let cause = LaneError::NoCard(CardError::NoKey);
        let no_card = RunError::Lane { lane: 1, cause };
        assert_eq!(no_card.place(), Place { card: true, ..Place::default() });
        let own = RunError::Step { step: 5, layer: 2, cause: Cause::BadStep };
        assert_eq!(own.place(), Place { step: Some(5), layer: Some(2), ..Place::default() });
    }
}
