//! Folds batch normalisation into the weights before it; into the fully connected layer behind it
//! where there are none; else it becomes a depthwise convolution of one tap.

use super::edit;
use crate::graph::{Model, Node, TensorId};
use crate::op::{Activation, Op, Window};
use crate::shape::Shape;

/// Runs the pass; says how many batch normalisations it rewrote.
pub fn run(model: &mut Model) -> usize {
    let mut changes = 0;
    let mut index = 0;
    while index < model.nodes.len() {
        if let Some((scale, offset)) = affine(model, index)
            && (into_producer(model, index, &scale, &offset)
                || into_consumer(model, index, &scale, &offset)
                || into_depthwise(model, index, &scale, &offset))
        {
            changes += 1;
        } else {
            index += 1;
        }
    }
    changes
}

/// The normalisation as factor and summand of each channel.
pub(super) fn affine(model: &Model, index: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let node = &model.nodes[index];
    let Op::BatchNorm { epsilon } = node.op else { return None };
    let parameters: Vec<&[f32]> =
        node.inputs[1..].iter().map(|id| edit::constant(model, *id)).collect::<Option<_>>()?;
    let [scale, offset, mean, variance] = parameters.as_slice() else { return None };
    Some(
        (0..scale.len())
            .map(|c| {
                let deviation = libm::sqrt(f64::from(variance[c]) + f64::from(epsilon));
                let factor = f64::from(scale[c]) / deviation;
                (factor, f64::from(offset[c]) - f64::from(mean[c]) * factor)
            })
            .unzip(),
    )
}

fn into_producer(model: &mut Model, index: usize, scale: &[f64], offset: &[f64]) -> bool {
    let last = |id: TensorId| model.tensor(id).shape.dims().last().copied();
    let mut value = model.nodes[index].inputs[0];
    let producer = loop {
        let Some(producer) = edit::private_producer(model, value) else { return false };
        let node = &model.nodes[producer];
        // A reshape that keeps the channels together.
        if node.op != Op::Reshape || last(node.inputs[0]) != last(value) {
            break producer;
        }
        value = node.inputs[0];
    };
    let node = &model.nodes[producer];
    if !edit::is_weighted(model, node) || node.op.activation() != Some(Activation::None) {
        return false;
    }
    edit::scale_outputs(model, producer, scale, offset);
    edit::bypass(model, index)
}

fn into_consumer(model: &mut Model, index: usize, scale: &[f64], offset: &[f64]) -> bool {
    let output = model.nodes[index].outputs[0];
    let readers: Vec<usize> =
        (0..model.nodes.len()).filter(|i| model.nodes[*i].inputs.contains(&output)).collect();
    let [reader] = readers.as_slice() else { return false };
    let node = model.nodes[*reader].clone();
    let dense = matches!(node.op, Op::FullyConnected { .. })
        && edit::is_weighted(model, &node)
        && !edit::is_output(model, output);
    let weights = node.inputs.get(1).filter(|_| dense).and_then(|id| edit::constant(model, *id));
    let Some(weights) = weights else { return false };
    let mut bias: Vec<f64> = match node.inputs.get(2).and_then(|id| edit::constant(model, *id)) {
        Some(values) => values.iter().map(|value| f64::from(*value)).collect(),
        None => vec![0.0; weights.len() / scale.len().max(1)],
    };
    let mut scaled = weights.to_vec();
    for (row, bias) in scaled.chunks_exact_mut(scale.len().max(1)).zip(&mut bias) {
        for (channel, weight) in row.iter_mut().enumerate() {
            *bias += f64::from(*weight) * offset[channel];
            *weight = (f64::from(*weight) * scale[channel]) as f32;
        }
    }
    let shape = model.tensor(node.inputs[1]).shape.clone();
    let weights =
        edit::add_constant(model, &format!("{}.weights", node.name), shape.dims(), scaled);
    let rounded: Vec<f32> = bias.iter().map(|value| *value as f32).collect();
    let bias = edit::add_constant(model, &format!("{}.bias", node.name), [rounded.len()], rounded);
    model.nodes[*reader].inputs = vec![output, weights, bias];
    edit::bypass(model, index)
}

fn into_depthwise(model: &mut Model, index: usize, scale: &[f64], offset: &[f64]) -> bool {
    let node = model.nodes[index].clone();
    let shape = model.tensor(node.inputs[0]).shape.clone();
    let channels = scale.len();
    let narrow = |values: &[f64]| values.iter().map(|value| *value as f32).collect::<Vec<_>>();
    let weights = edit::add_constant(
        model,
        &format!("{}.weights", node.name),
        [1, 1, 1, channels],
        narrow(scale),
    );
    let bias =
        edit::add_constant(model, &format!("{}.bias", node.name), [channels], narrow(offset));
    let op = Op::DepthwiseConv {
        window: Window::dense([1, 1]),
        multiplier: 1,
        activation: Activation::None,
    };
    if shape.rank() == 4 {
        model.nodes[index] = Node { op, inputs: vec![node.inputs[0], weights, bias], ..node };
        return true;
    }
    // Another rank is seen as an image with one row for each set of channels.
    let rows = shape.elements().unwrap_or(0).checked_div(channels).unwrap_or(0);
    let image = Shape::new([1, rows, 1, channels]);
    let before = edit::add_activation(model, &format!("{}.image", node.name), image.clone());
    let after = edit::add_activation(model, &format!("{}.scaled", node.name), image);
    let reshape = |suffix: &str, input: TensorId, output: TensorId| Node {
        name: format!("{}.{suffix}", node.name),
        op: Op::Reshape,
        inputs: vec![input],
        outputs: vec![output],
    };
    let first = reshape("image", node.inputs[0], before);
    let last = reshape("back", after, node.outputs[0]);
    let middle =
        Node { name: node.name, op, inputs: vec![before, weights, bias], outputs: vec![after] };
    model.nodes.splice(index..=index, [first, middle, last]);
    true
}
