//! Transposed convolution.

use std::rc::Rc;

use tilewright_model::{Activation, Op, Padding, Window};

use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::constant::{Constant, Values};
use crate::onnx::importer::{Importer, Value, channels_last};

pub(super) fn conv_transpose(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let dims = importer.dims(&input);
    let weights = importer.constant(place, 1)?;
    let ([batch, channels, height, width], [taken, outputs, kh, kw]) =
        (dims.as_slice(), weights.dims.as_slice())
    else {
        let weights = &weights.dims;
        return Err(place.unsupported(format!(
            "input {dims:?} and weights {weights:?}: only convolutions of images are supported"
        )));
    };
    let groups = usize::try_from(place.int("group", 1)).unwrap_or(0);
    if groups == 0 || taken != channels || !channels.is_multiple_of(groups) {
        return Err(place.bad(format!("{channels} channels, weights of {taken}, {groups} groups")));
    }
    let dilation = place.sizes("dilations", 1)?.unwrap_or([1, 1]);
    let (weights, [outputs, kh, kw]) =
        dense(importer, place, &weights, [*taken, *outputs, *kh, *kw], groups, dilation)?;
    let (outputs, kh, kw) = (&outputs, &kh, &kw);
    let stride = place.sizes("strides", 1)?.unwrap_or([1, 1]);
    let extra = place.sizes("output_padding", 0)?.unwrap_or([0, 0]);
    let (size, sizes) = ([*kh, *kw], [*height, *width]);
    let full =
        |axis: usize| sizes[axis].saturating_sub(1) * stride[axis] + size[axis] + extra[axis];
    let stated = place.sizes::<2>("output_shape", 1)?;
    let mode = place.text("auto_pad")?.unwrap_or("NOTSET");
    let (output, [top, left, bottom, right]) = match (stated, mode) {
        (None, "NOTSET" | "" | "VALID") => {
            let pads = place.sizes::<4>("pads", 0)?.unwrap_or_default();
            let size = |axis: usize| full(axis).checked_sub(pads[axis] + pads[axis + 2]);
            let sizes =
                size(0).zip(size(1)).ok_or_else(|| place.bad("its padding is too large"))?;
            ([sizes.0, sizes.1], pads)
        }
        (stated, mode) => {
            let wanted = stated.unwrap_or([sizes[0] * stride[0], sizes[1] * stride[1]]);
            let total = [0, 1].map(|axis| full(axis).saturating_sub(wanted[axis]));
            let half = total.map(|total| total / 2);
            let rest = [total[0] - half[0], total[1] - half[1]];
            let (before, behind) = if mode == "SAME_UPPER" { (half, rest) } else { (rest, half) };
            (wanted, [before[0], before[1], behind[0], behind[1]])
        }
    };
    let mut window = Window::dense(size);
    window.stride = stride;
    window.padding = Padding { top, left, bottom, right };
    let mut operands = vec![importer.in_order(&input, &channels_last(4))];
    let seen = [1, *taken, outputs * kh * kw];
    operands.push(importer.swapped(&weights, &[*outputs, *kh, *kw, *taken], seen)?);
    if importer.optional(place, 2)?.is_some() {
        let bias = Rc::clone(&importer.constant(place, 2)?);
        let values = bias
            .floats()
            .filter(|values| values.len() == *outputs)
            .ok_or_else(|| place.bad(format!("its bias must be {outputs} floats")))?;
        operands.push(importer.weights(&bias.name, &[*outputs], values.to_vec())?);
    }
    let op = Op::TransposeConv { window, activation: Activation::None };
    let shape = [*batch, output[0], output[1], *outputs];
    importer.emit_sized(place, op, operands, channels_last(4), &shape).map(Value::Activated)
}

/// Weights I×O×H×W of one group without dilation that do the same, and their O, H and W: there are
/// zeros between groups and between the taps of a dilated window.
fn dense(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    weights: &Rc<Constant>,
    [inputs, outputs, height, width]: [usize; 4],
    groups: usize,
    dilation: [usize; 2],
) -> Result<(Rc<Constant>, [usize; 3]), FormatError> {
    if groups == 1 && dilation == [1, 1] {
        return Ok((Rc::clone(weights), [outputs, height, width]));
    }
    let reach = |size: usize, axis: usize| (size.max(1) - 1) * dilation[axis] + 1;
    let [tall, wide] = [reach(height, 0), reach(width, 1)];
    let dims = vec![inputs, outputs * groups, tall, wide];
    let count = super::folding::room(importer, place, &dims)?;
    importer.count_computed(count)?;
    let values = weights.floats().ok_or_else(|| place.bad("its weights are no floats"))?;
    let mut spread = vec![0.0; dims.iter().product()];
    for (index, value) in values.iter().enumerate() {
        let (x, rest) = (index % width, index / width);
        let (y, rest) = (rest % height, rest / height);
        let (output, input) = (rest % outputs, rest / outputs);
        let output = input / (inputs / groups) * outputs + output;
        let row = (input * outputs * groups + output) * tall + y * dilation[0];
        spread[row * wide + x * dilation[1]] = *value;
    }
    let name = format!("{}.dense", weights.name);
    let spread = Constant { name, dims, values: Values::Float(spread) };
    Ok((Rc::new(spread), [outputs * groups, tall, wide]))
}
