//! Moves zeros around an image into the padding of the layers that read it: of convolutions; of
//! means, where padding then counts in the divisor; and of maxima over values that are not
//! negative, in which a zero changes nothing. Other maxima keep their pad.

use super::edit;
use crate::graph::{Model, TensorId};
use crate::op::{Activation, Op, Padding, Window};

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
    let around = Padding { top, left, bottom, right };
    let (input, output) = (model.nodes[index].inputs[0], model.nodes[index].outputs[0]);
    let readers: Vec<usize> =
        (0..model.nodes.len()).filter(|i| model.nodes[*i].inputs.contains(&output)).collect();
    // Zeros become zeros of the image's own scale.
    let one_scale = model.tensor(input).quantisation == model.tensor(output).quantisation;
    let takes_in = |reader: &usize| {
        let node = &model.nodes[*reader];
        match &node.op {
            Op::Conv { .. } | Op::DepthwiseConv { .. } => !node.inputs[1..].contains(&output),
            Op::AveragePool { window, count_padding, uncounted, .. } => {
                let all_counts = *count_padding && *uncounted == [0, 0];
                one_scale
                    && (all_counts || window.padding == Padding::default())
                    && sees_image(model, input, node.outputs[0], window, around)
            }
            Op::MaxPool { window, .. } => {
                one_scale
                    && is_not_negative(model, input)
                    && sees_image(model, input, node.outputs[0], window, around)
            }
            _ => false,
        }
    };
    if readers.is_empty() || edit::is_output(model, output) || !readers.iter().all(takes_in) {
        return false;
    }
    for reader in readers {
        match &mut model.nodes[reader].op {
            Op::AveragePool { window, count_padding, .. } => {
                *count_padding = true;
                window.padding = sum(window.padding, around);
            }
            Op::Conv { window, .. }
            | Op::DepthwiseConv { window, .. }
            | Op::MaxPool { window, .. } => {
                window.padding = sum(window.padding, around);
            }
            _ => {}
        }
    }
    edit::bypass(model, index)
}

const fn sum(a: Padding, b: Padding) -> Padding {
    Padding {
        top: a.top + b.top,
        left: a.left + b.left,
        bottom: a.bottom + b.bottom,
        right: a.right + b.right,
    }
}

/// Whether what makes a tensor lets through nothing below zero.
fn is_not_negative(model: &Model, tensor: TensorId) -> bool {
    let rectifies = |activation| matches!(activation, Activation::Relu | Activation::Relu6);
    let maker = model.nodes.iter().find(|node| node.outputs.contains(&tensor));
    maker.is_some_and(|node| match node.op {
        Op::Activation(activation) => rectifies(activation),
        ref op => op.activation().is_some_and(rectifies),
    })
}

/// Whether each window of a pool still sees a pixel when the zeros `around` its image are padding.
fn sees_image(
    model: &Model,
    image: TensorId,
    output: TensorId,
    window: &Window,
    around: Padding,
) -> bool {
    let (image, output) = (model.tensor(image), model.tensor(output));
    let ([_, h, w, _], [_, rows, columns, _]) = (image.shape.dims(), output.shape.dims()) else {
        return false;
    };
    let padding = sum(window.padding, around);
    let axes = [(*h, *rows, padding.top), (*w, *columns, padding.left)];
    axes.into_iter().enumerate().all(|(axis, (length, outputs, before))| {
        let last = outputs.saturating_sub(1) * window.stride[axis];
        window.dilation[axis] == 1 && before < window.size[axis] && last < length + before
    })
}
