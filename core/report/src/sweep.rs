//! A sweep: models times boards times strategies and more, a row each.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Bytes, Micros};

use crate::figure::{Counted, Modelled, as_proved};

/// What a row is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SweepKey {
    /// The model: a file, or a network's name in the zoo without sizes that are as usual.
    pub network: String,
    /// Board id.
    pub board: String,
    /// Strategy.
    pub strategy: String,
    /// Budget of SRAM; nothing: all that the board has for tensors.
    pub sram_budget_bytes: Option<u64>,
    /// Clock in hertz; nothing: the board's.
    pub clock_hz: Option<u64>,
    /// Class of the card; nothing: the one that goes with the board.
    pub card: Option<String>,
    /// Frames that are computed one after the other.
    pub frames: u32,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// What it is of.
    #[serde(flatten)]
    pub key: SweepKey,
    /// Multiply-accumulates of the network; nothing of a model that cannot be opened.
    pub macs: Option<Counted<u64>>,
    /// Parameters, batch normalisation folded; likewise.
    pub parameters: Option<Counted<u64>>,
    /// The plan's figures; nothing if there is no plan.
    pub plan: Option<SweepPlan>,
    /// Why the model cannot be opened, why there is no plan, or why it does not fit.
    pub problem: Option<String>,
}

impl AsRef<Self> for SweepRow {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl SweepRow {
    /// Why the model cannot be opened, if that is so: another try may find it mended.
    #[must_use]
    pub fn not_opened(&self) -> Option<&str> {
        self.problem.as_deref().filter(|_| self.macs.is_none())
    }

    /// Predicted latency in microseconds (modelled) of a plan that the board can run.
    #[must_use]
    pub fn latency_us(&self) -> Option<f64> {
        let plan = self.plan.as_ref().filter(|plan| plan.fits)?;
        plan.latency_us.map(|latency| latency.0)
    }
}

/// Figures of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPlan {
    /// Whether the board can run it.
    #[serde(serialize_with = "as_proved")]
    pub fits: bool,
    /// Predicted latency of all frames, whether it fits or not.
    pub latency_us: Option<Modelled<Micros>>,
    /// SRAM for tensors and scratch.
    pub sram_bytes: Counted<Bytes>,
    /// Flash of the plan.
    pub flash_bytes: Counted<Bytes>,
    /// Memory outside of the chip.
    pub external_bytes: Counted<Bytes>,
}
