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
    /// The step makes no sense here; the image was not validated.
    BadStep,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Access(error) => error.fmt(f),
            Self::Kernel(error) => error.fmt(f),
            Self::Lane(error) => error.fmt(f),
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
    /// The program keeps several frames in flight.
    FramesInFlight {
        /// Its pipeline stages.
        stages: u16,
    },
    /// Nothing here runs a lane.
    Lane {
        /// The lane.
        lane: u8,
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

impl RunError {
    /// The name of the layer that failed; empty if none is known.
    #[must_use]
    pub fn layer_name<'i>(&self, image: &PlanImage<'i>) -> &'i str {
        let layer = match self {
            Self::Lane { cause, .. } => cause.layer(),
            Self::Step { cause: Cause::Lane(cause), layer, .. } => cause.layer().or(Some(*layer)),
            Self::Step { layer, .. } => Some(*layer),
            _ => None,
        };
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
            Self::Lane { cause: LaneError::Card { .. }, .. }
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
            Self::FramesInFlight { stages } => {
                write!(f, "the program keeps {stages} frames in flight, this firmware runs one")
            }
            Self::Lane { lane, cause } => write!(f, "lane {lane}: {cause}"),
            Self::Step { step, layer, cause } => write!(f, "step {step} of layer {layer}: {cause}"),
        }
    }
}

impl core::error::Error for RunError {}
