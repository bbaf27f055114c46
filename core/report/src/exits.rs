//! Early exits over a labelled set: what each answers alone, and what thresholds of confidence come to.

use serde::{Deserialize, Serialize};
use tilewright_plan::Micros;

use crate::figure::{Counted, Modelled};

/// A network with exits on a board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExitsReport {
    /// The model.
    pub model: String,
    /// Board id.
    pub board: String,
    /// Strategy.
    pub strategy: String,
    /// Images with classes; none: accuracies are not known.
    pub images: usize,
    /// Every exit alone, in order; the last is the whole network's answer.
    pub exits: Vec<ExitAlone>,
    /// Thresholds in the order in which they were asked for.
    pub thresholds: Vec<ThresholdRow>,
    /// The threshold of least mean latency whose accuracy is at most half a point below the last exit's: its place in
    /// `thresholds`; nothing if none is.
    pub best: Option<usize>,
}

/// A sub-network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExitAlone {
    /// Its output.
    pub output: String,
    /// Multiply-accumulates.
    pub macs: Counted<u64>,
    /// Predicted latency.
    pub latency_us: Modelled<Micros>,
    /// Of the images, in per cent: by the int8 reference, to which boards are bit-equal.
    pub accuracy_percent: Option<Counted<f64>>,
}

/// A threshold of confidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdRow {
    /// The least probability that ends a run.
    pub confidence: f64,
    /// Right answers, in per cent of the images.
    pub accuracy_percent: Counted<f64>,
    /// Images that end at each exit, in per cent.
    pub shares_percent: Counted<Vec<f64>>,
    /// Mean of the predicted latencies.
    pub mean_latency_us: Modelled<Micros>,
    /// That against the last sub-network's, which has no exits on its way, in per cent: below zero it is less.
    pub change_percent: Modelled<f64>,
}
