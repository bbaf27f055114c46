//! Early exits over a labelled set: what each answers alone, and what thresholds of confidence come to.

use serde::{Deserialize, Serialize};
use tilewright_plan::Micros;

use crate::csv::CsvColumn;
use crate::figure::{Counted, Modelled};
use crate::scatter_svg::{Axis, Point, Scatter, Series};

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

impl ThresholdRow {
    /// The shares with one decimal.
    #[must_use]
    pub fn shares(&self, between: &str) -> String {
        let shares = self.shares_percent.iter().map(|share| format!("{share:.1}"));
        shares.collect::<Vec<_>>().join(between)
    }
}

/// A threshold, as comma-separated values; heads say how figures came to be.
pub const THRESHOLD_COLUMNS: [CsvColumn<ThresholdRow>; 5] = [
    CsvColumn { head: "confidence", field: |row| row.confidence.to_string() },
    CsvColumn {
        head: "accuracy_percent_counted",
        field: |row| format!("{:.2}", *row.accuracy_percent),
    },
    CsvColumn { head: "shares_percent_counted", field: |row| row.shares(" ") },
    CsvColumn {
        head: "mean_latency_us_modelled",
        field: |row| format!("{:.0}", row.mean_latency_us.0),
    },
    CsvColumn {
        head: "change_percent_modelled",
        field: |row| format!("{:.1}", *row.change_percent),
    },
];

impl ExitsReport {
    /// Accuracy against latency, as in figure 5.11 of Sadiq's thesis: exits alone, and thresholds.
    #[must_use]
    pub fn scatter(&self, command: String) -> Scatter {
        let point = |us: f64, percent: f64, title: String| Point { x: us / 1e3, y: percent, title };
        let alone = self.exits.iter().filter_map(|exit| {
            let accuracy = exit.accuracy_percent.map(|all| *all)?;
            Some(point(exit.latency_us.0, accuracy, exit.output.clone()))
        });
        let mut thresholds: Vec<Point> = self
            .thresholds
            .iter()
            .map(|row| {
                point(row.mean_latency_us.0, *row.accuracy_percent, row.confidence.to_string())
            })
            .collect();
        thresholds.sort_by(|a, b| a.x.total_cmp(&b.x));
        let series = vec![
            Series { name: "exits alone".to_owned(), points: alone.collect(), is_joined: false },
            Series {
                name: "thresholds of confidence".to_owned(),
                points: thresholds,
                is_joined: true,
            },
        ];
        Scatter {
            title: format!("Early exits of {} on {}", self.model, self.board),
            x: Axis { title: "mean latency, ms (modelled)".to_owned(), is_logarithmic: false },
            y: Axis { title: "accuracy, % (counted)".to_owned(), is_logarithmic: false },
            series,
            command,
            ..Scatter::default()
        }
    }
}
