//! Convolution, ordinary, grouped and depthwise.

use tilewright_model::{Activation, Op, Padding, Window};

use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::importer::{Importer, Value, channels_last};

/// Window of `size` from strides, dilations, pads and auto_pad over an image of `input` height and
/// width.
pub(super) fn window(
    place: Place<'_>,
    size: [usize; 2],
    input: [usize; 2],
) -> Result<Window, FormatError> {
    let stride = place.sizes("strides", 1)?.unwrap_or([1, 1]);
    let dilation = place.sizes("dilations", 1)?.unwrap_or([1, 1]);
    let mut window = Window { size, stride, dilation, padding: Padding::default() };
    let same = |axis: usize| -> Result<[usize; 2], FormatError> {
        let reach = (size[axis].max(1) - 1) * dilation[axis] + 1;
        let steps = input[axis].div_ceil(stride[axis]).saturating_sub(1);
        let needed = steps * stride[axis] + reach;
        let total = needed.saturating_sub(input[axis]);
        Ok([total / 2, total - total / 2])
    };
    let [top, left, bottom, right] = match place.text("auto_pad")?.unwrap_or("NOTSET") {
        "NOTSET" | "" => place.sizes::<4>("pads", 0)?.unwrap_or_default(),
        "VALID" => [0; 4],
        mode @ ("SAME_UPPER" | "SAME_LOWER") => {
            let ([above, below], [before, behind]) = (same(0)?, same(1)?);
            if mode == "SAME_UPPER" {
                [above, before, below, behind]
            } else {
                [below, behind, above, before]
            }
        }
        other => return Err(place.bad(format!("auto_pad {other} is not known"))),
    };
    window.padding = Padding { top, left, bottom, right };
    Ok(window)
}

pub(super) fn conv(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let dims = importer.dims(&input);
    let weights = importer.constant(place, 1)?;
    let ([_, channels, height, width], [outputs, taken, kh, kw]) =
        (dims.as_slice(), weights.dims.as_slice())
    else {
        return Err(place.unsupported(format!(
            "input {dims:?} and weights {:?}: only convolutions of images are supported",
            weights.dims
        )));
    };
    if let Some(stated) = place.sizes::<2>("kernel_shape", 1)?
        && stated != [*kh, *kw]
    {
        return Err(place.bad(format!("kernel_shape {stated:?} but weights of {kh}×{kw}")));
    }
    let groups = usize::try_from(place.int("group", 1)).unwrap_or(0);
    if groups == 0 || taken.checked_mul(groups) != Some(*channels) || outputs % groups != 0 {
        return Err(place.bad(format!(
            "{channels} input channels, {outputs} outputs and weights of {taken} in {groups} groups"
        )));
    }
    let window = window(place, [*kh, *kw], [*height, *width])?;
    let depthwise = groups > 1 && *taken == 1;
    let taps = kh * kw;
    // O×I×taps, to O×taps×I, or for depthwise, where I is 1, to taps×O.
    let (shape, seen) = if depthwise {
        ([1, *kh, *kw, *outputs], [1, *outputs, taps])
    } else {
        ([*outputs, *kh, *kw, *taken], [*outputs, *taken, taps])
    };
    let mut operands = vec![importer.in_order(&input, &channels_last(4))];
    operands.push(importer.swapped(&weights, &shape, seen)?);
    if importer.optional(place, 2)?.is_some() {
        let bias = importer.constant(place, 2)?;
        let values = bias
            .floats()
            .filter(|values| values.len() == *outputs)
            .ok_or_else(|| place.bad(format!("its bias must be {outputs} floats")))?;
        operands.push(importer.weights(&bias.name, &[*outputs], values.to_vec())?);
    }
    let activation = Activation::None;
    let op = if depthwise {
        Op::DepthwiseConv { window, multiplier: outputs / groups, activation }
    } else {
        Op::Conv { window, groups, activation }
    };
    importer.emit(place, op, operands, channels_last(4)).map(Value::Activated)
}
