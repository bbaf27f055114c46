//! A sweep: networks times boards times strategies times budgets, a row each.

use serde::{Deserialize, Serialize};

/// What a row is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SweepKey {
    /// The network's name in the zoo, without sizes that are as usual.
    pub network: String,
    /// Board id.
    pub board: String,
    /// Strategy.
    pub strategy: String,
    /// Budget of SRAM; nothing: all that the board has for tensors.
    pub sram_budget_bytes: Option<u64>,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// What it is of.
    #[serde(flatten)]
    pub key: SweepKey,
    /// Multiply-accumulates of the network (counted).
    pub macs: u64,
    /// Parameters, batch normalisation folded (counted).
    pub parameters: u64,
    /// The plan's figures; nothing if there is no plan.
    pub plan: Option<SweepPlan>,
    /// Why there is no plan, or why it does not fit.
    pub problem: Option<String>,
}

impl SweepRow {
    /// Predicted latency in microseconds (modelled) of a plan that the board can run.
    #[must_use]
    pub fn latency_us(&self) -> Option<f64> {
        let plan = self.plan.as_ref().filter(|plan| plan.fits)?;
        plan.latency_us
    }
}

/// Figures of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepPlan {
    /// Whether the board can run it (proved).
    pub fits: bool,
    /// Predicted latency in microseconds (modelled), whether it fits or not.
    pub latency_us: Option<f64>,
    /// SRAM for tensors and scratch (counted).
    pub sram_bytes: u64,
    /// Flash of the plan (counted).
    pub flash_bytes: u64,
    /// Memory outside of the chip (counted).
    pub external_bytes: u64,
}
