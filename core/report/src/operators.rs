//! The operators of many networks, each with what it takes on a core (Sadiq's thesis, 5.1.3).

use serde::{Deserialize, Serialize};

use crate::figure::{Counted, Modelled};

/// An operator by all that its time depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OperatorShape {
    /// The operator.
    pub op: String,
    /// Height and width of its window; 1 if it has none.
    pub window: [usize; 2],
    /// How far the window moves, down and right.
    pub stride: [usize; 2],
    /// Dimensions of what it reads from other operators, NHWC.
    pub inputs: Vec<Vec<usize>>,
    /// Dimensions of its result, NHWC.
    pub output: Vec<usize>,
    /// All else that it is told: padding, activation.
    pub attributes: String,
}

/// What a run counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorRun {
    /// Executed instructions inside the kernel.
    pub instructions: Counted<u64>,
    /// Cycles.
    pub cycles: Modelled<u64>,
}

/// A distinct operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DistinctOperator {
    /// What it is.
    #[serde(flatten)]
    pub shape: OperatorShape,
    /// In how many networks' places it stands.
    pub uses: Counted<usize>,
    /// Multiply-accumulates, nominal.
    pub macs: Counted<u64>,
    /// Whether the board's SRAM and flash hold it.
    pub fits: bool,
    /// Cycles by the cost tables; nothing if no kernel computes it.
    pub predicted_cycles: Option<Modelled<u64>>,
    /// An emulated run; nothing if none was made.
    pub run: Option<OperatorRun>,
}

impl DistinctOperator {
    /// Operator and window, as in `DepthwiseConv2D 3x3`.
    #[must_use]
    pub fn class(&self) -> String {
        let [height, width] = self.shape.window;
        let op = &self.shape.op;
        if op.contains("Conv") { format!("{op} {height}x{width}") } else { op.clone() }
    }

    /// Cycles: of a run if there was one.
    #[must_use]
    pub fn cycles(&self) -> Option<u64> {
        self.run.map(|run| *run.cycles).or(self.predicted_cycles.map(|cycles| *cycles))
    }
}

/// An operator in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorUse {
    /// Index into [`OperatorsReport::networks`].
    pub network: usize,
    /// Its place in the network's order.
    pub index: usize,
    /// Index into [`OperatorsCore::operators`].
    pub operator: usize,
}

/// A network whose operators were looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorsNetwork {
    /// Name in the zoo.
    pub name: String,
    /// The backbone.
    pub backbone: String,
    /// Factor of the numbers of channels.
    pub width: f64,
    /// Height and width of the input in pixels.
    pub resolution: usize,
}

/// Operators of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorClass {
    /// Operator and window.
    pub name: String,
    /// In how many places.
    pub uses: Counted<usize>,
    /// How many distinct ones.
    pub distinct: Counted<usize>,
    /// Of these, how many were emulated.
    pub emulated: Counted<usize>,
    /// Multiply-accumulates of all distinct ones.
    pub macs: Counted<u64>,
    /// Cycles of a multiply-accumulate, over all distinct ones; nothing if they have none.
    pub cycles_a_mac: Option<Modelled<f64>>,
}

/// A sentence of the thesis, and in how many comparisons it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorClaim {
    /// What it says.
    pub says: String,
    /// What was compared.
    pub compared: String,
    /// Comparisons in which it holds.
    pub holds: Modelled<usize>,
    /// All comparisons.
    pub of: Counted<usize>,
}

impl OperatorClaim {
    /// Yes, no, or mixed: nine tenths decide.
    #[must_use]
    pub fn answer(&self) -> &'static str {
        match (*self.holds, *self.of) {
            (_, 0) => "unknown",
            (holds, of) if 10 * holds >= 9 * of => "yes",
            (holds, of) if 10 * holds <= of => "no",
            _ => "mixed",
        }
    }
}

/// How multiply-accumulates and cycles are shared in a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DepthwiseShare {
    /// The network's name in the zoo.
    pub network: String,
    /// Part of the multiply-accumulates that depthwise convolutions have, in per cent.
    pub macs_percent: Counted<f64>,
    /// Part of the cycles, in per cent.
    pub cycles_percent: Modelled<f64>,
}

/// Whether a core has a data cache, and uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataCacheUse {
    /// It has none.
    Absent,
    /// It is on.
    On,
    /// It is switched off.
    Off,
}

impl DataCacheUse {
    /// The word that is shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Absent => "none",
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// What operators take on one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorsCore {
    /// Board id.
    pub board: String,
    /// Its core, such as `cortex-m7`.
    pub core: String,
    /// The core's data cache.
    pub data_cache: DataCacheUse,
    /// Each operator once; the same of all cores, in the same order.
    pub operators: Vec<DistinctOperator>,
    /// By operator and window.
    pub classes: Vec<OperatorClass>,
    /// What the thesis says of them.
    pub claims: Vec<OperatorClaim>,
    /// How depthwise convolutions weigh, by width and by resolution.
    pub depthwise: Vec<DepthwiseShare>,
}

impl OperatorsCore {
    /// For people.
    #[must_use]
    pub fn title(&self) -> String {
        match self.data_cache {
            DataCacheUse::Absent | DataCacheUse::On => self.board.clone(),
            DataCacheUse::Off => format!("{}, data cache off", self.board),
        }
    }

    /// Cycles of a multiply-accumulate of a class; nothing if it has none.
    #[must_use]
    pub fn cycles_a_mac(&self, class: &str) -> Option<f64> {
        let class = self.classes.iter().find(|one| one.name == class)?;
        class.cycles_a_mac.map(|rate| *rate)
    }

    /// How many operators the board holds.
    #[must_use]
    pub fn fitting(&self) -> usize {
        self.operators.iter().filter(|operator| operator.fits).count()
    }

    /// How many were run.
    #[must_use]
    pub fn emulated(&self) -> usize {
        self.operators.iter().filter(|operator| operator.run.is_some()).count()
    }
}

/// What an operator's run is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OperatorKey {
    /// Board id.
    pub board: String,
    /// Whether its data cache is used.
    pub data_cache: DataCacheUse,
    /// The operator.
    pub shape: OperatorShape,
}

/// An operator's run, bit-equal to the reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorRow {
    /// What it is of.
    pub of: OperatorKey,
    /// What its kernel took.
    pub run: OperatorRun,
}

/// A whole benchmark, or as much of it as there was time for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorsReport {
    /// The networks.
    pub networks: Vec<OperatorsNetwork>,
    /// Each place of each network.
    pub uses: Vec<OperatorUse>,
    /// What each core takes.
    pub cores: Vec<OperatorsCore>,
}
