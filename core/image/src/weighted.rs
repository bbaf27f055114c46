//! Weights and channel constants as their kernels read them, some output channels at a time: a layer may have
//! a hundred million weights.

use std::borrow::Cow;
use std::ops::Range;

use tilewright_kernels::pack::{self, Weights};
use tilewright_kernels::{Channel, Multiplier};
use tilewright_model::data::Source;
use tilewright_model::integer::{self, IntegerError};
use tilewright_model::{Model, Node, Op as ModelOp};
use tilewright_plan::{ChannelPart, Filters, Op, Packed};

use crate::size;

mod settled;

/// Weights that are packed at once.
const AT_ONCE: usize = 1 << 18;

/// A node's filters, and how its op wants them to lie.
struct Weighted<'m> {
    source: &'m Source,
    kernel: Weights,
    filters: Filters,
    /// Output channels.
    channels: usize,
}

impl<'m> Weighted<'m> {
    /// Nothing if the node has no weights.
    fn of(model: &'m Model, node: &Node, op: &Op) -> Option<Self> {
        let weights = model.tensor(*node.inputs.get(1)?);
        let source = weights.source.as_ref()?;
        let dims = weights.shape.dims();
        let (kernel, channels) = match node.op {
            ModelOp::Conv { .. } | ModelOp::TransposeConv { .. } => (Weights::Conv, dims.first()?),
            ModelOp::DepthwiseConv { .. } => (Weights::Depthwise, dims.last()?),
            ModelOp::FullyConnected { .. } => (Weights::FullyConnected, dims.first()?),
            _ => return None,
        };
        let length = source.len() / (*channels).max(1);
        let filters = op.filters(length as u64);
        Some(Self { source, kernel, filters, channels: *channels })
    }

    /// The channels of a part, which must begin where filters can be cut.
    fn range(&self, part: Option<ChannelPart>) -> Option<Range<usize>> {
        let Some(part) = part else { return Some(0..self.channels) };
        self.filters.start(part.start.into())?;
        let start = part.start as usize;
        let end = start.checked_add(part.channels as usize)?;
        (end <= self.channels).then_some(start..end)
    }

    /// Channels in pieces of [`AT_ONCE`] weights or a little more.
    fn pieces(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let length = size(self.filters.length).max(1);
        let together = size(self.filters.together).max(2);
        let step = (AT_ONCE / length).max(1).next_multiple_of(together);
        let end = range.end;
        range.step_by(step).map(move |first| first..end.min(first.saturating_add(step)))
    }

    /// The weights of some channels, as the model has them.
    fn values(&self, channels: Range<usize>) -> Option<Cow<'m, [i8]>> {
        let length = size(self.filters.length);
        self.source.integers(channels.start.checked_mul(length)?..channels.end.checked_mul(length)?)
    }

    /// The same as their kernel reads them.
    fn packed(&self, channels: Range<usize>) -> Option<Vec<u8>> {
        let Filters { packed, length, bytes, together } = self.filters;
        let [length, bytes, together] = [length, bytes, together].map(size);
        // What lies beside an odd channel is the next one's, if there is one.
        let end = channels.end.next_multiple_of(if self.filters.are_paired() { 2 } else { 1 });
        let weights = self.values(channels.start..end.min(self.channels))?;
        Some(match packed {
            Packed::Natural => pack::weights(self.kernel, &weights),
            Packed::Pairs => pack::paired_weights(&weights, length, bytes),
            Packed::Transformed => pack::winograd_weights(&weights, length / 9),
            Packed::Sparse => pack::sparse_weights(&weights, length, together),
        })
    }

    /// Weights of a depthwise layer, whose channels lie side by side.
    fn side_by_side(&self, part: Option<ChannelPart>) -> Option<Vec<u8>> {
        let weights = self.source.integers(0..self.source.len())?;
        let packed = pack::weights(self.kernel, &weights);
        let Some(part) = part else { return Some(packed) };
        let start = size(self.filters.start(part.start.into())?);
        let bytes = size(self.filters.all_bytes(part.channels.into())?);
        packed.get(start..start.checked_add(bytes)?).map(<[u8]>::to_vec)
    }
}

/// Calls `sink` with the weights of a node for its op, piece by piece, of all its output channels or of a part
/// of them; nothing if the node has none that are whole, or not these channels.
pub fn weights(
    model: &Model,
    node: &Node,
    op: &Op,
    part: Option<ChannelPart>,
    sink: &mut dyn FnMut(&[u8]),
) -> Option<()> {
    let weighted = Weighted::of(model, node, op)?;
    if let ModelOp::DepthwiseConv { .. } = node.op {
        sink(&weighted.side_by_side(part)?);
        return Some(());
    }
    for piece in weighted.pieces(weighted.range(part)?) {
        sink(&weighted.packed(piece)?);
    }
    Some(())
}

/// The channel constants of a node for its op, of all its output channels or of a part of them; nothing if
/// its weights are not whole, or have not these channels.
///
/// # Errors
/// If the node's quantisation has no integer form.
pub fn channels(
    model: &Model,
    node: &Node,
    op: &Op,
    part: Option<ChannelPart>,
) -> Result<Option<Vec<u8>>, IntegerError> {
    let channels: Vec<Channel> = integer::channels(model, node)?
        .into_iter()
        .map(|channel| Channel {
            bias: channel.bias,
            factor: Multiplier { multiplier: channel.multiplier, shift: channel.shift },
        })
        .collect();
    Ok(Weighted::of(model, node, op).and_then(|weighted| constants(&weighted, op, part, &channels)))
}

fn constants(
    weighted: &Weighted<'_>,
    op: &Op,
    part: Option<ChannelPart>,
    channels: &[Channel],
) -> Option<Vec<u8>> {
    let range = weighted.range(part)?;
    let length = size(weighted.filters.length);
    if weighted.filters.packed == Packed::Natural {
        // Weights may have a zero point.
        let settled = channels.get(range)?.iter();
        let settled = settled.map(|channel| settled::channel(channel, 255 * length as u64));
        return Some(pack::channel_constants(&settled.collect::<Vec<Channel>>()));
    }
    let zero = i8::try_from(op.input_zero[0]).ok()?;
    let mut packed = Vec::new();
    for piece in weighted.pieces(range) {
        let weights = weighted.values(piece.clone())?;
        let filters = weights.chunks_exact(length.max(1));
        let settled = channels.get(piece)?.iter().zip(filters).map(|(channel, filter)| {
            let weights = filter.iter().map(|weight| u64::from(weight.unsigned_abs()));
            settled::channel(channel, weights.sum())
        });
        let settled: Vec<Channel> = settled.collect();
        packed.extend(pack::paired_constants(&settled, zero, &weights, length));
    }
    Some(packed)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use tilewright_model::seeded::Seeded;

    /// Filters of `length` weights for 13 channels, in each way that they may lie.
    fn weighted(source: &Source, length: u64) -> [Weighted<'_>; 3] {
        let four = length.next_multiple_of(4);
        let ways = [
            (Packed::Natural, length, 1),
            (Packed::Pairs, four, 2),
            (Packed::Transformed, length / 9 * 32, 2),
        ];
        ways.map(|(packed, bytes, together)| Weighted {
            source,
            kernel: Weights::Conv,
            filters: Filters { packed, length, bytes, together },
            channels: 13,
        })
    }

    #[test]
    fn pieces_are_the_whole() {
        let source = Source::Seeded(Seeded::floats(3, 13 * 36, 1.0).integers());
        for weighted in weighted(&source, 36) {
            let whole = weighted.packed(0..13).unwrap();
            for step in [2, 4, 6, 12] {
                let pieces =
                    (0..13).step_by(step).map(|first| weighted.packed(first..13.min(first + step)));
                let joined: Vec<u8> = pieces.flat_map(Option::unwrap).collect();
                assert_eq!(joined, whole, "{step}");
            }
            let part = ChannelPart { start: 4, channels: 6 };
            let start = size(weighted.filters.start(4).unwrap());
            let end = start + size(weighted.filters.all_bytes(6).unwrap());
            let found = weighted.packed(weighted.range(Some(part)).unwrap()).unwrap();
            assert_eq!(found, whole[start..end]);
        }
    }

    #[test]
    fn channels_that_are_not_there_have_no_part() {
        let source = Source::Seeded(Seeded::floats(3, 13 * 36, 1.0).integers());
        for weighted in weighted(&source, 36) {
            let part = |start, channels| weighted.range(Some(ChannelPart { start, channels }));
            assert_eq!(part(12, 1), Some(12..13));
            assert_eq!((part(12, 2), part(u32::MAX - 1, u32::MAX)), (None, None));
            let paired = weighted.filters.are_paired();
            assert_eq!(part(1, 2), (!paired).then_some(1..3));
        }
    }

    #[test]
    fn large_layers_come_in_pieces_of_whole_pairs() {
        let source = Source::Seeded(Seeded::floats(3, 13 << 20, 1.0).integers());
        for weighted in weighted(&source, 1 << 20) {
            let pieces: Vec<_> = weighted.pieces(0..13).collect();
            assert_eq!((pieces.len(), &pieces[0], &pieces[6]), (7, &(0..2), &(12..13)));
        }
    }
}
