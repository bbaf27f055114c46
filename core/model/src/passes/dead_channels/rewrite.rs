//! Takes channels out of tensors, weights and biases.

use super::kernel::Kernel;
use super::{Channels, Value};
use crate::data::{Data, Source};
use crate::graph::{Model, Node, TensorId};
use crate::op::Op;
use crate::shape::Shape;
use crate::tensor::{DType, Quantisation, Tensor};

pub(super) fn rewrite(
    model: &mut Model,
    known: &Channels<Option<Value>>,
    removed: &Channels<bool>,
) {
    for index in 0..model.nodes.len() {
        let node = model.nodes[index].clone();
        let touched = |id: &TensorId| removed[id.0].contains(&true);
        if !node.op.is_weighted() || !node.inputs[..1].iter().chain(&node.outputs).any(touched) {
            continue;
        }
        if let Some((weights, bias)) = operands(model, &node, known, removed) {
            let mut inputs = vec![node.inputs[0], model.add_tensor(weights)];
            inputs.extend(bias.map(|bias| model.add_tensor(bias)));
            model.nodes[index].inputs = inputs;
        }
    }
    for (tensor, removed) in model.tensors.iter_mut().zip(removed) {
        if removed.contains(&true) {
            let mut dims = tensor.shape.dims().to_vec();
            if let Some(last) = dims.last_mut() {
                *last = removed.iter().filter(|removed| !**removed).count();
            }
            tensor.shape = Shape::new(dims);
        }
    }
}

/// Weights and bias without the channels that go.
fn operands(
    model: &Model,
    node: &Node,
    known: &Channels<Option<Value>>,
    removed: &Channels<bool>,
) -> Option<(Tensor, Option<Tensor>)> {
    let kernel = Kernel::of(model, node)?;
    let (input, output) = (node.inputs[0], *node.outputs.first()?);
    let kept = |removed: &[bool]| -> Vec<usize> {
        (0..removed.len()).filter(|channel| !removed[*channel]).collect()
    };
    let rows = kept(&removed[output.0]);
    let is_depthwise = matches!(node.op, Op::DepthwiseConv { .. });
    let columns = match &removed[input.0] {
        _ if is_depthwise => vec![0],
        // A constant operand loses nothing.
        none if none.is_empty() => (0..kernel.inputs).collect(),
        removed => kept(removed),
    };

    let original = model.tensor(node.inputs[1]);
    let order: Vec<(usize, usize, usize)> = match is_depthwise {
        true => {
            (0..kernel.taps).flat_map(|tap| rows.iter().map(move |row| (*row, tap, 0))).collect()
        }
        false => rows
            .iter()
            .flat_map(|row| (0..kernel.taps).map(move |tap| (*row, tap)))
            .flat_map(|(row, tap)| columns.iter().map(move |column| (row, tap, *column)))
            .collect(),
    };
    let values = order.into_iter().map(|(row, tap, column)| kernel.stored(row, tap, column));
    let dims = original.shape.dims();
    let dims = match *dims {
        [_, h, w, _] if is_depthwise => vec![1, h, w, rows.len()],
        [_, h, w, _] => vec![rows.len(), h, w, columns.len()],
        _ => vec![rows.len(), columns.len()],
    };
    let weights = Tensor {
        name: format!("{}.kept", original.name),
        shape: Shape::new(dims),
        quantisation: original.quantisation.as_ref().map(|scales| of_rows(scales, &rows)),
        source: Some(Source::inline(match original.dtype {
            DType::F32 => Data::F32(values.map(|value| value as f32).collect()),
            DType::I8 => Data::I8(values.map(|value| value as i8).collect()),
            DType::I32 | DType::I16 | DType::I64 | DType::U8 => return None,
        })),
        dtype: original.dtype,
    };

    let gone: Vec<(usize, f64)> = (0..removed[input.0].len())
        .filter(|channel| removed[input.0][*channel] && !is_depthwise)
        .filter_map(|channel| Some((channel, known[input.0][channel]?.difference(model, input))))
        .filter(|(_, difference)| *difference != 0.0)
        .collect();
    let added = |row: usize| -> f64 {
        gone.iter().map(|(channel, difference)| kernel.sum(row, *channel) * difference).sum()
    };
    let bias = node.inputs.get(2).map(|id| model.tensor(*id));
    if bias.is_none() && gone.is_empty() {
        return Some((weights, None));
    }
    let old = bias.and_then(|bias| bias.source.as_ref()).and_then(|source| source.data());
    let (dtype, data) = match original.dtype {
        DType::I8 => {
            let old = old.and_then(Data::as_i32);
            let value = |row: &usize| {
                let sum = added(*row) as i64 as i32;
                old.map_or(0, |old| old[*row]).wrapping_add(sum)
            };
            (DType::I32, Data::I32(rows.iter().map(value).collect()))
        }
        _ => {
            let old = old.and_then(Data::as_f32);
            let value =
                |row: &usize| (old.map_or(0.0, |old| f64::from(old[*row])) + added(*row)) as f32;
            (DType::F32, Data::F32(rows.iter().map(value).collect()))
        }
    };
    let name = bias.map_or_else(|| format!("{}.bias", node.name), |b| format!("{}.kept", b.name));
    let quantisation = bias.and_then(|bias| bias.quantisation.as_ref());
    let bias = Tensor {
        name,
        shape: Shape::new([rows.len()]),
        dtype,
        quantisation: quantisation.map(|scales| of_rows(scales, &rows)),
        source: Some(Source::inline(data)),
    };
    Some((weights, Some(bias)))
}

/// The scales of the rows that stay.
fn of_rows(scales: &Quantisation, rows: &[usize]) -> Quantisation {
    if scales.axis.is_none() {
        return scales.clone();
    }
    Quantisation {
        scales: rows.iter().map(|row| scales.scales[*row]).collect(),
        zeros: rows.iter().map(|row| scales.zeros[*row]).collect(),
        axis: scales.axis,
    }
}
