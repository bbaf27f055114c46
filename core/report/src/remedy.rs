//! What would make a plan fit: changes, tried by really planning them.

use serde::{Deserialize, Serialize};
use tilewright_plan::{Bytes, Micros};

use crate::figure::{Counted, Modelled};
use crate::plan_report::PlanReport;

/// A change of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Change {
    /// The board's whole arena instead of the budget.
    WholeArena,
    /// Another strategy.
    Strategy(String),
    /// Another board, by its id.
    Board(String),
    /// Another size of the network, by its name in the zoo.
    Network(String),
}

impl Change {
    /// What changes, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::WholeArena => "no budget: all SRAM that the board has for tensors".to_owned(),
            Self::Strategy(name) => format!("strategy {name}"),
            Self::Board(id) => format!("board {id}"),
            Self::Network(name) => format!("the smaller network zoo:{name}"),
        }
    }

    /// How much it asks of a person: first nothing, then time, then hardware, then accuracy.
    const fn price(&self) -> u8 {
        match self {
            Self::WholeArena => 0,
            Self::Strategy(_) => 1,
            Self::Board(_) => 2,
            Self::Network(_) => 3,
        }
    }
}

/// A change with what it gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Remedy {
    /// The change, in words.
    pub text: String,
    /// The change.
    pub change: Change,
    /// Whether the plan fits then.
    pub fits: bool,
    /// The memory that `needed_bytes` is of: the one that was short; if that is enough now but
    /// another is not, the other.
    pub memory: String,
    /// Bytes needed then.
    pub needed_bytes: Counted<Bytes>,
    /// Bytes had then.
    pub available_bytes: Counted<Bytes>,
    /// Predicted latency then, of as many frames as that of the plan that does not fit; nothing of a
    /// plan that cannot run.
    pub latency_us: Option<Modelled<Micros>>,
}

/// Remedies that do not fit, but help most, that are told all the same.
const NEARLY: usize = 2;

/// What can be tried by planning the same model again: the whole arena if there is a budget, the
/// other `strategies`, the other `boards`; those that take long stand last. Nothing if the plan fits.
#[must_use]
pub fn changes<'a>(
    failed: &PlanReport,
    has_budget: bool,
    strategies: impl IntoIterator<Item = &'a str>,
    boards: impl IntoIterator<Item = &'a str>,
) -> Vec<Change> {
    let Some(reason) = &failed.does_not_fit else { return Vec::new() };
    let mut changes = Vec::new();
    if has_budget && reason.memory == SRAM {
        changes.push(Change::WholeArena);
    }
    let others = strategies.into_iter().filter(|name| *name != failed.strategy);
    changes.extend(others.map(|name| Change::Strategy(name.to_owned())));
    let others = boards.into_iter().filter(|id| *id != failed.board);
    changes.extend(others.map(|id| Change::Board(id.to_owned())));
    changes.sort_by_key(|change| is_long(change, failed));
    changes
}

/// Strategies whose plans take long to make, as a rule.
const LONG: [&str; 3] = ["auto", "swap", "stream"];

fn is_long(change: &Change, failed: &PlanReport) -> bool {
    let strategy = match change {
        Change::Strategy(name) => name,
        Change::WholeArena | Change::Board(_) | Change::Network(_) => &failed.strategy,
    };
    LONG.contains(&strategy.as_str())
}

/// How people call the memory that tensors lie in.
pub const SRAM: &str = "SRAM";
/// How people call the memory that weights lie in.
pub const FLASH: &str = "flash";
/// How people call the memory outside of the chip that tensors lie in.
pub const EXTERNAL_RAM: &str = "external RAM";
/// How people call the memory outside of the chip that weights lie in.
pub const EXTERNAL_FLASH: &str = "external flash";

impl Remedy {
    /// What `change` gives where `failed` does not fit: the report of a plan with the change.
    /// Nothing if it does not help, or if it takes the program from a plan that has one.
    #[must_use]
    pub fn of(change: Change, failed: &PlanReport, tried: &PlanReport) -> Option<Self> {
        if failed.runnable && !tried.runnable {
            return None;
        }
        let short = &failed.does_not_fit.as_ref()?.memory;
        let memory = match &tried.does_not_fit {
            Some(reason) => &reason.memory,
            None => short,
        };
        let needed = |report: &PlanReport| match memory.as_str() {
            FLASH => (report.flash_bytes, report.flash_limit_bytes),
            _ => (report.peak_sram_bytes, report.sram_limit_bytes),
        };
        let (needed_bytes, available_bytes) = needed(tried);
        let missing = |(needed, had): (Counted<Bytes>, Counted<Bytes>)| *needed - *had;
        let frames = f64::from(failed.frames.max(1)) / f64::from(tried.frames.max(1));
        let helps =
            tried.fits || memory == short && missing(needed(tried)) < missing(needed(failed));
        helps.then(|| Self {
            text: change.words(),
            change,
            fits: tried.fits,
            memory: memory.clone(),
            needed_bytes,
            available_bytes,
            latency_us: tried.latency_us.map(|latency| Micros(latency.0 * frames).into()),
        })
    }

    /// Puts remedies in order, cheapest first. Those that do not fit help nobody where others do: without others the
    /// nearest of them stay.
    pub fn sort(remedies: &mut Vec<Self>) {
        remedies.sort_by(|a, b| {
            let missing = |r: &Self| (*r.needed_bytes - *r.available_bytes).0;
            let time = |r: &Self| r.latency_us.map_or(f64::INFINITY, |time| time.0);
            let key = |r: &Self| (!r.fits, missing(r), r.change.price());
            key(a)
                .cmp(&key(b))
                .then(time(a).total_cmp(&time(b)))
                .then(a.needed_bytes.cmp(&b.needed_bytes))
        });
        let fitting = remedies.iter().filter(|remedy| remedy.fits).count();
        remedies.truncate(if fitting > 0 { fitting } else { NEARLY });
    }
}

#[cfg(test)]
mod tests;
