//! Removes channels that need not be computed: those whose value is known, because their weights
//! are all zero, and those that nobody needs, because all weights that read them are zero. Known
//! values go into the bias of who reads them.
//!
//! Of depthwise layers whole words of channels stay.
//!
//! Exact in int8; in float but for the order of sums. A channel of a tensor is a place in its last
//! dimension.

mod kernel;
mod known;
mod needed;
mod rewrite;

use crate::graph::{Model, Node, TensorId};
use crate::op::Op;
use kernel::Kernel;
use known::Value;

/// For each tensor, something of each of its channels.
type Channels<T> = Vec<Vec<T>>;

/// Channels of all tensors together above which the pass does nothing: a few bytes of a file can claim
/// any number of them.
const MOST_CHANNELS: usize = 1 << 21;

/// Channels of a word.
const WORD: usize = 4;

/// Runs the pass; says how many channels of results went.
pub fn run(model: &mut Model) -> usize {
    let channels = (0..model.tensors.len()).map(|index| channels_of(model, TensorId(index)));
    if channels.fold(0, usize::saturating_add) > MOST_CHANNELS {
        return 0;
    }
    let known = known::known(model);
    let needed = needed::needed(model);
    let removed = choose(model, &known, &needed);
    let count = removed.iter().flatten().filter(|removed| **removed).count();
    if count > 0 {
        rewrite::rewrite(model, &known, &removed);
    }
    count
}

fn channels_of(model: &Model, id: TensorId) -> usize {
    model.tensor(id).shape.dims().last().copied().unwrap_or(0)
}

fn blank<T: Clone>(model: &Model, value: T) -> Channels<T> {
    (0..model.tensors.len())
        .map(|index| {
            let tensor = &model.tensors[index];
            let channels =
                if tensor.is_constant() { 0 } else { channels_of(model, TensorId(index)) };
            vec![value.clone(); channels]
        })
        .collect()
}

/// How a node's operands' channels relate to its result's.
enum Relation {
    /// Each result channel comes from all operand channels, through a kernel.
    Mixed,
    /// Channel `c` of the first operand makes channel `c` of the result, through a kernel.
    Depthwise,
    /// Channel `c` of each operand makes channel `c` of the result.
    Same,
    /// The operands' channels stand behind each other in the result.
    Joined,
    /// Unknown.
    Other,
}

fn relation(model: &Model, node: &Node) -> Relation {
    let Some(output) = node.outputs.first() else { return Relation::Other };
    let output = &model.tensor(*output).shape;
    let last = output.rank().wrapping_sub(1);
    let first = node.inputs.first().map(|id| &model.tensor(*id).shape);
    let same_channels = first.is_some_and(|shape| shape.dims().last() == output.dims().last());
    let plain = node.inputs.iter().all(|id| {
        let tensor = model.tensor(*id);
        !tensor.is_constant() && tensor.shape == *output
    });
    let is_kernel = Kernel::of(model, node).is_some();
    match &node.op {
        Op::Conv { groups: 1, .. } | Op::FullyConnected { .. } | Op::TransposeConv { .. }
            if is_kernel =>
        {
            Relation::Mixed
        }
        Op::DepthwiseConv { multiplier: 1, .. } if is_kernel => Relation::Depthwise,
        Op::MaxPool { .. } | Op::AveragePool { .. } => Relation::Same,
        Op::Mean { axes, .. } => {
            let rank = first.map_or(0, |shape| shape.rank());
            if axes.contains(&rank.wrapping_sub(1)) { Relation::Other } else { Relation::Same }
        }
        Op::Pad { amounts, .. } if amounts.last() == Some(&(0, 0)) => Relation::Same,
        Op::Reshape if same_channels => Relation::Same,
        Op::Activation(_) | Op::Unary(_) | Op::Requantise if plain => Relation::Same,
        op if op.is_binary() && plain => Relation::Same,
        Op::Concat { axis } if *axis == last => Relation::Joined,
        _ => Relation::Other,
    }
}

/// The channels to remove: those known or not needed, less those that their maker cannot leave out
/// or a reader cannot do without.
fn choose(
    model: &Model,
    known: &Channels<Option<Value>>,
    needed: &Channels<bool>,
) -> Channels<bool> {
    let mut removed = blank(model, false);
    for id in model.nodes.iter().flat_map(|node| &node.outputs) {
        for (channel, removed) in removed[id.0].iter_mut().enumerate() {
            *removed = known[id.0][channel].is_some() || !needed[id.0][channel];
        }
    }
    for id in model.inputs.iter().chain(&model.outputs) {
        removed[id.0].fill(false);
    }
    while count(&removed) > 0 && restrict(model, known, &mut removed) {}
    removed
}

/// One round over all nodes and tensors; says whether anything is left in that was to go.
fn restrict(model: &Model, known: &Channels<Option<Value>>, removed: &mut Channels<bool>) -> bool {
    let before = count(removed);
    for node in &model.nodes {
        let Some(output) = node.outputs.first().copied() else { continue };
        match relation(model, node) {
            Relation::Mixed => {
                if let Some(kernel) = Kernel::of(model, node) {
                    let input = node.inputs[0].0;
                    for (channel, removed) in removed[input].iter_mut().enumerate() {
                        *removed = *removed
                            && kernel.can_fold(model, node, channel, known[input][channel]);
                    }
                }
            }
            Relation::Depthwise => {
                keep_words(&mut removed[output.0]);
                equalise(removed, node.inputs[0], output, 0);
            }
            Relation::Same => {
                // The second time each operand knows of the others.
                for _ in 0..2 {
                    node.inputs.iter().for_each(|input| equalise(removed, *input, output, 0));
                }
            }
            Relation::Joined => {
                let mut offset = 0;
                for input in &node.inputs {
                    let channels = channels_of(model, *input);
                    if removed[input.0].len() == channels {
                        equalise(removed, *input, output, offset);
                    } else {
                        removed[output.0][offset..offset + channels].fill(false);
                    }
                    offset += channels;
                }
            }
            Relation::Other => {
                let all = node.inputs.iter().chain(&node.outputs);
                all.for_each(|id| removed[id.0].fill(false));
            }
        }
    }
    for channels in removed.iter_mut() {
        // One channel stays, so that there still is a tensor.
        if !channels.is_empty() && channels.iter().all(|removed| *removed) {
            channels[0] = false;
        }
    }
    count(removed) != before
}

/// Depthwise kernels take words of four channels, and pixels that are no whole words several times as long: of the
/// channels of a layer that would go, so many stay that the rest is whole words, if it was before.
fn keep_words(removed: &mut [bool]) {
    let left = removed.iter().filter(|removed| !**removed).count();
    let most = left.next_multiple_of(WORD);
    if removed.len().is_multiple_of(WORD) {
        removed.iter_mut().filter(|removed| **removed).take(most - left).for_each(|r| *r = false);
    }
}

fn count(removed: &Channels<bool>) -> usize {
    removed.iter().flatten().filter(|removed| **removed).count()
}

/// Channel `c` of the one tensor and `c + offset` of the other stay both or go both.
fn equalise(removed: &mut Channels<bool>, input: TensorId, output: TensorId, offset: usize) {
    for channel in 0..removed[input.0].len() {
        let both = removed[input.0][channel] && removed[output.0][channel + offset];
        removed[input.0][channel] = both;
        removed[output.0][channel + offset] = both;
    }
}
