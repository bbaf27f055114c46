//! Operators whose operands are all constant: the arithmetic on shapes that exporters write, and
//! weights that are put together in the graph.

use std::rc::Rc;

use crate::onnx::attributes::Place;
use crate::onnx::constant::{Constant, Values};
use crate::onnx::importer::{Importer, Value};
use crate::{FormatError, elements};

/// The result of the node at `place`, counted against the limits.
pub(super) fn result(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    dims: Vec<usize>,
    values: Values,
) -> Result<Value, FormatError> {
    let name = place.node.output.first().cloned().unwrap_or_default();
    let constant = Constant { name, dims, values };
    importer.count_computed(constant.len())?;
    Ok(Value::Constant(Rc::new(constant)))
}

/// Whether constants that the importer computes may grow by one of these dimensions.
pub(super) fn room(
    importer: &Importer<'_>,
    place: Place<'_>,
    dims: &[usize],
) -> Result<usize, FormatError> {
    let count = elements(place.name(), dims, importer.limits)?;
    importer.has_room(count)?;
    Ok(count)
}

/// Dimensions that both broadcast to, if they do.
pub(super) fn joined(first: &[usize], second: &[usize]) -> Option<Vec<usize>> {
    let rank = first.len().max(second.len());
    let dim = |dims: &[usize], axis: usize| {
        axis.checked_sub(rank - dims.len()).map_or(1, |axis| dims[axis])
    };
    (0..rank)
        .map(|axis| match (dim(first, axis), dim(second, axis)) {
            (a, b) if a == b => Some(a),
            (1, b) => Some(b),
            (a, 1) => Some(a),
            _ => None,
        })
        .collect()
}

/// Values of dimensions `from` as often as `to`, which they broadcast to, needs them.
pub(super) fn broadcast<T: Copy>(values: &[T], from: &[usize], to: &[usize]) -> Vec<T> {
    if from == to {
        return values.to_vec();
    }
    let offset = to.len() - from.len();
    let mut steps = vec![0; to.len()];
    let mut step = 1;
    for axis in (0..from.len()).rev() {
        steps[axis + offset] = if from[axis] == 1 { 0 } else { step };
        step *= from[axis];
    }
    gathered(values, to, |axis, at| at * steps[axis])
}

/// A tensor of `dims` whose element at an index is that of `values` at the sum of what `place` gives
/// for each axis and the index along it.
fn gathered<T: Copy>(
    values: &[T],
    dims: &[usize],
    place: impl Fn(usize, usize) -> usize,
) -> Vec<T> {
    let count = dims.iter().product();
    (0..count)
        .map(|index: usize| {
            let (mut rest, mut source) = (index, 0);
            for axis in (0..dims.len()).rev() {
                source += place(axis, rest % dims[axis]);
                rest /= dims[axis];
            }
            values[source]
        })
        .collect()
}

/// Elements between neighbours along each dimension.
fn steps(dims: &[usize]) -> Vec<usize> {
    let mut steps = vec![1usize; dims.len()];
    for axis in (1..dims.len()).rev() {
        steps[axis - 1] = steps[axis].saturating_mul(dims[axis]);
    }
    steps
}

/// Sums, differences, products, quotients, the larger and the smaller of two constants.
pub(super) fn arithmetic(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    first: &Constant,
    second: &Constant,
) -> Result<Value, FormatError> {
    let dims = joined(&first.dims, &second.dims).ok_or_else(|| {
        place.bad(format!("constants {:?} and {:?} do not broadcast", first.dims, second.dims))
    })?;
    room(importer, place, &dims)?;
    let op = place.node.op_type.as_str();
    let values = match (first.ints(), second.ints(), first.floats(), second.floats()) {
        (Some(a), Some(b), ..) => {
            let pairs = broadcast(a, &first.dims, &dims);
            let pairs = pairs.into_iter().zip(broadcast(b, &second.dims, &dims));
            let each = pairs.map(|(a, b)| match op {
                "Add" => a.checked_add(b),
                "Sub" => a.checked_sub(b),
                "Mul" => a.checked_mul(b),
                "Div" => a.checked_div(b),
                "Max" => Some(a.max(b)),
                "Min" => Some(a.min(b)),
                _ => None,
            });
            let ints: Option<Vec<i64>> = each.collect();
            Values::Int(ints.ok_or_else(|| place.bad("its integers have no such result"))?)
        }
        (None, None, Some(a), Some(b)) => {
            let pairs = broadcast(a, &first.dims, &dims);
            let pairs = pairs.into_iter().zip(broadcast(b, &second.dims, &dims));
            let each = pairs.map(|(a, b)| match op {
                "Add" => Some(a + b),
                "Sub" => Some(a - b),
                "Mul" => Some(a * b),
                "Div" => Some(a / b),
                "Max" => Some(if a > b { a } else { b }),
                "Min" => Some(if a < b { a } else { b }),
                _ => None,
            });
            let floats: Option<Vec<f32>> = each.collect();
            Values::Float(
                floats.ok_or_else(|| place.unsupported("not supported on two constants"))?,
            )
        }
        _ => return Err(place.bad("its constants differ in type")),
    };
    result(importer, place, dims, values)
}

/// Elements `pick` of a dimension of a constant, which becomes dimensions `shape`.
pub(super) fn gather(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    data: &Constant,
    axis: usize,
    picks: &[usize],
    shape: &[usize],
) -> Result<Value, FormatError> {
    let steps = steps(&data.dims);
    let mut flat = data.dims.clone();
    flat[axis] = picks.len();
    room(importer, place, &flat)?;
    let at = |dim: usize, index: usize| {
        if dim == axis { picks[index] * steps[dim] } else { index * steps[dim] }
    };
    let values = match (data.ints(), data.floats()) {
        (Some(ints), _) => Values::Int(gathered(ints, &flat, at)),
        (_, Some(floats)) => Values::Float(gathered(floats, &flat, at)),
        _ => return Err(place.bad("a constant cannot be read")),
    };
    let (before, behind) = (&data.dims[..axis], &data.dims[axis + 1..]);
    result(importer, place, [before, shape, behind].concat(), values)
}

/// A constant again and again along each dimension, up to `dims`, which are multiples of its own.
pub(super) fn tile(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    data: &Constant,
    dims: Vec<usize>,
) -> Result<Value, FormatError> {
    room(importer, place, &dims)?;
    let steps = steps(&data.dims);
    let at = |axis: usize, index: usize| index % data.dims[axis] * steps[axis];
    let values = match (data.ints(), data.floats()) {
        (Some(ints), _) => Values::Int(gathered(ints, &dims, at)),
        (_, Some(floats)) => Values::Float(gathered(floats, &dims, at)),
        _ => return Err(place.bad("a constant cannot be read")),
    };
    result(importer, place, dims, values)
}

/// A constant as often as `dims`, which it broadcasts to, need it.
pub(super) fn expand(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    data: &Constant,
    dims: Vec<usize>,
) -> Result<Value, FormatError> {
    room(importer, place, &dims)?;
    let values = match (data.ints(), data.floats()) {
        (Some(ints), _) => Values::Int(broadcast(ints, &data.dims, &dims)),
        (_, Some(floats)) => Values::Float(broadcast(floats, &data.dims, &dims)),
        _ => return Err(place.bad("a constant cannot be read")),
    };
    result(importer, place, dims, values)
}

/// Elements `begin + i · stride` of each dimension of a constant, for `i` below `size`.
pub(super) fn slice(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    data: &Constant,
    ranges: &[(usize, usize, isize)],
) -> Result<Value, FormatError> {
    let steps = steps(&data.dims);
    let dims: Vec<usize> = ranges.iter().map(|(_, size, _)| *size).collect();
    let at = |axis: usize, index: usize| {
        let (begin, _, stride) = ranges[axis];
        begin.wrapping_add_signed(index.cast_signed() * stride) * steps[axis]
    };
    let values = match (data.ints(), data.floats()) {
        (Some(ints), _) => Values::Int(gathered(ints, &dims, at)),
        (_, Some(floats)) => Values::Float(gathered(floats, &dims, at)),
        _ => return Err(place.bad("a constant cannot be read")),
    };
    result(importer, place, dims, values)
}

/// Constants one behind the other along an axis.
pub(super) fn concat(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    parts: &[Rc<Constant>],
) -> Result<Value, FormatError> {
    let first = parts.first().ok_or_else(|| place.bad("it has no operands"))?;
    let axis = place.axis(place.int("axis", 1), first.dims.len())?;
    let fits = |part: &Rc<Constant>| {
        let mut dims = part.dims.clone();
        dims.len() == first.dims.len() && {
            dims[axis] = first.dims[axis];
            dims == first.dims
        }
    };
    if !parts.iter().all(fits) {
        return Err(place.bad("its operands do not fit each other"));
    }
    let mut dims = first.dims.clone();
    dims[axis] = parts.iter().fold(0, |sum, part| sum.saturating_add(part.dims[axis]));
    room(importer, place, &dims)?;
    let ints: Option<Vec<&[i64]>> = parts.iter().map(|part| part.ints()).collect();
    let values = match ints {
        Some(ints) => Values::Int(joined_along(&ints, parts, axis)),
        None => {
            let floats: Option<Vec<&[f32]>> = parts.iter().map(|part| part.floats()).collect();
            let floats = floats.ok_or_else(|| place.bad("its constants differ in type"))?;
            Values::Float(joined_along(&floats, parts, axis))
        }
    };
    result(importer, place, dims, values)
}

fn joined_along<T: Copy>(values: &[&[T]], parts: &[Rc<Constant>], axis: usize) -> Vec<T> {
    let outer: usize = parts.first().map_or(0, |part| part.dims[..axis].iter().product());
    let mut joined = Vec::with_capacity(values.iter().map(|values| values.len()).sum());
    for index in 0..outer {
        for (values, part) in values.iter().zip(parts) {
            let inner: usize = part.dims[axis..].iter().product();
            joined.extend_from_slice(&values[index * inner..(index + 1) * inner]);
        }
    }
    joined
}
