//! Which layer's quantisation costs how much.

use super::QuantiseError;
use super::report::{Power, matched};
use crate::data::Data;
use crate::float::{self, Altered};
use crate::graph::{Model, Node, NodeId, TensorId};
use crate::interpret::Stop;
use crate::op::Op;
use crate::tensor::{DType, Quantisation, Tensor};

/// How far the outputs move when a single layer is quantised.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerSensitivity {
    /// The node, or the input.
    pub layer: String,
    /// Signal power of the model's float outputs over the power of their deviation, in decibels,
    /// over all samples; infinite where nothing deviates. The lowest is the most sensitive.
    pub sqnr_db: f64,
}

/// Runs the float model with the constants and the result of one layer rounded to what they are in
/// `quantised` (of [`super::quantise`]), everything else float, for each input and each layer in
/// turn. Layers that only move or choose values have no rounding of their own and are left out.
/// Takes a run of the layers behind it for each layer and sample; `seen` is told runs made and
/// runs in all.
///
/// # Errors
/// If `quantised` is not the int8 form of `model`, or the samples do not fit;
/// [`crate::RunError::Stopped`] inside a [`QuantiseError::Run`] after `stop` says yes.
pub fn sensitivity(
    model: &Model,
    quantised: &Model,
    samples: &[Vec<Data>],
    seen: &mut dyn FnMut(usize, usize),
    stop: &Stop<'_>,
) -> Result<Vec<LayerSensitivity>, QuantiseError> {
    if samples.is_empty() {
        return Err(QuantiseError::NoSamples);
    }
    let interpreter = float::Interpreter::new(model)?;
    quantised.verify()?;
    let made = matched(model, quantised);
    if made.len() != model.nodes.len() || model.inputs.len() != quantised.inputs.len() {
        return Err(QuantiseError::NotItsForm);
    }
    let layers = layers(model, quantised, &made);
    let runs = layers.len() * samples.len();
    let mut powers = vec![Power::default(); layers.len()];
    for (number, sample) in samples.iter().enumerate() {
        let mut before = Vec::with_capacity(model.nodes.len());
        let mut observe = |_, results: &[Data]| before.extend_from_slice(results);
        let real = interpreter.run_until(sample, &mut observe, stop)?;
        for (index, (layer, power)) in layers.iter().zip(&mut powers).enumerate() {
            let other = layer.run(model, quantised, &interpreter, (sample, &before), stop)?;
            for (real, other) in real.iter().zip(&other) {
                let (Some(real), Some(other)) = (real.as_f32(), other.as_f32()) else { continue };
                let both = real.iter().zip(other);
                both.for_each(|(real, other)| power.add(f64::from(*real), f64::from(*other)));
            }
            seen(number * layers.len() + index + 1, runs);
        }
    }
    let entry = |(layer, power): (&Layer<'_>, &Power)| LayerSensitivity {
        layer: layer.name.to_owned(),
        sqnr_db: power.decibels(),
    };
    Ok(layers.iter().zip(&powers).map(entry).collect())
}

/// A node with the one of the int8 model, or the index of an input.
#[derive(Clone, Copy)]
enum Place<'m> {
    Input(usize),
    Node(NodeId, &'m Node),
}

struct Layer<'m> {
    name: &'m str,
    place: Place<'m>,
    /// Of its result.
    quantisation: &'m Quantisation,
    /// The nodes whose results it changes.
    differs: Vec<bool>,
}

fn layers<'m>(model: &'m Model, quantised: &'m Model, made: &[usize]) -> Vec<Layer<'m>> {
    let inputs = quantised.inputs.iter().enumerate().filter_map(|(index, id)| {
        let name = &model.tensor(model.inputs[index]).name;
        Some((name, Place::Input(index), quantised.tensor(*id).quantisation.as_ref()?))
    });
    let nodes = model.nodes.iter().zip(made).enumerate().filter_map(|(index, (node, made))| {
        let form = &quantised.nodes[*made];
        let rounds = !node.op.only_moves() && !matches!(node.op, Op::MaxPool { .. });
        let result = quantised.tensor(*form.outputs.first()?).quantisation.as_ref()?;
        rounds.then_some((&node.name, Place::Node(NodeId(index), form), result))
    });
    let layer = |(name, place, quantisation): (&'m String, _, _)| {
        let differs = behind(model, place);
        Layer { name, place, quantisation, differs }
    };
    inputs.chain(nodes).map(layer).collect()
}

/// The nodes whose results depend on the place, itself among them.
fn behind(model: &Model, place: Place<'_>) -> Vec<bool> {
    let mut changed = vec![false; model.tensors.len()];
    if let Place::Input(index) = place {
        changed[model.inputs[index].0] = true;
    }
    let differs = |(index, node): (usize, &Node)| {
        let itself = matches!(place, Place::Node(id, _) if id.0 == index);
        let differs = itself || node.inputs.iter().any(|id| changed[id.0]);
        node.outputs.iter().for_each(|id| changed[id.0] |= differs);
        differs
    };
    model.nodes.iter().enumerate().map(differs).collect()
}

impl Layer<'_> {
    fn run(
        &self,
        model: &Model,
        quantised: &Model,
        interpreter: &float::Interpreter<'_>,
        (sample, before): (&[Data], &[Data]),
        stop: &Stop<'_>,
    ) -> Result<Vec<Data>, QuantiseError> {
        let round = |data: Data| rounded(data, self.quantisation);
        let mut inputs = sample.to_vec();
        let mut operands = Vec::new();
        let node = match self.place {
            Place::Input(index) => {
                let input = std::mem::replace(&mut inputs[index], Data::F32(Vec::new()));
                inputs[index] = round(input);
                None
            }
            Place::Node(id, form) => {
                let constants = model.nodes[id.0].inputs.iter().zip(&form.inputs);
                let constant = |(own, other): (&TensorId, &TensorId)| {
                    model.tensor(*own).is_constant().then(|| real(quantised.tensor(*other)))?
                };
                operands.extend(constants.map(constant));
                operands.resize(model.nodes[id.0].inputs.len(), None);
                Some((id, operands.as_slice()))
            }
        };
        let altered = Altered { before, differs: &self.differs, node, round: &round };
        Ok(interpreter.run_altered(&inputs, &altered, stop)?)
    }
}

/// Floats as int8 represents them.
fn rounded(data: Data, quantisation: &Quantisation) -> Data {
    match data {
        Data::F32(values) => Data::F32(quantisation.dequantise(&quantisation.quantise(&values))),
        other => other,
    }
}

/// The real values of an int8 constant, whose scales may run along an axis; nothing for a bias,
/// which 32 bits hold well enough.
fn real(tensor: &Tensor) -> Option<Data> {
    let quantisation = tensor.quantisation.as_ref().filter(|_| tensor.dtype == DType::I8)?;
    let values = tensor.source.as_ref()?.values();
    let dims = tensor.shape.dims();
    let axis = quantisation.axis.unwrap_or(0);
    let inner = dims.get(axis + 1..).map_or(1, |dims| dims.iter().product::<usize>()).max(1);
    let count = dims.get(axis).copied().unwrap_or(1).max(1);
    let value = |(position, value): (usize, &i8)| {
        let channel = position / inner % count;
        let index = if quantisation.axis.is_some() { channel } else { 0 };
        let zero = quantisation.zeros.get(index).copied().unwrap_or(0);
        (i32::from(*value) - zero) as f32 * quantisation.scale(channel)
    };
    Some(Data::F32(values.as_i8()?.iter().enumerate().map(value).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::{QuantiseOptions, quantise};
    use super::*;
    use crate::fixtures::{Build, noise};
    use crate::interpret::never;
    use crate::op::Window;

    fn of(model: &Model, samples: &[Vec<Data>]) -> Vec<LayerSensitivity> {
        let (quantised, _) = quantise(model, samples, &QuantiseOptions::default()).unwrap();
        sensitivity(model, &quantised, samples, &mut |_, _| {}, &never).unwrap()
    }

    fn samples() -> Vec<Vec<Data>> {
        (0..3).map(|seed| vec![Data::F32(noise(48, seed))]).collect()
    }

    #[test]
    fn the_layer_with_a_wide_range_is_the_most_sensitive() {
        let mut build = Build::new(&[1, 4, 4, 3]);
        build.conv(Window::dense([1, 1]), &[4, 1, 1, 3], noise(12, 1), None, 1);
        // One channel a thousand times larger than the others, and divided again behind it.
        let mut wide = noise(16, 2);
        wide[..4].iter_mut().for_each(|weight| *weight *= 1000.0);
        build.conv(Window::dense([1, 1]), &[4, 1, 1, 4], wide, None, 1);
        let mut narrow = noise(16, 3);
        narrow.iter_mut().step_by(4).for_each(|weight| *weight /= 1000.0);
        build.conv(Window::dense([1, 1]), &[4, 1, 1, 4], narrow, None, 1);
        build.reshape(&[1, 64]);
        build.finish();
        let found = of(&build.model, &samples());
        let names: Vec<&str> = found.iter().map(|entry| entry.layer.as_str()).collect();
        assert_eq!(names, ["input", "node 0", "node 1", "node 2"], "a reshape rounds nothing");
        let worst = found.iter().min_by(|a, b| a.sqnr_db.total_cmp(&b.sqnr_db)).unwrap();
        assert_eq!(worst.layer, "node 1");
        assert!(worst.sqnr_db < 20.0 && found[0].sqnr_db > 35.0, "{found:?}");
    }

    #[test]
    fn the_order_of_samples_hardly_matters_and_none_are_refused() {
        let mut build = Build::new(&[1, 4, 4, 3]);
        build.depthwise(Window::dense([2, 2]), 1, noise(12, 1), Some(noise(3, 2)));
        build.finish();
        let mut samples = samples();
        let found = of(&build.model, &samples);
        samples.reverse();
        for (there, back) in found.iter().zip(of(&build.model, &samples)) {
            assert!((there.sqnr_db - back.sqnr_db).abs() < 1e-6, "{there:?} {back:?}");
            assert!(there.sqnr_db > 30.0 && there.sqnr_db.is_finite(), "{there:?}");
        }
        let (quantised, _) = quantise(&build.model, &samples, &QuantiseOptions::default()).unwrap();
        let none = sensitivity(&build.model, &quantised, &[], &mut |_, _| {}, &never);
        assert_eq!(none, Err(QuantiseError::NoSamples));
        let mut other = quantised.clone();
        other.nodes[0].name.push('x');
        let other = sensitivity(&build.model, &other, &samples, &mut |_, _| {}, &never);
        assert_eq!(other, Err(QuantiseError::NotItsForm));
        let stopped = sensitivity(&build.model, &quantised, &samples, &mut |_, _| {}, &|| true);
        assert_eq!(stopped, Err(QuantiseError::Run(crate::RunError::Stopped)));
    }
}
