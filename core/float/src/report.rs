//! What a comparison found.

use serde::{Deserialize, Serialize};

/// How far one model's values of a tensor are from the opinion's, over all samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Power of the opinion's values over the power of the difference, in decibels, from −200 to
    /// 200; nothing where nothing differs.
    pub sqnr_db: Option<f64>,
    /// Largest difference of a value.
    pub max_difference: f64,
    /// Cosine of the angle between the two, from −1 to 1; nothing if one is zero everywhere.
    pub cosine: Option<f64>,
    /// Of outputs the share of rows, along the last dimension, whose largest value is at the same
    /// place, from 0 to 1; nothing if a row has one value.
    pub top1_agreement: Option<f64>,
}

/// A tensor that both have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TensorComparison {
    /// The tensor, as the file names it.
    pub tensor: String,
    /// The layer that makes it; the tensor itself if it is an input.
    pub layer: String,
    /// The layer's operator; "Input" of an input.
    pub op: String,
    /// Our float interpreter beside the opinion: how right the importer is. Nothing if the file is
    /// int8 itself, or the interpreter is the opinion.
    pub float: Option<Agreement>,
    /// The int8 model beside the opinion: what quantising costs. Nothing if the int8 model does not
    /// have the tensor.
    pub int8: Option<Agreement>,
}

/// A tensor that was not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotCompared {
    /// The tensor.
    pub tensor: String,
    /// The layer that makes it.
    pub layer: String,
    /// Why not, as a part of a sentence.
    pub reason: String,
}

/// The first layer, in order of execution, whose result is much worse than its operands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// The layer.
    pub layer: String,
    /// Its result.
    pub tensor: String,
    /// Signal-to-noise ratio of the worst operand in decibels; nothing if all are exact, or unknown.
    pub before_sqnr_db: Option<f64>,
    /// Signal-to-noise ratio of the result in decibels.
    pub sqnr_db: f64,
}

/// A model beside its float form, layer by layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloatComparison {
    /// The model.
    pub model: String,
    /// Whose values the others are held against: [`crate::TRACT`] or [`crate::INTERPRETER`].
    pub opinion: String,
    /// Samples that were run.
    pub samples: usize,
    /// The model's outputs.
    pub outputs: Vec<TensorComparison>,
    /// Inputs and layers, in order of execution; outputs among them.
    pub layers: Vec<TensorComparison>,
    /// Layers that were not compared.
    pub not_compared: Vec<NotCompared>,
    /// Where our float interpreter departs from the opinion by more than rounding.
    pub first_float_loss: Option<Loss>,
    /// Where quantising first loses much.
    pub first_int8_loss: Option<Loss>,
}

/// Sums of one tensor's values over the samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    signal: f64,
    other: f64,
    product: f64,
    noise: f64,
    largest: f64,
    rows: u64,
    agreeing: u64,
    is_seen: bool,
    /// Whether a value was infinite or no number.
    pub(crate) is_unfit: bool,
}

impl Tally {
    /// Adds values beside those of the opinion; `row` is the length of the last dimension of an
    /// output.
    pub(crate) fn add(&mut self, opinion: &[f32], values: &[f32], row: Option<usize>) {
        self.is_seen = true;
        for (real, value) in opinion.iter().zip(values) {
            let (real, value) = (f64::from(*real), f64::from(*value));
            let difference = value - real;
            self.is_unfit |= !difference.is_finite();
            self.signal += real * real;
            self.other += value * value;
            self.product += real * value;
            self.noise += difference * difference;
            self.largest = self.largest.max(difference.abs());
        }
        let Some(row) = row.filter(|row| *row > 1) else { return };
        for (real, value) in opinion.chunks_exact(row).zip(values.chunks_exact(row)) {
            self.rows += 1;
            self.agreeing += u64::from(largest(real) == largest(value));
        }
    }

    /// What the sums say; nothing if nothing was added or a value was no number.
    pub(crate) fn agreement(&self) -> Option<Agreement> {
        let length = libm::sqrt(self.signal) * libm::sqrt(self.other);
        (self.is_seen && !self.is_unfit).then(|| Agreement {
            sqnr_db: decibels(self.signal, self.noise),
            max_difference: self.largest,
            cosine: (length > 0.0).then(|| (self.product / length).clamp(-1.0, 1.0)),
            top1_agreement: (self.rows > 0).then(|| self.agreeing as f64 / self.rows as f64),
        })
    }
}

/// A ratio of powers in decibels, from −200 to 200; nothing if there is no noise.
pub(crate) fn decibels(signal: f64, noise: f64) -> Option<f64> {
    (noise > 0.0).then(|| match signal > 0.0 {
        true => (10.0 * libm::log10(signal / noise)).clamp(-200.0, 200.0),
        false => -200.0,
    })
}

fn largest(values: &[f32]) -> usize {
    (1..values.len()).fold(0, |best, index| if values[index] > values[best] { index } else { best })
}
