//! Moves what surrounds an image into the padding of those who read it: zeros into that of
//! convolutions, the least value that there is into that of max pools. Else pools keep their pad: a
//! padded zero takes part in a maximum, and in a mean's divisor.

use super::edit;
use crate::graph::{Model, Node};
use crate::integer;
use crate::op::{Op, Padding, Window};
use crate::tensor::DType;

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
    let Op::Pad { amounts, filler } = &model.nodes[index].op else { return false };
    let [(0, 0), (top, bottom), (left, right), (0, 0)] = amounts[..] else { return false };
    let is_zero = *filler == 0.0;
    let is_least = is_least(model, &model.nodes[index], *filler);
    let added = Padding { top, left, bottom, right };
    let output = model.nodes[index].outputs[0];
    let readers: Vec<usize> =
        (0..model.nodes.len()).filter(|i| model.nodes[*i].inputs.contains(&output)).collect();
    let takes = |reader: &usize| {
        let node = &model.nodes[*reader];
        match &node.op {
            Op::Conv { .. } | Op::DepthwiseConv { .. } => {
                is_zero && !node.inputs[1..].contains(&output)
            }
            Op::MaxPool { window, .. } => is_least && always_sees(window, added),
            _ => false,
        }
    };
    if readers.is_empty() || edit::is_output(model, output) || !readers.iter().all(takes) {
        return false;
    }
    for reader in readers {
        if let Op::Conv { window, .. }
        | Op::DepthwiseConv { window, .. }
        | Op::MaxPool { window, .. } = &mut model.nodes[reader].op
        {
            window.padding = sum(window.padding, added);
        }
    }
    edit::bypass(model, index)
}

/// Whether no value of the pad's result is below its filler.
fn is_least(model: &Model, pad: &Node, filler: f32) -> bool {
    match pad.outputs.first().map(|id| model.tensor(*id).dtype) {
        Some(DType::I8) => integer::filler(model, pad) == i8::MIN,
        _ => filler <= f32::MIN,
    }
}

/// Whether a window with this padding besides its own has a value of the image wherever it stands.
fn always_sees(window: &Window, added: Padding) -> bool {
    let Padding { top, left, bottom, right } = sum(window.padding, added);
    let [rows, columns] = window.size;
    window.dilation == [1, 1] && top.max(bottom) < rows && left.max(right) < columns
}

const fn sum(first: Padding, second: Padding) -> Padding {
    Padding {
        top: first.top + second.top,
        left: first.left + second.left,
        bottom: first.bottom + second.bottom,
        right: first.right + second.right,
    }
}
