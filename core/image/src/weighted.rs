//! Weights and channel constants as their kernels read them.

use std::borrow::Cow;

use tilewright_kernels::pack::{self, Weights};
use tilewright_kernels::{Channel, Multiplier};
use tilewright_model::integer::{self, IntegerError};
use tilewright_model::{Data, Model, Node, Op as ModelOp};
use tilewright_plan::kernel::CHANNEL_CONSTANT_BYTES;
use tilewright_plan::{ChannelPart, Filters, Op, Packed};

/// Values of a node's weights, and how its op wants them to lie; nothing if the node has none that
/// are whole.
fn values<'m>(model: &'m Model, node: &Node, op: &Op) -> Option<(Cow<'m, Data>, Filters)> {
    let weights = model.tensor(*node.inputs.get(1)?);
    let source = weights.source.as_ref()?;
    let data = source.values();
    if data.len() != source.len() || data.as_i8().is_none() {
        return None;
    }
    let channels = match node.op {
        ModelOp::DepthwiseConv { .. } => weights.shape.dims().last()?,
        _ => weights.shape.dims().first()?,
    };
    let length = data.len() / (*channels).max(1);
    Some((data, op.filters(length as u64)))
}

/// The weights of a node for its op, of all its output channels or of a part of them; nothing if the node
/// has none that are whole, or not these channels.
pub fn weights(model: &Model, node: &Node, op: &Op, part: Option<ChannelPart>) -> Option<Vec<u8>> {
    let (data, filters) = values(model, node, op)?;
    let kernel = match node.op {
        ModelOp::Conv { .. } | ModelOp::TransposeConv { .. } => Weights::Conv,
        ModelOp::DepthwiseConv { .. } => Weights::Depthwise,
        ModelOp::FullyConnected { .. } => Weights::FullyConnected,
        _ => return None,
    };
    let weights = data.as_i8()?;
    let packed = match filters.packed {
        Packed::Natural => pack::weights(kernel, weights),
        Packed::Pairs => {
            pack::paired_weights(weights, filters.length as usize, filters.bytes as usize)
        }
        Packed::Transformed => pack::winograd_weights(weights, filters.length as usize / 9),
    };
    let Some(part) = part else { return Some(packed) };
    cut(packed, filters.start(part.start.into())?, filters.all_bytes(part.channels.into())?)
}

/// So many bytes from `start` on.
fn cut(packed: Vec<u8>, start: u64, bytes: u64) -> Option<Vec<u8>> {
    let end = usize::try_from(start.checked_add(bytes)?).ok()?;
    packed.get(usize::try_from(start).ok()?..end).map(<[u8]>::to_vec)
}

/// The channel constants of a node for its op, of all its output channels or of a part of them.
///
/// # Errors
/// If the node's quantisation has no integer form.
pub fn channels(
    model: &Model,
    node: &Node,
    op: &Op,
    part: Option<ChannelPart>,
) -> Result<Option<Vec<u8>>, IntegerError> {
    let Some(packed) = all_channels(model, node, op)? else { return Ok(None) };
    let Some(part) = part else { return Ok(Some(packed)) };
    let each = CHANNEL_CONSTANT_BYTES;
    Ok(cut(packed, each * u64::from(part.start), each * u64::from(part.channels)))
}

fn all_channels(model: &Model, node: &Node, op: &Op) -> Result<Option<Vec<u8>>, IntegerError> {
    let channels: Vec<Channel> = integer::channels(model, node)?
        .into_iter()
        .map(|channel| Channel {
            bias: channel.bias,
            factor: Multiplier { multiplier: channel.multiplier, shift: channel.shift },
        })
        .collect();
    let Some((data, filters)) = values(model, node, op) else { return Ok(None) };
    if !filters.are_paired() {
        return Ok(Some(pack::channel_constants(&channels)));
    }
    let zero = i8::try_from(op.input_zero[0]).ok();
    Ok(zero.zip(data.as_i8()).map(|(zero, weights)| {
        pack::paired_constants(&channels, zero, weights, filters.length as usize)
    }))
}
