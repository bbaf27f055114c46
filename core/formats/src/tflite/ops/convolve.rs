//! Operators that slide a window.

use tilewright_model::{Op, Padding, Window};
use tilewright_tflite_schema as fb;

use super::{dense, fused, needed, size};
use crate::FormatError;
use crate::tflite::importer::{Importer, Refused};
use crate::tflite::verified_file::Place;

/// The padding that the scheme gives explicitly: with SAME, ceil(input / stride) results, and one
/// pixel more behind than before where it is odd.
pub(super) fn padding(
    place: &Place<'_>,
    scheme: fb::Padding,
    input: [usize; 2],
    window: &Window,
) -> Result<Padding, FormatError> {
    let mut pads = [(0, 0); 2];
    match scheme {
        fb::Padding::VALID => {}
        fb::Padding::SAME => {
            for (axis, pad) in pads.iter_mut().enumerate() {
                let steps = input[axis].div_ceil(window.stride[axis]).saturating_sub(1);
                let reach = (window.size[axis].saturating_sub(1))
                    .checked_mul(window.dilation[axis])
                    .and_then(|reach| {
                        steps.checked_mul(window.stride[axis])?.checked_add(reach + 1)
                    })
                    .ok_or_else(|| place.bad("its window overflows"))?;
                let total = reach.saturating_sub(input[axis]);
                *pad = (total / 2, total - total / 2);
            }
        }
        other => return Err(place.bad(format!("padding scheme {} is unknown", other.0))),
    }
    let [(top, bottom), (left, right)] = pads;
    Ok(Padding { top, left, bottom, right })
}

fn image(place: &Place<'_>, dims: &[usize]) -> Result<[usize; 2], FormatError> {
    match dims {
        [_, height, width, _] => Ok([*height, *width]),
        _ => Err(place.bad(format!("its input {dims:?} must have four dimensions"))),
    }
}

struct Geometry {
    size: [usize; 2],
    stride: [i32; 2],
    dilation: [i32; 2],
    scheme: fb::Padding,
}

fn window<'a>(
    importer: &Importer<'_, 'a>,
    place: &Place<'a>,
    geometry: &Geometry,
) -> Result<Window, FormatError> {
    let input = image(place, &importer.dims(place, 0)?)?;
    let stride = |axis: usize| size(place, "stride", geometry.stride[axis]);
    let dilation = |axis: usize| size(place, "dilation", geometry.dilation[axis]);
    let mut window = Window::dense(geometry.size);
    window.stride = [stride(0)?, stride(1)?];
    window.dilation = [dilation(0)?, dilation(1)?];
    match place.spread {
        Some(spread) => {
            (window.dilation, window.padding) = (spread.dilation, spread.padding);
        }
        None => window.padding = padding(place, geometry.scheme, input, &window)?,
    }
    Ok(window)
}

/// Height and width of the weights.
fn taps<'a>(importer: &Importer<'_, 'a>, place: &Place<'a>) -> Result<[usize; 4], FormatError> {
    let dims = importer.dims(place, 1)?;
    let taps = <[usize; 4]>::try_from(dims.as_slice())
        .map_err(|_| place.bad(format!("its weights {dims:?} must have four dimensions")))?;
    match taps.iter().all(|dim| (1..1 << 15).contains(dim)) {
        true => Ok(taps),
        false => Err(place.bad(format!("its weights are {dims:?}"))),
    }
}

pub(super) fn conv<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_conv_2_doptions())?;
    let [_, height, width, taken] = taps(importer, place)?;
    let geometry = Geometry {
        size: [height, width],
        stride: [options.stride_h(), options.stride_w()],
        dilation: [options.dilation_h_factor(), options.dilation_w_factor()],
        scheme: options.padding(),
    };
    let window = window(importer, place, &geometry)?;
    let channels = importer.dims(place, 0)?.last().copied().unwrap_or(0);
    if channels % taken != 0 {
        return Err(place.bad(format!("weights over {taken} of {channels} channels")).into());
    }
    let groups = channels / taken;
    let activation = fused(options.fused_activation_function())?;
    let inputs = dense::operands(importer, place, [0, 1, 2])?;
    importer.emit(place, Op::Conv { window, groups, activation }, inputs)?;
    Ok(())
}

pub(super) fn depthwise<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_depthwise_conv_2_doptions())?;
    let [_, height, width, outputs] = taps(importer, place)?;
    let geometry = Geometry {
        size: [height, width],
        stride: [options.stride_h(), options.stride_w()],
        dilation: [options.dilation_h_factor(), options.dilation_w_factor()],
        scheme: options.padding(),
    };
    let window = window(importer, place, &geometry)?;
    let channels = importer.dims(place, 0)?.last().copied().unwrap_or(0);
    // The option of this name is wrong in some files; the shapes decide.
    let multiplier = outputs.checked_div(channels).unwrap_or(0);
    let activation = fused(options.fused_activation_function())?;
    let inputs = dense::operands(importer, place, [0, 1, 2])?;
    importer.emit(place, Op::DepthwiseConv { window, multiplier, activation }, inputs)?;
    Ok(())
}

fn pool<'a>(
    importer: &Importer<'_, 'a>,
    place: &Place<'a>,
    options: &fb::Pool2DOptions<'_>,
) -> Result<Window, FormatError> {
    let geometry = Geometry {
        size: [
            size(place, "window", options.filter_height())?,
            size(place, "window", options.filter_width())?,
        ],
        stride: [options.stride_h(), options.stride_w()],
        dilation: [1, 1],
        scheme: options.padding(),
    };
    window(importer, place, &geometry)
}

pub(super) fn max_pool<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_pool_2_doptions())?;
    let window = pool(importer, place, &options)?;
    let activation = fused(options.fused_activation_function())?;
    let input = importer.activated(place, 0)?;
    super::unmoved(importer, place, 0, Op::MaxPool { window, activation }, input, &[])
}

pub(super) fn average_pool<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_pool_2_doptions())?;
    let window = pool(importer, place, &options)?;
    let activation = fused(options.fused_activation_function())?;
    let input = importer.activated(place, 0)?;
    let halves_up = importer.is_uint8(place)?;
    let op =
        Op::AveragePool { window, count_padding: false, uncounted: [0, 0], halves_up, activation };
    super::unmoved(importer, place, 0, op, input, &[])
}

/// The padding is that of the convolution which this one inverts: from its output to its input.
pub(super) fn transpose_conv<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_transpose_conv_options())?;
    let activation = fused(options.fused_activation_function())?;
    let [_, height, width, _] = taps(importer, place)?;
    let shape = importer.needed_ints(place, 0, "output shape")?;
    let dims = shape
        .iter()
        .map(|dim| usize::try_from(*dim).ok())
        .collect::<Option<Vec<usize>>>()
        .ok_or_else(|| place.bad(format!("its output shape is {shape:?}")))?;
    let output = image(place, &dims)?;
    let mut window = Window::dense([height, width]);
    window.stride =
        [size(place, "stride", options.stride_h())?, size(place, "stride", options.stride_w())?];
    window.padding = padding(place, options.padding(), output, &window)?;
    let inputs = dense::operands(importer, place, [2, 1, 3])?;
    importer.emit_shaped(place, 0, Op::TransposeConv { window, activation }, inputs, &dims)?;
    Ok(())
}
