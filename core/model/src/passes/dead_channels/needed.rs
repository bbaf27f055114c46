//! Channels that some output of the model depends on.

use super::kernel::Kernel;
use super::{Channels, Relation, blank, channels_of, relation};
use crate::graph::Model;

/// For each tensor's channels whether they are needed.
pub(super) fn needed(model: &Model) -> Channels<bool> {
    let mut needed = blank(model, false);
    for id in &model.outputs {
        needed[id.0].fill(true);
    }
    for node in model.nodes.iter().rev() {
        let Some(output) = node.outputs.first() else { continue };
        let result = needed[output.0].clone();
        match (relation(model, node), Kernel::of(model, node)) {
            (Relation::Mixed, Some(kernel)) => {
                let input = &mut needed[node.inputs[0].0];
                for output in (0..kernel.outputs).filter(|output| result[*output]) {
                    for (channel, needed) in input.iter_mut().enumerate() {
                        *needed = *needed || !kernel.is_zero(output, channel);
                    }
                    if input.iter().all(|needed| *needed) {
                        break;
                    }
                }
            }
            (Relation::Depthwise, Some(kernel)) => {
                let input = &mut needed[node.inputs[0].0];
                for (channel, needed) in input.iter_mut().enumerate() {
                    *needed |= result[channel] && !kernel.is_zero(channel, 0);
                }
            }
            (Relation::Same, _) => {
                for input in &node.inputs {
                    let pairs = needed[input.0].iter_mut().zip(&result);
                    pairs.for_each(|(needed, result)| *needed |= result);
                }
            }
            (Relation::Joined, _) => {
                let mut rest = result.as_slice();
                for input in &node.inputs {
                    let (own, others) = rest.split_at(channels_of(model, *input));
                    let pairs = needed[input.0].iter_mut().zip(own);
                    pairs.for_each(|(needed, result)| *needed |= result);
                    rest = others;
                }
            }
            _ => node.inputs.iter().for_each(|id| needed[id.0].fill(true)),
        }
    }
    needed
}
