//! What the way from a model file to a run report says while it is walked.

use serde::{Deserialize, Serialize};
use tilewright_plan::Bytes;
use tilewright_protocol::StepCount;

/// A part of the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The model file is read.
    Importing,
    /// The float model becomes int8.
    Quantising,
    /// Order and places are decided.
    Planning,
    /// The plan is proved valid.
    Checking,
    /// Firmware and plan become an image.
    Packaging,
    /// The emulated board runs.
    Running,
    /// Every layer is compared with the reference.
    Comparing,
}

impl Stage {
    /// The word that people read.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Importing => "importing",
            Self::Quantising => "quantising",
            Self::Planning => "planning",
            Self::Checking => "checking",
            Self::Packaging => "packaging",
            Self::Running => "running",
            Self::Comparing => "comparing",
        }
    }
}

/// News.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Progress {
    /// A part begins.
    Stage(Stage),
    /// Quantising has seen some of the samples.
    Sample {
        /// Samples seen.
        seen: usize,
        /// Samples in all.
        of: usize,
    },
    /// So many layers have been quantised alone.
    Layer {
        /// Runs so far.
        seen: usize,
        /// Runs in all.
        of: usize,
    },
    /// The models have run on so many samples beside each other.
    Compared {
        /// Samples done.
        seen: usize,
        /// Samples in all.
        of: usize,
    },
    /// The smallest arena that planning has found so far, and what none goes below.
    Planning {
        /// The arena; nothing before there is one.
        arena: Option<Bytes>,
        /// The bound.
        bound: Bytes,
        /// Of the ways to plan beyond SRAM those that were tried, and all; nothing before.
        ways: Option<[usize; 2]>,
    },
    /// Executed instructions so far, and the step of the core lane if an invoke is under way.
    Running {
        /// Instructions.
        instructions: u64,
        /// Step.
        step: Option<u32>,
    },
    /// The board wrote to its console.
    Console(String),
    /// A step of the core lane ended.
    Step(StepCount),
}
