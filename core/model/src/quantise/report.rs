//! How far the int8 model is from the float one.

use super::QuantiseError;
use super::calibrate::Range;
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
    /// Values seen over all samples.
    pub range: Range,
    /// Scale.
    pub scale: f32,
    /// Zero point.
    pub zero: i32,
    /// Float values, over the compared samples, that lie beyond what int8 represents by more than
    /// half a step.
    pub saturated: u64,
    /// Signal power over the power of the int8 model's deviation, in decibels, over the compared
    /// samples; infinite where nothing deviates.
    pub sqnr_db: f64,
}

/// What quantisation did to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuantiseReport {
    /// One entry for each activation that an input or a node makes, in order of execution.
    pub tensors: Vec<TensorReport>,
    /// Samples that ranges were taken from.
    pub samples: usize,
    /// Samples on which float and int8 were compared.
    pub compared: usize,
}

#[derive(Clone, Default)]
struct Power {
    signal: f64,
    noise: f64,
    saturated: u64,
}

impl Power {
    fn add(&mut self, real: &[f32], integers: &[i8], quantisation: &Quantisation) {
        let scale = f64::from(quantisation.scale(0));
        let zero = quantisation.zero();
        let low = scale * (-128.5 - f64::from(zero));
        let high = scale * (127.5 - f64::from(zero));
        for (real, integer) in real.iter().zip(integers) {
            let real = f64::from(*real);
            let deviation = scale * f64::from(i32::from(*integer) - zero) - real;
            self.signal += real * real;
            self.noise += deviation * deviation;
            self.saturated += u64::from(real < low || real > high);
        }
    }

    fn decibels(&self) -> f64 {
        if self.noise == 0.0 { f64::INFINITY } else { 10.0 * libm::log10(self.signal / self.noise) }
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
    let mut powers = vec![Power::default(); pairs.len()];
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
    let is_quantised =
        |pair: &(&(TensorId, TensorId), &Power)| quantised.tensor(pair.0.1).quantisation.is_some();
    let tensors = pairs
        .iter()
        .zip(&powers)
        .filter(is_quantised)
        .map(|((real, integer), power)| {
            let quantisation = quantisation(*integer);
            TensorReport {
                tensor: model.tensor(*real).name.clone(),
                range: ranges[real.0].unwrap_or_default(),
                scale: quantisation.scale(0),
                zero: quantisation.zero(),
                saturated: power.saturated,
                sqnr_db: power.decibels(),
            }
        })
        .collect();
    Ok(QuantiseReport { tensors, samples: samples.len(), compared: samples.len() })
}

/// For each node of the float model the one of the int8 model.
fn matched(model: &Model, quantised: &Model) -> Vec<usize> {
    let mut next = 0;
    let find = |node: &Node| {
        let rest = quantised.nodes.get(next..).unwrap_or_default();
        let place = next + rest.iter().position(|other| other.name == node.name)?;
        next = place + 1;
        Some(place)
    };
    model.nodes.iter().map_while(find).collect()
}
