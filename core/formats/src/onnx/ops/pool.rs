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
        ref dims => {
            Err(place.unsupported(format!("input {dims:?}: only pools of images are supported")))
        }
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
    // Its second result, the indices, is not made; who reads it is told so.
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
    let axes = reduced(importer, place, input.order.len())?;
    if axes.is_empty() {
        return Ok(Value::Activated(input));
    }
    match pooled(importer, place, &input, &axes, mean)? {
        Some(value) => Ok(value),
        None => super::spatial::mean(importer, place, &input, axes),
    }
}

/// A mean times the number of values in it.
pub(super) fn reduce_sum(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let dims = importer.dims(&input);
    let axes = reduced(importer, place, dims.len())?;
    let count = axes.iter().map(|axis| dims[*axis]).product::<usize>() as f32;
    match reduce_mean(importer, place)? {
        Value::Activated(mean) if !axes.is_empty() => {
            let axis = *mean.order.last().ok_or_else(|| place.bad("its result is a scalar"))?;
            let scaled = |_| (count, 0.0);
            super::elementwise::per_channel(importer, place, &mean, "count", axis, scaled)
        }
        value => Ok(value),
    }
}

/// A maximum over any dimensions: a pool over all rows of an image whose channels are what is left.
pub(super) fn reduce_max(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let dims = importer.dims(&input);
    let axes = reduced(importer, place, dims.len())?;
    if axes.is_empty() {
        return Ok(Value::Activated(input));
    }
    let largest = |size| Op::MaxPool { window: Window::dense(size), activation: Activation::None };
    if let Some(value) = pooled(importer, place, &input, &axes, largest)? {
        return Ok(value);
    }
    let kept: Vec<usize> = (0..dims.len()).filter(|axis| !axes.contains(axis)).collect();
    let rows: usize = axes.iter().map(|axis| dims[*axis]).product();
    let order: Vec<usize> = axes.iter().chain(&kept).copied().collect();
    let tensor = importer.in_order(&input, &order);
    let channels = kept.iter().map(|axis| dims[*axis]).product();
    let image = importer.reshape(place, tensor, &[1, rows, 1, channels], as_given(4))?;
    let pool = importer.emit(place, largest([rows, 1]), vec![image.tensor], as_given(4))?;
    let left: Vec<usize> = if place.flag("keepdims", true)? {
        (0..dims.len()).map(|axis| if axes.contains(&axis) { 1 } else { dims[axis] }).collect()
    } else {
        kept.iter().map(|axis| dims[*axis]).collect()
    };
    importer.reshape(place, pool.tensor, &left, as_given(left.len())).map(Value::Activated)
}

/// The dimensions that are reduced, ascending: all, if none are given.
fn reduced(
    importer: &Importer<'_>,
    place: Place<'_>,
    rank: usize,
) -> Result<Vec<usize>, FormatError> {
    let given = match place.ints("axes") {
        Some(axes) => axes.to_vec(),
        None => importer.ints(place, 1)?.unwrap_or_default(),
    };
    if given.is_empty() {
        let none = place.flag("noop_with_empty_axes", false)?;
        return Ok(if none { Vec::new() } else { as_given(rank) });
    }
    let mut axes = given
        .iter()
        .map(|axis| place.axis(*axis, rank))
        .collect::<Result<Vec<usize>, FormatError>>()?;
    axes.sort_unstable();
    axes.dedup();
    Ok(axes)
}

/// A pool over all of two dimensions, if the input has four.
fn pooled(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    input: &Activated,
    axes: &[usize],
    pool: impl Fn([usize; 2]) -> Op,
) -> Result<Option<Value>, FormatError> {
    let dims = importer.dims(input);
    let (&[first, second], 4) = (axes, dims.len()) else { return Ok(None) };
    let kept: Vec<usize> = (0..4).filter(|axis| !axes.contains(axis)).collect();
    let order = vec![kept[0], first, second, kept[1]];
    let tensor = importer.in_order(input, &order);
    let pooled = importer.emit(place, pool([dims[first], dims[second]]), vec![tensor], order)?;
    if place.flag("keepdims", true)? {
        return Ok(Some(Value::Activated(pooled)));
    }
    let flat = [dims[kept[0]], dims[kept[1]]];
    importer.reshape(place, pooled.tensor, &flat, as_given(2)).map(|v| Some(Value::Activated(v)))
}
