//! How far the int8 model is from the float one.

use super::QuantiseError;
use super::calibrate::Range;
use super::rule::RangeRule;
use crate::data::Data;
use crate::graph::{Model, Node, NodeId, TensorId};
use crate::interpret::Stop;
use crate::tensor::Quantisation;
use crate::{float, int8};

/// What quantisation did to one activation.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorReport {
    /// The tensor.
    pub tensor: String,
    /// The node that makes it; the tensor itself if it is an input.
    pub layer: String,
    /// Smallest and largest value seen over all samples; what int8 represents follows from scale
    /// and zero point.
    pub range: Range,
    /// Scale.
    pub scale: f32,
    /// Zero point.
    pub zero: i32,
    /// Float values, over the compared samples, that lie beyond what int8 represents by more than
    /// half a step.
    pub saturated: u64,
    /// Float values over the compared samples.
    pub values: u64,
    /// Signal power over the power of the int8 model's deviation, in decibels, over the compared
    /// samples; infinite where nothing deviates.
    pub sqnr_db: f64,
}

impl TensorReport {
    /// The share of values that saturate, from 0 to 1.
    #[must_use]
    pub fn saturation(&self) -> f64 {
        if self.values == 0 { 0.0 } else { self.saturated as f64 / self.values as f64 }
    }
}

/// What quantisation did to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuantiseReport {
    /// One entry for each activation that an input or a node makes, in order of execution.
    pub tensors: Vec<TensorReport>,
    /// How ranges followed from the values seen.
    pub rule: RangeRule,
    /// Samples that ranges were taken from.
    pub samples: usize,
    /// Samples on which float and int8 were compared.
    pub compared: usize,
}

/// Power of a signal and of the deviation from it.
#[derive(Clone, Default)]
pub(super) struct Power {
    signal: f64,
    noise: f64,
}

impl Power {
    pub(super) fn add(&mut self, real: f64, other: f64) {
        let deviation = other - real;
        self.signal += real * real;
        self.noise += deviation * deviation;
    }

    pub(super) fn decibels(&self) -> f64 {
        if self.noise == 0.0 { f64::INFINITY } else { 10.0 * libm::log10(self.signal / self.noise) }
    }
}

#[derive(Clone, Default)]
struct Compared {
    power: Power,
    saturated: u64,
    values: u64,
}

impl Compared {
    fn add(&mut self, real: &[f32], integers: &[i8], quantisation: &Quantisation) {
        let scale = f64::from(quantisation.scale(0));
        let zero = quantisation.zero();
        let low = scale * (-128.5 - f64::from(zero));
        let high = scale * (127.5 - f64::from(zero));
        self.values += real.len() as u64;
        for (real, integer) in real.iter().zip(integers) {
            let real = f64::from(*real);
            self.power.add(real, scale * f64::from(i32::from(*integer) - zero));
            self.saturated += u64::from(real < low || real > high);
        }
    }
}

/// Runs both models, float and int8, on the samples. The int8 model has the nodes of
/// the float one in the same order, with requantisations between them.
pub(super) fn compare(
    (model, quantised): (&Model, &Model),
    interpreter: &float::Interpreter<'_>,
    ranges: &[Option<Range>],
    samples: &[Vec<Data>],
    stop: &Stop<'_>,
) -> Result<QuantiseReport, QuantiseError> {
    let made = matched(model, quantised);
    let pairs: Vec<(TensorId, TensorId)> = model
        .inputs
        .iter()
        .copied()
        .zip(quantised.inputs.iter().copied())
        .chain(model.nodes.iter().zip(&made).filter_map(|(real, integer)| {
            Some((*real.outputs.first()?, *quantised.nodes[*integer].outputs.first()?))
        }))
        .collect();
    let quantisation = |id: TensorId| {
        let none = || Quantisation::per_tensor(1.0, 0);
        quantised.tensor(id).quantisation.clone().unwrap_or_else(none)
    };
    let mut powers = vec![Compared::default(); pairs.len()];
    let integer_interpreter = int8::Interpreter::new(quantised)?;
    for sample in samples {
        let mut reals: Vec<Data> = sample.clone();
        let mut observe = |_, results: &[Data]| reals.extend_from_slice(results);
        interpreter.run_until(sample, &mut observe, stop)?;
        let inputs: Vec<Data> = sample
            .iter()
            .zip(&quantised.inputs)
            .map(|(data, id)| Data::I8(quantisation(*id).quantise(data.as_f32().unwrap_or(&[]))))
            .collect();
        let mut integers = inputs.clone();
        let mut observe = |node: NodeId, results: &[Data]| {
            if made.binary_search(&node.0).is_ok() {
                integers.extend_from_slice(results);
            }
        };
        integer_interpreter.run_until(&inputs, &mut observe, stop)?;
        for (index, (real, integer)) in reals.iter().zip(&integers).enumerate() {
            if let (Some(real), Some(integer)) = (real.as_f32(), integer.as_i8()) {
                powers[index].add(real, integer, &quantisation(pairs[index].1));
            }
        }
    }
    let inputs = model.inputs.iter().map(|id| &model.tensor(*id).name);
    let made = model.nodes.iter().filter(|node| !node.outputs.is_empty());
    let layers = inputs.chain(made.map(|node| &node.name));
    let tensors = pairs
        .iter()
        .zip(&powers)
        .zip(layers)
        .filter(|((pair, _), _)| quantised.tensor(pair.1).quantisation.is_some())
        .map(|(((real, integer), power), layer)| {
            let quantisation = quantisation(*integer);
            TensorReport {
                tensor: model.tensor(*real).name.clone(),
                layer: layer.clone(),
                range: ranges[real.0].unwrap_or_default(),
                scale: quantisation.scale(0),
                zero: quantisation.zero(),
                saturated: power.saturated,
                values: power.values,
                sqnr_db: power.power.decibels(),
            }
        })
        .collect();
    let (rule, samples) = (RangeRule::default(), samples.len());
    Ok(QuantiseReport { tensors, rule, samples, compared: samples })
}

/// For each node of the float model the one of the int8 model.
pub(super) fn matched(model: &Model, quantised: &Model) -> Vec<usize> {
    let mut next = 0;
    let find = |node: &Node| {
        let rest = quantised.nodes.get(next..).unwrap_or_default();
        let place = next + rest.iter().position(|other| other.name == node.name)?;
        next = place + 1;
        Some(place)
    };
    model.nodes.iter().map_while(find).collect()
}
