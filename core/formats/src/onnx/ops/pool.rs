//! Pools and means over height and width.

use tilewright_model::{Activation, Op, Window};

use super::convolve;
use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::importer::{Activated, Importer, Value, as_given, channels_last};

fn image(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<(Activated, [usize; 2]), FormatError> {
    let input = importer.activated(place, 0)?;
    match importer.dims(&input)[..] {
        [_, _, height, width] => Ok((input, [height, width])),
        ref dims => Err(place.bad(format!("input {dims:?}: only pools of images are supported"))),
    }
}

/// The window, and by how much a ceiling rule lengthens its padding.
fn pool_window(place: Place<'_>, input: [usize; 2]) -> Result<(Window, [usize; 2]), FormatError> {
    let size = place
        .sizes("kernel_shape", 1)?
        .ok_or_else(|| place.bad("attribute kernel_shape is missing"))?;
    let mut window = convolve::window(place, size, input)?;
    let mut lengthened = [0, 0];
    if place.flag("ceil_mode", false)? {
        let padding = window.padding;
        let extend = |axis: usize, before: usize, after: usize| {
            let reach = (size[axis] - 1) * window.dilation[axis] + 1;
            let stride = window.stride[axis];
            let rest = (input[axis] + before + after).checked_sub(reach)?;
            let mut steps = rest.div_ceil(stride);
            // A window that would begin behind the image does not count.
            if steps * stride >= input[axis] + before {
                steps -= 1;
            }
            Some((steps * stride).saturating_sub(rest))
        };
        let misfit = || place.bad("the window does not fit the image");
        let below = extend(0, padding.top, padding.bottom).ok_or_else(misfit)?;
        let behind = extend(1, padding.left, padding.right).ok_or_else(misfit)?;
        window.padding.bottom += below;
        window.padding.right += behind;
        lengthened = [below, behind];
    }
    Ok((window, lengthened))
}

pub(super) fn max(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let (input, size) = image(importer, place)?;
    if place.node.output.iter().skip(1).any(|name| !name.is_empty()) {
        return Err(place.bad("its second result, the indices, is not supported"));
    }
    let (window, _) = pool_window(place, size)?;
    let op = Op::MaxPool { window, activation: Activation::None };
    emit(importer, place, &input, op)
}

pub(super) fn average(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let (input, size) = image(importer, place)?;
    let (window, lengthened) = pool_window(place, size)?;
    let count_padding = place.flag("count_include_pad", false)?;
    // What rounding up has added is not of the padding that counts.
    let op = Op::AveragePool {
        window,
        count_padding,
        uncounted: lengthened,
        halves_up: false,
        activation: Activation::None,
    };
    emit(importer, place, &input, op)
}

pub(super) fn global_max(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let (input, size) = image(importer, place)?;
    let op = Op::MaxPool { window: Window::dense(size), activation: Activation::None };
    emit(importer, place, &input, op)
}

pub(super) fn global_average(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let (input, size) = image(importer, place)?;
    emit(importer, place, &input, mean(size))
}

fn mean(size: [usize; 2]) -> Op {
    let window = Window::dense(size);
    Op::AveragePool {
        window,
        count_padding: false,
        uncounted: [0, 0],
        halves_up: false,
        activation: Activation::None,
    }
}

fn emit(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    input: &Activated,
    op: Op,
) -> Result<Value, FormatError> {
    let order = channels_last(4);
    let tensor = importer.in_order(input, &order);
    importer.emit(place, op, vec![tensor], order).map(Value::Activated)
}

/// A mean over two dimensions of an image is an average pool, with those in the middle.
pub(super) fn reduce_mean(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let dims = importer.dims(&input);
    let given = match place.ints("axes") {
        Some(axes) => axes.to_vec(),
        None => importer.ints(place, 1)?.unwrap_or_default(),
    };
    let mut axes = given
        .iter()
        .map(|axis| place.axis(*axis, dims.len()))
        .collect::<Result<Vec<usize>, FormatError>>()?;
    axes.sort_unstable();
    axes.dedup();
    let (&[first, second], 4) = (axes.as_slice(), dims.len()) else {
        return super::spatial::mean(importer, place, &input, axes);
    };
    let kept: Vec<usize> = (0..4).filter(|axis| !axes.contains(axis)).collect();
    let order = vec![kept[0], first, second, kept[1]];
    let tensor = importer.in_order(&input, &order);
    let pooled = importer.emit(place, mean([dims[first], dims[second]]), vec![tensor], order)?;
    if place.flag("keepdims", true)? {
        return Ok(Value::Activated(pooled));
    }
    let flat = [dims[kept[0]], dims[kept[1]]];
    importer.reshape(place, pooled.tensor, &flat, as_given(2)).map(Value::Activated)
}
