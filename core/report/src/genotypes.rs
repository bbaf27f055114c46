//! Networks of many genotypes: does a cost of their operations predict what the whole takes? (Sadiq's thesis,
//! chapter 3, searches by such a cost.)

use serde::{Deserialize, Serialize};

use crate::figure::{Counted, Modelled};
use crate::operators::OperatorRun;

/// What an operation's run is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationKey {
    /// Board id.
    pub board: String,
    /// The operation's name in DARTS' notation.
    pub operation: String,
    /// Height and width of what it reads, in pixels.
    pub side: usize,
    /// Channels that it reads, and makes.
    pub channels: usize,
    /// Whether it halves height and width.
    pub halves: bool,
}

/// An operation of a cell, run by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OperationRow {
    /// What it is of.
    pub of: OperationKey,
    /// What its kernels took.
    pub run: OperatorRun,
}

/// What a network's run is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenotypeKey {
    /// Board id.
    pub board: String,
    /// Cells.
    pub cells: usize,
    /// Channels of the first cells' steps.
    pub channels: usize,
    /// Height and width of the input in pixels.
    pub resolution: usize,
    /// The cells, in DARTS' notation.
    pub genotype: String,
}

/// A network of a genotype's cells, planned with strategy `resident`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenotypeRow {
    /// What it is of.
    pub of: GenotypeKey,
    /// Multiply-accumulates of the network.
    pub macs: Counted<u64>,
    /// Cycles of a frame by the cost tables; nothing without a plan.
    pub predicted_cycles: Option<Modelled<u64>>,
    /// What an emulated frame took, bit-equal to the reference; nothing if the network does not fit.
    pub run: Option<OperatorRun>,
    /// Why it did not run.
    pub problem: Option<String>,
}

/// What an operation costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationCost {
    /// Its name in DARTS' notation.
    pub operation: String,
    /// Cycles by the thesis' table 3.2.
    pub published: Modelled<u64>,
    /// Instructions of a run on an input of a cell, the mean of all cells; of `none`, what keeps a search from it.
    pub instructions: Counted<u64>,
    /// Cycles of these runs, likewise.
    pub cycles: Modelled<u64>,
}

/// A figure of a network that may tell how long it takes before anybody runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proxy {
    /// The sum of table 3.2 over the operations of both cells.
    Published,
    /// The same of table 3.4, which counts separable convolutions once.
    PublishedOnce,
    /// The same sum of instructions that were counted.
    CountedInstructions,
    /// The same sum of the cycles of these runs.
    CountedCycles,
    /// The sum of all operations of all cells, by the cycles of each at the size that it has there.
    InPlace,
    /// Multiply-accumulates of the network.
    Macs,
    /// The plan's cycles by the cost tables.
    Predicted,
}

impl Proxy {
    /// All, in the order of reports.
    pub const ALL: [Self; 7] = [
        Self::Published,
        Self::PublishedOnce,
        Self::CountedInstructions,
        Self::CountedCycles,
        Self::InPlace,
        Self::Macs,
        Self::Predicted,
    ];

    /// For people, with how it came to be.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Published => "published cost, table 3.2 (modelled)",
            Self::PublishedOnce => "published cost, as table 3.4 counts (modelled)",
            Self::CountedInstructions => "cost table of instructions (counted)",
            Self::CountedCycles => "cost table of cycles (modelled, emulated runs)",
            Self::InPlace => "cycles of each operation in its place (modelled, emulated runs)",
            Self::Macs => "multiply-accumulates (counted)",
            Self::Predicted => "cycles of the plan (modelled, cost tables)",
        }
    }
}

/// The same figures of a genotype, in the order of [`Proxy::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyValues {
    /// See [`Proxy::Published`].
    pub published: Modelled<u64>,
    /// See [`Proxy::PublishedOnce`].
    pub published_once: Modelled<u64>,
    /// See [`Proxy::CountedInstructions`]; nothing if an operation did not run.
    pub counted_instructions: Option<Counted<u64>>,
    /// See [`Proxy::CountedCycles`].
    pub counted_cycles: Option<Modelled<u64>>,
    /// See [`Proxy::InPlace`].
    pub in_place: Option<Modelled<u64>>,
}

/// A network with what may predict it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedGenotype {
    /// The network.
    pub row: GenotypeRow,
    /// Costs of its operations.
    pub costs: ProxyValues,
}

impl RankedGenotype {
    /// A proxy's value; nothing if it is not known.
    #[must_use]
    pub fn value(&self, proxy: Proxy) -> Option<u64> {
        let costs = &self.costs;
        match proxy {
            Proxy::Published => Some(*costs.published),
            Proxy::PublishedOnce => Some(*costs.published_once),
            Proxy::CountedInstructions => costs.counted_instructions.map(|cost| *cost),
            Proxy::CountedCycles => costs.counted_cycles.map(|cost| *cost),
            Proxy::InPlace => costs.in_place.map(|cost| *cost),
            Proxy::Macs => Some(*self.row.macs),
            Proxy::Predicted => self.row.predicted_cycles.map(|cycles| *cycles),
        }
    }
}

/// How a proxy orders networks, beside their order by the cycles of emulated runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProxyCorrelation {
    /// The proxy.
    pub proxy: Proxy,
    /// Networks that have both figures.
    pub networks: Counted<usize>,
    /// Spearman's rank correlation; nothing if one of both orders nothing.
    pub spearman: Option<Modelled<f64>>,
    /// Kendall's, corrected for ties (tau-b).
    pub kendall: Option<Modelled<f64>>,
    /// Of the pairs that differ in both, the part in per cent that both order alike.
    pub in_order_percent: Option<Modelled<f64>>,
    /// Spearman's with executed instructions instead of cycles.
    pub spearman_of_instructions: Option<Counted<f64>>,
}

/// Whether a proxy may stand for the whole network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Spearman's correlation is 0.9 or more.
    Yes,
    /// 0.5 or more.
    Partly,
    /// Less.
    No,
    /// There are too few networks to tell.
    Unknown,
}

impl Verdict {
    /// Of a correlation, if there is one.
    #[must_use]
    pub fn of(spearman: Option<f64>) -> Self {
        match spearman {
            Some(value) if value >= 0.9 => Self::Yes,
            Some(value) if value >= 0.5 => Self::Partly,
            Some(_) => Self::No,
            None => Self::Unknown,
        }
    }

    /// The word that is shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// A whole experiment, or as much of it as there was time for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GenotypesReport {
    /// Board id.
    pub board: String,
    /// Cells of each network.
    pub cells: usize,
    /// Channels of the first cells' steps.
    pub channels: usize,
    /// Height and width of the input in pixels.
    pub resolution: usize,
    /// What genotypes were drawn from.
    pub seed: u64,
    /// How many genotypes there are; as many are in `genotypes` unless it was cancelled.
    pub of: usize,
    /// Costs of the operations, each run at the size that each cell has; empty if not all of them ran.
    pub costs: Vec<OperationCost>,
    /// All runs of operations.
    pub operations: Vec<OperationRow>,
    /// The networks, in the order that they were drawn.
    pub genotypes: Vec<RankedGenotype>,
    /// How each proxy orders them.
    pub correlations: Vec<ProxyCorrelation>,
    /// Whether the published cost predicts.
    pub published_predicts: Verdict,
}

impl GenotypesReport {
    /// How a proxy orders the networks.
    #[must_use]
    pub fn correlation(&self, proxy: Proxy) -> Option<&ProxyCorrelation> {
        self.correlations.iter().find(|one| one.proxy == proxy)
    }
}
