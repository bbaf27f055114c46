//! A sweep: models times boards times strategies and more, a row each.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Bytes, Micros};

use crate::csv::CsvColumn;
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
    /// Energy of a frame in microjoules, the middle of its range; nothing if no source says what board or card draws.
    pub energy_uj: Option<Modelled<f64>>,
    /// What a frame writes to the card.
    pub card_written_bytes: Counted<f64>,
    /// Least years until the card is worn out if frames follow each other at once; nothing if nothing is written.
    pub card_years: Option<Modelled<f64>>,
}

fn key(row: &impl AsRef<SweepRow>) -> &SweepKey {
    &row.as_ref().key
}

fn plan(row: &impl AsRef<SweepRow>) -> Option<&SweepPlan> {
    row.as_ref().plan.as_ref()
}

/// Columns of a row and of what holds one; heads say how figures came to be.
#[must_use]
pub fn sweep_columns<R: AsRef<SweepRow>>() -> [CsvColumn<R>; 18] {
    [
        CsvColumn { head: "model", field: |row| key(row).network.clone() },
        CsvColumn { head: "board", field: |row| key(row).board.clone() },
        CsvColumn { head: "strategy", field: |row| key(row).strategy.clone() },
        CsvColumn { head: "sram_budget_bytes", field: |row| some(key(row).sram_budget_bytes) },
        CsvColumn { head: "clock_hz", field: |row| some(key(row).clock_hz) },
        CsvColumn { head: "card", field: |row| some(key(row).card.clone()) },
        CsvColumn { head: "frames", field: |row| key(row).frames.to_string() },
        CsvColumn { head: "macs_counted", field: |row| some(row.as_ref().macs) },
        CsvColumn { head: "parameters_counted", field: |row| some(row.as_ref().parameters) },
        CsvColumn { head: "fits_proved", field: |row| some(plan(row).map(|plan| plan.fits)) },
        CsvColumn {
            head: "latency_us_modelled",
            field: |row| {
                some(plan(row).and_then(|plan| plan.latency_us).map(|us| format!("{:.0}", us.0)))
            },
        },
        CsvColumn {
            head: "sram_bytes_counted",
            field: |row| some(plan(row).map(|plan| plan.sram_bytes.0)),
        },
        CsvColumn {
            head: "flash_bytes_counted",
            field: |row| some(plan(row).map(|plan| plan.flash_bytes.0)),
        },
        CsvColumn {
            head: "external_bytes_counted",
            field: |row| some(plan(row).map(|plan| plan.external_bytes.0)),
        },
        CsvColumn {
            head: "energy_uj_modelled",
            field: |row| {
                some(plan(row).and_then(|plan| plan.energy_uj).map(|uj| format!("{:.1}", *uj)))
            },
        },
        CsvColumn {
            head: "card_written_bytes_counted",
            field: |row| some(plan(row).map(|plan| format!("{:.0}", *plan.card_written_bytes))),
        },
        CsvColumn {
            head: "card_years_modelled",
            field: |row| {
                some(
                    plan(row)
                        .and_then(|plan| plan.card_years)
                        .map(|years| format!("{:.2}", *years)),
                )
            },
        },
        CsvColumn { head: "problem", field: |row| some(row.as_ref().problem.clone()) },
    ]
}

/// The text of what may be missing.
fn some(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
