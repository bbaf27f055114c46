//! One backbone in many widths and resolutions: what is most accurate within a latency.

use crate::SweepRow;
use crate::figure::{Measured, Modelled};
use serde::{Deserialize, Serialize};

/// What somebody measured of a network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// Of the int8 network, in per cent.
    pub int8_percent: Measured<f64>,
    /// Of the float network, in per cent; nothing if nobody says.
    pub fp32_percent: Option<Measured<f64>>,
    /// Who says so.
    pub source: String,
}

/// The backbone in one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScaledNetwork {
    /// Factor of the numbers of channels.
    pub width: f64,
    /// Height and width of the input in pixels.
    pub resolution: usize,
    /// What was planned.
    #[serde(flatten)]
    pub row: SweepRow,
    /// What the table of accuracies has; nothing is put in between its points.
    pub accuracy: Option<Accuracy>,
}

impl AsRef<SweepRow> for ScaledNetwork {
    fn as_ref(&self) -> &SweepRow {
        &self.row
    }
}

impl ScaledNetwork {
    /// Latency in microseconds and int8 accuracy in per cent; nothing unless it runs and its accuracy is known.
    #[must_use]
    pub fn trade_off(&self) -> Option<TradeOff> {
        let accuracy = self.accuracy.as_ref()?;
        Some(TradeOff { latency_us: self.row.latency_us()?, percent: *accuracy.int8_percent })
    }
}

/// A network in a chart of accuracy against latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TradeOff {
    /// Predicted latency in microseconds (modelled).
    pub latency_us: f64,
    /// int8 accuracy in per cent (measured).
    pub percent: f64,
}

impl TradeOff {
    /// Whether nobody would take the other: it is neither faster nor more accurate, and in one of both less so.
    #[must_use]
    pub fn dominates(&self, other: &Self) -> bool {
        let is_no_worse = self.latency_us <= other.latency_us && self.percent >= other.percent;
        is_no_worse && self != other
    }
}

/// What is within a latency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WithinLimit {
    /// The limit in microseconds.
    pub limit_us: f64,
    /// The most accurate network that meets it; nothing if none of known accuracy does.
    pub network: Option<String>,
    /// How many sizes meet it.
    pub meet_it: Modelled<usize>,
    /// Of how many of these the accuracy is known.
    pub of_known_accuracy: usize,
}

/// From where on it does not pay to give a width more pixels (Sadiq's thesis, 5.1.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diminishing {
    /// The width.
    pub width: f64,
    /// The first of its networks, by resolution, that a wider one dominates.
    pub network: String,
    /// The most accurate of those that do.
    pub by: String,
}

/// A whole experiment, or as much of it as there was time for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScaleReport {
    /// The backbone's name in the zoo.
    pub backbone: String,
    /// How many sizes there are.
    pub of: usize,
    /// Board by board, strategy by strategy.
    pub targets: Vec<ScaleTarget>,
}

/// What comes of the sizes on a board by a strategy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScaleTarget {
    /// Board id.
    pub board: String,
    /// Strategy.
    pub strategy: String,
    /// The sizes, by width, then by resolution; fewer than there are if it was cancelled.
    pub sizes: Vec<ScaledNetwork>,
    /// What is within each limit, in the order that they were given.
    pub limits: Vec<WithinLimit>,
    /// Networks that no other dominates, the fastest first.
    pub front: Vec<String>,
    /// By width.
    pub diminishing: Vec<Diminishing>,
}

impl ScaleTarget {
    /// The size of this name.
    #[must_use]
    pub fn size(&self, network: &str) -> Option<&ScaledNetwork> {
        self.sizes.iter().find(|size| size.row.key.network == network)
    }
}
