//! Ranges of activations over the samples.

use super::histogram::Histogram;
use super::{QuantiseError, QuantiseOptions, QuantiseReport, activations, convert, report, scales};
use crate::data::Data;
use crate::float;
use crate::graph::{Model, NodeId};
use crate::interpret::{Stop, never};

/// Smallest and largest value seen; always contains 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    /// Smallest value, 0 at most.
    pub low: f32,
    /// Largest value, 0 at least.
    pub high: f32,
}

impl Range {
    /// Widens the range; says no at a value that is infinite or no number.
    pub(super) fn include(&mut self, values: &[f32]) -> bool {
        let mut finite = true;
        for value in values {
            finite &= value.is_finite();
            if *value < self.low {
                self.low = *value;
            }
            if *value > self.high {
                self.high = *value;
            }
        }
        finite
    }

    /// The range that contains both.
    pub(super) fn union(self, other: Self) -> Self {
        Self {
            low: if other.low < self.low { other.low } else { self.low },
            high: if other.high > self.high { other.high } else { self.high },
        }
    }
}

/// Ranges in the making: samples are shown one by one, so that a host can report progress between
/// them, and stop between or inside them.
pub struct Calibration<'m> {
    model: &'m Model,
    options: QuantiseOptions,
    interpreter: float::Interpreter<'m>,
    /// For each tensor that is an activation; nothing for weights.
    ranges: Vec<Option<Range>>,
    /// As many, empty where the rule needs no counts.
    histograms: Vec<Histogram>,
    seen: usize,
    /// The samples on which the int8 model is compared.
    kept: Vec<Vec<Data>>,
}

impl<'m> Calibration<'m> {
    /// Prepares a float model.
    ///
    /// # Errors
    /// If the model is faulty or not float, or a constant is not finite.
    pub fn new(model: &'m Model, options: &QuantiseOptions) -> Result<Self, QuantiseError> {
        let interpreter = float::Interpreter::new(model)?;
        let mut ranges: Vec<Option<Range>> = vec![None; model.tensors.len()];
        let named =
            model.nodes.iter().flat_map(|node| activations(node).iter().chain(&node.outputs));
        for id in named.chain(&model.inputs).chain(&model.outputs) {
            ranges[id.0] = Some(Range::default());
        }
        for (tensor, range) in model.tensors.iter().zip(&mut ranges) {
            let Some((range, source)) = range.as_mut().zip(tensor.source.as_ref()) else {
                continue;
            };
            if source.values().as_f32().is_some_and(|values| !range.include(values)) {
                return Err(QuantiseError::NotFinite { tensor: tensor.name.clone(), sample: 0 });
            }
        }
        let options = options.clone();
        let histograms = vec![Histogram::default(); ranges.len()];
        Ok(Self { model, options, interpreter, ranges, histograms, seen: 0, kept: Vec::new() })
    }

    /// Runs the float model on one set of inputs and widens the ranges.
    ///
    /// # Errors
    /// If the inputs do not fit the model or a value is not finite.
    pub fn observe(&mut self, sample: &[Data]) -> Result<(), QuantiseError> {
        self.observe_until(sample, &never)
    }

    /// As [`Calibration::observe`], but ends soon after `stop` says yes.
    ///
    /// # Errors
    /// As [`Calibration::observe`]; [`crate::RunError::Stopped`] inside a
    /// [`QuantiseError::Run`] if it was stopped, after which the ranges are of no use.
    pub fn observe_until(&mut self, sample: &[Data], stop: &Stop<'_>) -> Result<(), QuantiseError> {
        let mut faulty = None;
        let (ranges, histograms) = (&mut self.ranges, &mut self.histograms);
        let counts = self.options.rule.counts();
        let mut see = |tensor: usize, data: &Data| {
            if let (Some(range), Some(values)) = (ranges[tensor].as_mut(), data.as_f32()) {
                if !range.include(values) {
                    faulty.get_or_insert(tensor);
                } else if counts && faulty.is_none() {
                    histograms[tensor].include(values, *range);
                }
            }
        };
        for (id, data) in self.model.inputs.iter().zip(sample) {
            see(id.0, data);
        }
        let nodes = &self.model.nodes;
        let mut observe = |node: NodeId, results: &[Data]| {
            for (id, data) in nodes[node.0].outputs.iter().zip(results) {
                see(id.0, data);
            }
        };
        self.interpreter.run_until(sample, &mut observe, stop)?;
        if let Some(tensor) = faulty {
            let tensor = self.model.tensors[tensor].name.clone();
            return Err(QuantiseError::NotFinite { tensor, sample: self.seen });
        }
        if self.kept.len() < self.options.report_samples {
            self.kept.push(sample.to_vec());
        }
        self.seen += 1;
        Ok(())
    }

    /// The int8 model, and how far it is from the float one.
    ///
    /// # Errors
    /// If no sample was observed, or a node has no int8 form.
    pub fn finish(self) -> Result<(Model, QuantiseReport), QuantiseError> {
        self.finish_until(&never)
    }

    /// As [`Calibration::finish`], but ends soon after `stop` says yes: both models run on the
    /// compared samples.
    ///
    /// # Errors
    /// As [`Calibration::finish`]; [`crate::RunError::Stopped`] inside a
    /// [`QuantiseError::Run`] if it was stopped.
    pub fn finish_until(self, stop: &Stop<'_>) -> Result<(Model, QuantiseReport), QuantiseError> {
        if self.seen == 0 {
            return Err(QuantiseError::NoSamples);
        }
        let scales = scales::choose(self.model, &self.chosen())?;
        let quantised = convert(self.model, &scales)?;
        quantised.verify()?;
        let models = (self.model, &quantised);
        let mut report =
            report::compare(models, &self.interpreter, &self.ranges, &self.kept, stop)?;
        report.samples = self.seen;
        report.rule = self.options.rule;
        Ok((quantised, report))
    }

    /// The ranges to represent: those seen, as the rule cuts them.
    fn chosen(&self) -> Vec<Option<Range>> {
        let cut = |((range, histogram), constant): ((&Option<Range>, &Histogram), bool)| {
            range
                .map(|seen| if constant { seen } else { self.options.rule.choose(seen, histogram) })
        };
        let constant = self.model.tensors.iter().map(|tensor| tensor.is_constant());
        self.ranges.iter().zip(&self.histograms).zip(constant).map(cut).collect()
    }
}
