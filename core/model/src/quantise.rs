//! From float to int8: calibration on samples by one of the [`RangeRule`]s, activations with one asymmetric scale per
//! tensor, weights with one symmetric scale per output channel, 32-bit bias. Thesis 2.3.2.3.

mod calibrate;
mod histogram;
mod report;
mod rule;
mod scales;
mod sensitivity;
mod stated;
mod weights;

use thiserror::Error;

use crate::data::{Data, Source};
use crate::graph::{Model, Node, TensorId};
use crate::integer::IntegerError;
use crate::interpret::{RunError, check_types};
use crate::op::{Activation, Op, Padding};
use crate::tensor::{DType, Quantisation, Tensor};
use crate::verify::VerifyError;

pub use calibrate::{Calibration, Range};
pub use report::{QuantiseReport, TensorReport};
pub use rule::{Percentile, RangeRule, UnknownRule};
pub use scales::prescribed;
pub use sensitivity::{LayerSensitivity, sensitivity};
pub use stated::quantise_as_stated;

/// Choices of the quantiser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantiseOptions {
    /// How ranges of activations follow from the values seen.
    pub rule: RangeRule,
    /// How many samples, from the first on, the float and int8 models are compared on.
    pub report_samples: usize,
}

impl Default for QuantiseOptions {
    fn default() -> Self {
        Self { rule: RangeRule::default(), report_samples: 4 }
    }
}

/// Why a model could not be quantised.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum QuantiseError {
    /// There is nothing to calibrate on.
    #[error("quantising needs at least one sample input")]
    NoSamples,
    /// The float model did not run on a sample, or the int8 model did not run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A tensor takes a value that is infinite or no number.
    #[error("tensor '{tensor}' takes a value that is infinite or no number on sample {sample}")]
    NotFinite {
        /// The tensor.
        tensor: String,
        /// Index of the sample.
        sample: usize,
    },
    /// A weight or bias is infinite or no number, or is not constant.
    #[error("node '{node}': {reason}")]
    Weights {
        /// The node.
        node: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// The quantised graph is faulty.
    #[error("after quantising: {0}")]
    Verify(#[from] VerifyError),
    /// The int8 model is not what quantising the float model gives.
    #[error("the int8 model does not have the float model's nodes and inputs")]
    NotItsForm,
    /// A node has no integer parameters.
    #[error(transparent)]
    Integer(#[from] IntegerError),
}

/// Quantises a float model; `samples` are sets of inputs in the order of [`Model::inputs`],
/// activations NHWC. The result has the same nodes, and requantisations between them; its tensors
/// keep names and shapes.
///
/// Operators that choose or move values (pools, reshapes, slices, resizes ...) keep their operand's
/// quantisation; maximum and minimum requantise operands that differ from their result. Softmax and
/// sigmoid have scale 1/256 and zero point −128, tanh 1/128 and 0, log-softmax 1/16 and 127. A
/// concatenation gives its quantisation to operands that nobody else reads, other operands are
/// requantised. Each range contains 0, so that it is represented exactly. Deterministic.
/// [`Calibration`] does the same sample by sample.
///
/// # Errors
/// If there are no samples, the model does not run on them, a value is not finite, or a node has
/// no int8 form (see [`crate::passes::optimise`], which folds batch normalisation).
pub fn quantise(
    model: &Model,
    samples: &[Vec<Data>],
    options: &QuantiseOptions,
) -> Result<(Model, QuantiseReport), QuantiseError> {
    let mut calibration = Calibration::new(model, options)?;
    for sample in samples {
        calibration.observe(sample)?;
    }
    calibration.finish()
}

/// Quantises a float model from ranges that are known without a sample: one for each tensor, in
/// the order of [`Model::tensors`]; those of weights are not looked at. Seeded weights stay
/// seeded. Otherwise as [`quantise`].
///
/// # Errors
/// If the model is faulty or not float, a range is missing or not finite, or a node has no int8
/// form.
pub fn quantise_with(model: &Model, ranges: &[Range]) -> Result<Model, QuantiseError> {
    model.verify().map_err(RunError::from)?;
    check_types(model, DType::F32)?;
    let mut activation = vec![false; model.tensors.len()];
    let named = model.nodes.iter().flat_map(|node| activations(node).iter().chain(&node.outputs));
    named.chain(&model.inputs).chain(&model.outputs).for_each(|id| activation[id.0] = true);
    let mut wanted = vec![None; model.tensors.len()];
    for (index, tensor) in model.tensors.iter().enumerate().filter(|(index, _)| activation[*index])
    {
        let usable = |range: &&Range| range.low.is_finite() && range.high.is_finite();
        let range = ranges
            .get(index)
            .filter(usable)
            .ok_or_else(|| QuantiseError::NotFinite { tensor: tensor.name.clone(), sample: 0 })?;
        wanted[index] = Some(Range::default().union(*range));
    }
    let scales = scales::choose(model, &wanted)?;
    let quantised = convert(model, &scales)?;
    quantised.verify()?;
    Ok(quantised)
}

fn convert(model: &Model, scales: &[Option<Quantisation>]) -> Result<Model, QuantiseError> {
    let mut result = Model {
        name: model.name.clone(),
        inputs: model.inputs.clone(),
        outputs: model.outputs.clone(),
        states: model.states.clone(),
        file_types: model.file_types.clone(),
        metadata: model.metadata.clone(),
        notes: model.notes.clone(),
        ..Model::default()
    };
    for (tensor, quantisation) in model.tensors.iter().zip(scales) {
        result.add_tensor(convert_tensor(tensor, quantisation.as_ref()));
    }
    for node in &model.nodes {
        let mut inputs = node.inputs.clone();
        if node.op.is_weighted() {
            let weighted = weights::quantise(model, node, scales)?;
            inputs.truncate(1);
            inputs.push(result.add_tensor(weighted.weights));
            inputs.extend(weighted.bias.map(|bias| result.add_tensor(bias)));
        }
        if scales::keeps_quantisation(&node.op) {
            if let [input] = inputs[..]
                && matches!(node.op, Op::MaxPool { .. } | Op::AveragePool { .. })
            {
                pool(&mut result, node, input);
                continue;
            }
            for input in &mut inputs {
                *input = requantised(model, &mut result, node, *input);
            }
        }
        result.nodes.push(Node { inputs, ..node.clone() });
    }
    // The float weights, which no node reads any more.
    crate::passes::dead_nodes::drop_tensors(&mut result);
    Ok(result)
}

/// Adds a pool to the int8 model in the making. Where its result has another quantisation than its
/// operand, the result is requantised: the operand's values may be outside of the result's range.
/// A mean of the whole image becomes an operator that rescales its sum, and rounds once.
fn pool(model: &mut Model, node: &Node, input: TensorId) {
    let Some(output) = node.outputs.first().copied() else { return };
    let (from, to) = (model.tensor(input), model.tensor(output));
    if from.quantisation == to.quantisation {
        model.nodes.push(Node { inputs: vec![input], ..node.clone() });
        return;
    }
    let image = from.shape.dims().get(1..3).map(<[usize]>::to_vec);
    if let Op::AveragePool { window, activation: Activation::None, .. } = &node.op
        && window.padding == Padding::default()
        && image.as_deref() == Some(&window.size)
    {
        let op = Op::Mean { axes: vec![1, 2], keep_dims: true };
        model.nodes.push(Node { op, inputs: vec![input], ..node.clone() });
        return;
    }
    let name = format!("{}.pooled", node.name);
    let pooled = Tensor { name, quantisation: from.quantisation.clone(), ..to.clone() };
    let pooled = model.add_tensor(pooled);
    model.nodes.push(Node { inputs: vec![input], outputs: vec![pooled], ..node.clone() });
    let (name, op) = (format!("{}.requantised", node.name), Op::Requantise);
    model.nodes.push(Node { name, op, inputs: vec![pooled], outputs: vec![output] });
}

/// The tensor under the quantisation of the node's result: itself, if it has that already. `real` is
/// the float model, `model` the int8 one in the making; both have the tensor under the same index.
fn requantised(real: &Model, model: &mut Model, node: &Node, id: TensorId) -> TensorId {
    let Some(output) = node.outputs.first() else { return id };
    let wanted = model.tensor(*output).quantisation.clone();
    let tensor = model.tensor(id);
    if tensor.quantisation == wanted || tensor.dtype != DType::I8 {
        return id;
    }
    if tensor.is_constant() {
        let constant = convert_tensor(real.tensor(id), wanted.as_ref());
        let name = format!("{}.{}", node.name, constant.name);
        return model.add_tensor(Tensor { name, ..constant });
    }
    let requantised = Tensor {
        name: format!("{}.{}.requantised", node.name, tensor.name),
        quantisation: wanted,
        source: None,
        ..tensor.clone()
    };
    let name = requantised.name.clone();
    let requantised = model.add_tensor(requantised);
    let (inputs, outputs) = (vec![id], vec![requantised]);
    model.nodes.push(Node { name, op: Op::Requantise, inputs, outputs });
    requantised
}

/// Tensors without quantisation stay as they are; they are weights, replaced where they are read.
fn convert_tensor(tensor: &Tensor, quantisation: Option<&Quantisation>) -> Tensor {
    let Some(quantisation) = quantisation else { return tensor.clone() };
    let integers = |source: &Source| {
        let values = source.values();
        Source::inline(Data::I8(quantisation.quantise(values.as_f32().unwrap_or(&[]))))
    };
    Tensor {
        dtype: DType::I8,
        quantisation: Some(quantisation.clone()),
        source: tensor.source.as_ref().map(integers),
        ..tensor.clone()
    }
}

/// Operands that are activations: all, but not weights and bias.
pub(crate) fn activations(node: &Node) -> &[TensorId] {
    if node.op.is_weighted() { node.inputs.get(..1).unwrap_or_default() } else { &node.inputs }
}

#[cfg(test)]
mod tests;
