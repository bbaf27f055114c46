//! How a float model becomes int8, and what that does to it.

use serde::{Deserialize, Serialize};

/// How a float model is quantised.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibrating {
    /// How ranges follow from values: `minmax`, `percentile=99.99`, `mse`; empty for the usual.
    pub rule: String,
    /// The range in which the network takes pixels; empty for what the file says.
    pub pixels: String,
    /// Whether samples are made up, whatever was given.
    pub is_random: bool,
    /// Groups of weights that become zero before, in thousandths of all.
    pub sparsity: u16,
}

/// What quantising does to a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuantisationFacts {
    /// How ranges followed from values.
    pub rule: String,
    /// Samples that ranges were taken from.
    pub samples: u32,
    /// Samples that float and int8 were compared on.
    pub compared: u32,
    /// Samples that single layers were quantised on.
    pub examined: u32,
    /// Whether the samples were made up.
    pub is_random: bool,
    /// Inputs and results of operators, in order of execution.
    pub tensors: Vec<TensorFacts>,
}

/// What quantising does to an activation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorFacts {
    /// The operator that makes it, or the input.
    pub layer: String,
    /// Smallest and largest value seen.
    pub range: [f32; 2],
    /// Real value = scale × (q − zero).
    pub scale: f32,
    /// Zero point.
    pub zero: i32,
    /// Share of values beyond what int8 represents, from 0 to 1.
    pub saturated: f64,
    /// Signal over deviation, everything before it int8 too, in decibels; infinite where nothing
    /// deviates.
    pub sqnr_db: f64,
    /// The same of the model's outputs, only this layer being int8; nothing for layers that round
    /// nothing of their own.
    pub alone_db: Option<f64>,
}
