//! Small edits that passes are made of.

use crate::data::{Data, Source};
use crate::graph::{Model, Node, TensorId};
use crate::op::Op;
use crate::ranged::Ranged;
use crate::shape::Shape;
use crate::tensor::{DType, Tensor};

/// Values of a constant float tensor.
pub(super) fn constant(model: &Model, id: TensorId) -> Option<&[f32]> {
    model.tensor(id).source.as_ref()?.data()?.as_f32()
}

/// Adds a constant float tensor; its name begins with `name` and is unique.
pub(super) fn add_constant(
    model: &mut Model,
    name: &str,
    dims: impl Into<Vec<usize>>,
    values: Vec<f32>,
) -> TensorId {
    add_source(model, name, dims, Source::inline(Data::F32(values)))
}

/// Adds a constant float tensor whose values come from `source`; its name begins with `name` and
/// is unique.
pub(super) fn add_source(
    model: &mut Model,
    name: &str,
    dims: impl Into<Vec<usize>>,
    source: Source,
) -> TensorId {
    let (name, shape) = (unique(model, name), Shape::new(dims));
    let source = Some(source);
    model.add_tensor(Tensor { name, shape, dtype: DType::F32, quantisation: None, source })
}

/// Adds a float activation of this shape.
pub(super) fn add_activation(model: &mut Model, name: &str, shape: Shape) -> TensorId {
    let name = unique(model, name);
    model.add_tensor(Tensor { name, shape, dtype: DType::F32, quantisation: None, source: None })
}

/// A name that no tensor has yet, which begins with `name`.
pub(super) fn unique(model: &Model, name: &str) -> String {
    let taken = |candidate: &str| model.tensors.iter().any(|tensor| tensor.name == candidate);
    if !taken(name) {
        return name.to_owned();
    }
    (2..).map(|n| format!("{name}.{n}")).find(|candidate| !taken(candidate)).unwrap_or_default()
}

/// Whether the tensor is an output of the model.
pub(super) fn is_output(model: &Model, id: TensorId) -> bool {
    model.outputs.contains(&id)
}

/// The index of the node that makes the tensor, if nothing but one operand of one other node reads
/// it and it is no output of the model.
pub(super) fn private_producer(model: &Model, id: TensorId) -> Option<usize> {
    let reads: usize = model
        .nodes
        .iter()
        .map(|node| node.inputs.iter().filter(|input| **input == id).count())
        .sum();
    if reads != 1 || is_output(model, id) {
        return None;
    }
    model.nodes.iter().position(|node| node.outputs.contains(&id))
}

/// Takes node `index` out of the graph: its consumers read its first operand instead of its
/// result. Says no, and leaves the graph alone, where a model's output would have to become an
/// input, a constant or another output. What is left has the quantisation that the result states, or
/// else the operand.
pub(super) fn bypass(model: &mut Model, index: usize) -> bool {
    let (Some(input), Some(output)) =
        (model.nodes[index].inputs.first().copied(), model.nodes[index].outputs.first().copied())
    else {
        return false;
    };
    let stated = |id: TensorId| model.tensor(id).quantisation.clone();
    let stated = stated(output).or_else(|| stated(input));
    if !is_output(model, output) {
        model.nodes.remove(index);
        redirect(model, output, input);
        model.tensors[input.0].quantisation = stated;
        return true;
    }
    // The output keeps its name: its operand's producer makes it.
    let Some(producer) = model.nodes.iter().position(|node| node.outputs.contains(&input)) else {
        return false;
    };
    if is_output(model, input) {
        return false;
    }
    for result in &mut model.nodes[producer].outputs {
        if *result == input {
            *result = output;
        }
    }
    model.nodes.remove(index);
    redirect(model, input, output);
    model.tensors[output.0].quantisation = stated;
    true
}

/// Whether two tensors have quantisations, or state them, and these differ.
pub(super) fn differ(model: &Model, first: TensorId, second: TensorId) -> bool {
    let quantisation = |id: TensorId| model.tensor(id).quantisation.as_ref();
    match (quantisation(first), quantisation(second)) {
        (Some(first), Some(second)) => first != second,
        _ => false,
    }
}

/// A tensor that states no quantisation states that of another of the same values.
pub(super) fn inherit(model: &mut Model, from: TensorId, to: TensorId) {
    if model.tensor(to).quantisation.is_none() {
        model.tensors[to.0].quantisation = model.tensor(from).quantisation.clone();
    }
}

/// Every node that reads `from` reads `to` instead.
pub(super) fn redirect(model: &mut Model, from: TensorId, to: TensorId) {
    for input in model.nodes.iter_mut().flat_map(|node| &mut node.inputs) {
        if *input == from {
            *input = to;
        }
    }
}

/// Constant floats that stay in a file, if the tensor is of such.
pub(super) fn ranged(model: &Model, id: TensorId) -> Option<&Ranged> {
    match model.tensor(id).source.as_ref()? {
        Source::Ranged(ranged) if ranged.dtype() == DType::F32 => Some(ranged),
        _ => None,
    }
}

/// Whether the node multiplies by constant weights, which may stay in a file, and may have a bias.
pub(super) fn is_weighted(model: &Model, node: &Node) -> bool {
    let Some((weights, bias)) = node.inputs.get(1..).and_then(<[TensorId]>::split_first) else {
        return false;
    };
    node.op.is_weighted()
        && (constant(model, *weights).is_some() || ranged(model, *weights).is_some())
        && bias.iter().all(|id| constant(model, *id).is_some())
}

/// Scales each output channel of a weighted node and adds to it. `is_weighted` must hold.
pub(super) fn scale_outputs(model: &mut Model, index: usize, scale: &[f64], offset: &[f64]) {
    let node = model.nodes[index].clone();
    let shape = model.tensor(node.inputs[1]).shape.clone();
    let channels = scale.len();
    // Output channels are the innermost dimension of depthwise weights, else the outermost.
    let inner = match node.op {
        Op::DepthwiseConv { .. } => 1,
        _ => shape.elements().unwrap_or(0).checked_div(channels).unwrap_or(1).max(1),
    };
    let scaled = if let Some(ranged) = ranged(model, node.inputs[1]) {
        Source::Ranged(ranged.scaled(scale, inner))
    } else {
        let Some(weights) = constant(model, node.inputs[1]) else { return };
        let times = |value: &f32, scale: f64| (f64::from(*value) * scale) as f32;
        let mut scaled = Vec::with_capacity(weights.len());
        for (weights, scale) in weights.chunks(inner).zip(scale.iter().cycle()) {
            scaled.extend(weights.iter().map(|weight| times(weight, *scale)));
        }
        Source::inline(Data::F32(scaled))
    };
    let bias = node.inputs.get(2).and_then(|id| constant(model, *id));
    let bias: Vec<f32> = (0..channels)
        .map(|channel| {
            let bias = bias.map_or(0.0, |values| f64::from(values[channel]));
            (bias * scale[channel] + offset[channel]) as f32
        })
        .collect();
    let name = node.name;
    let weights = add_source(model, &format!("{name}.weights"), shape.dims(), scaled);
    let bias = add_constant(model, &format!("{name}.bias"), [channels], bias);
    model.nodes[index].inputs = vec![node.inputs[0], weights, bias];
}
