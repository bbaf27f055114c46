//! Moves zeros around an image into the padding of the convolutions that read it. Pools keep
//! their pad: a padded zero takes part in a maximum, and in a mean's divisor.

use super::edit;
use crate::graph::Model;
use crate::op::{Op, Padding};

/// Runs the pass; says how many pads went.
pub fn run(model: &mut Model) -> usize {
    let mut changes = 0;
    let mut index = 0;
    while index < model.nodes.len() {
        if fuse(model, index) {
            changes += 1;
        } else {
            index += 1;
        }
    }
    changes
}

fn fuse(model: &mut Model, index: usize) -> bool {
    let Op::Pad { amounts } = &model.nodes[index].op else { return false };
    let [(0, 0), (top, bottom), (left, right), (0, 0)] = amounts[..] else { return false };
    let output = model.nodes[index].outputs[0];
    let readers: Vec<usize> =
        (0..model.nodes.len()).filter(|i| model.nodes[*i].inputs.contains(&output)).collect();
    let convolves = |reader: &usize| {
        let node = &model.nodes[*reader];
        matches!(node.op, Op::Conv { .. } | Op::DepthwiseConv { .. })
            && !node.inputs[1..].contains(&output)
    };
    if readers.is_empty() || edit::is_output(model, output) || !readers.iter().all(convolves) {
        return false;
    }
    for reader in readers {
        if let Op::Conv { window, .. } | Op::DepthwiseConv { window, .. } =
            &mut model.nodes[reader].op
        {
            let padding = window.padding;
            window.padding = Padding {
                top: padding.top + top,
                left: padding.left + left,
                bottom: padding.bottom + bottom,
                right: padding.right + right,
            };
        }
    }
    edit::bypass(model, index)
}
