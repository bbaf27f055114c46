//! Weights and bias of one node.

use std::borrow::Cow;

use super::QuantiseError;
use crate::data::{Data, Source};
use crate::graph::{Model, Node};
use crate::op::Op;
use crate::seeded::Seeded;
use crate::shape::Shape;
use crate::tensor::{DType, Quantisation, Tensor};

/// A bias and a sum of products stay below this in size, so that both together fit 32 bits and
/// kernels can add a rounding term.
const LARGEST_SUM: f64 = (1u32 << 30) as f64;

/// Real multipliers stay above this, where 31 bits still express them well.
const SMALLEST_MULTIPLIER: f64 = 1.0 / (1u32 << 24) as f64;

/// Steps that the largest bias of a layer without weights takes.
const SPARE_STEPS: f64 = (1u32 << 20) as f64;

/// Operands that replace the float ones.
pub(super) struct Weighted {
    pub(super) weights: Tensor,
    pub(super) bias: Option<Tensor>,
}

/// The scale of each output channel's weights, given the input's scale: full range, unless the
/// bias would leave 32 bits.
pub(super) fn channel_scales(
    model: &Model,
    node: &Node,
    input: f64,
) -> Result<Vec<f64>, QuantiseError> {
    let bias = floats(model, node, 2)?;
    let bias = bias.as_deref();
    let (layout, count, sizes) = sizes(model, node)?;
    let offset = |channel: usize| bias.map_or(0.0, |bias| f64::from(bias[channel].abs()));
    // Channels without weights take the scale of the others, so that no multiplier stands out;
    // where there are none, the bias alone decides.
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let spare = if largest > 0.0 {
        largest / 127.0
    } else {
        let offset = (0..layout.channels).map(offset).fold(0.0, f64::max);
        if offset > 0.0 { offset / (input * SPARE_STEPS) } else { 1.0 / SPARE_STEPS }
    };
    let products = count.checked_div(layout.channels).unwrap_or(0) as f64;
    let room = (LARGEST_SUM - products * 255.0 * 127.0).max(LARGEST_SUM / 2.0);
    let scale = |(channel, size): (usize, &f64)| {
        let full = if *size > 0.0 { *size / 127.0 } else { spare };
        full.max(offset(channel) / (input * room))
    };
    Ok(sizes.iter().enumerate().map(scale).collect())
}

/// The largest absolute weight of each output channel, and the number of weights. Seeded weights
/// are not made for it: their integers reach 127 by definition.
fn sizes(model: &Model, node: &Node) -> Result<(Layout, usize, Vec<f64>), QuantiseError> {
    if let Some(seeded) = seeded(model, node) {
        let layout = Layout::of(model, node, seeded.len());
        let sizes = vec![f64::from(seeded.scale().unwrap_or(1.0).abs()) * 127.0; layout.channels];
        return Ok((layout, seeded.len(), sizes));
    }
    let values = floats(model, node, 1)?.ok_or_else(|| bad(node, "it has no weights"))?;
    let layout = Layout::of(model, node, values.len());
    let mut sizes = vec![0.0f64; layout.channels];
    for (position, weight) in values.iter().enumerate() {
        let size = &mut sizes[layout.channel(position)];
        *size = size.max(f64::from(weight.abs()));
    }
    Ok((layout, values.len(), sizes))
}

/// The node's weights, if a seed gives them.
fn seeded(model: &Model, node: &Node) -> Option<Seeded> {
    match model.tensor(*node.inputs.get(1)?).source.as_ref()? {
        Source::Seeded(seeded) if seeded.scale().is_some_and(f32::is_finite) => Some(*seeded),
        _ => None,
    }
}

/// Which output channel a weight belongs to.
struct Layout {
    axis: usize,
    channels: usize,
    inner: usize,
}

impl Layout {
    fn of(model: &Model, node: &Node, count: usize) -> Self {
        let dims = model.tensor(node.inputs[1]).shape.dims();
        // Output channels are the innermost dimension of depthwise weights, else the outermost.
        let axis = if matches!(node.op, Op::DepthwiseConv { .. }) { 3 } else { 0 };
        let channels = dims.get(axis).copied().unwrap_or(0);
        let inner = if axis == 3 { 1 } else { count.checked_div(channels).unwrap_or(1).max(1) };
        Self { axis, channels, inner }
    }

    fn channel(&self, position: usize) -> usize {
        position / self.inner % self.channels.max(1)
    }
}

fn bad(node: &Node, reason: &'static str) -> QuantiseError {
    QuantiseError::Weights { node: node.name.clone(), reason }
}

fn floats<'m>(
    model: &'m Model,
    node: &Node,
    index: usize,
) -> Result<Option<Cow<'m, [f32]>>, QuantiseError> {
    let Some(id) = node.inputs.get(index) else { return Ok(None) };
    let values = match model.tensor(*id).source.as_ref().map(|source| source.values()) {
        Some(Cow::Borrowed(Data::F32(values))) => Cow::Borrowed(values.as_slice()),
        Some(Cow::Owned(Data::F32(values))) => Cow::Owned(values),
        _ => return Err(bad(node, "its weights or bias are not constant floats")),
    };
    if Some(values.len()) != model.tensor(*id).shape.elements() {
        return Err(bad(node, "its weights or bias cannot be read"));
    }
    if values.iter().any(|value| !value.is_finite()) {
        return Err(bad(node, "a weight or bias is infinite or no number"));
    }
    Ok(Some(values))
}

/// Quantises the node's weights, one scale for each output channel or as they state, and its bias.
pub(super) fn quantise(
    model: &Model,
    node: &Node,
    scales: &[Option<Quantisation>],
) -> Result<Weighted, QuantiseError> {
    let bias = floats(model, node, 2)?;
    let original = model.tensor(node.inputs[1]);
    let layout = Layout::of(model, node, original.shape.elements().unwrap_or(0));
    let scale_of = |index: usize| scales[index].as_ref().map_or(1.0, |q| f64::from(q.scale(0)));
    let input = scale_of(node.inputs[0].0);
    let output = node.outputs.first().map_or(1.0, |id| scale_of(id.0));
    let stated = original.quantisation.as_ref();
    let weight_scales: Vec<f32> = match stated {
        Some(stated) => (0..layout.channels).map(|channel| stated.scale(channel)).collect(),
        None => channel_scales(model, node, input)?
            .into_iter()
            .map(|scale| scale.max(output * SMALLEST_MULTIPLIER / input) as f32)
            .collect(),
    };

    // A scale that is still the seed's own makes the quantised weights the seed's integers.
    let exact = seeded(model, node)
        .filter(|seeded| weight_scales.iter().all(|scale| Some(*scale) == seeded.scale()));
    let source = match exact {
        Some(seeded) => Source::Seeded(seeded.integers()),
        None => Source::inline(Data::I8(integers(model, node, &layout, &weight_scales)?)),
    };
    let weights = Tensor {
        name: format!("{}.weights.int8", node.name),
        shape: original.shape.clone(),
        dtype: DType::I8,
        quantisation: Some(stated.cloned().unwrap_or_else(|| Quantisation {
            zeros: vec![0; layout.channels],
            scales: weight_scales.clone(),
            axis: Some(layout.axis),
        })),
        source: Some(source),
    };
    let bias = bias.map(|values| Tensor {
        name: format!("{}.bias.int32", node.name),
        shape: Shape::new([layout.channels]),
        dtype: DType::I32,
        quantisation: None,
        source: Some(Source::inline(Data::I32(
            values
                .iter()
                .zip(&weight_scales)
                .map(|(bias, scale)| {
                    libm::round(f64::from(*bias) / (input * f64::from(*scale))) as i32
                })
                .collect(),
        ))),
    });
    Ok(Weighted { weights, bias })
}

/// The float weights as integers of their channels' scales.
fn integers(
    model: &Model,
    node: &Node,
    layout: &Layout,
    scales: &[f32],
) -> Result<Vec<i8>, QuantiseError> {
    let values = floats(model, node, 1)?.ok_or_else(|| bad(node, "it has no weights"))?;
    // Scales of ours are symmetric; those of a file may stand for −128 too, and have a zero point.
    let stated = model.tensor(node.inputs[1]).quantisation.as_ref();
    let least = if stated.is_some() { -128.0 } else { -127.0 };
    let zero = stated.map_or(0.0, |stated| f64::from(stated.zero()));
    let integer = |(position, weight): (usize, &f32)| {
        let scale = f64::from(scales[layout.channel(position)]);
        (libm::round(f64::from(*weight) / scale) + zero).clamp(least, 127.0) as i8
    };
    Ok(values.iter().enumerate().map(integer).collect())
}
