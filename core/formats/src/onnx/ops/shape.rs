//! Operators that only change shapes or places.

use std::ops::Range;
use std::rc::Rc;

use tilewright_model::Op;

use crate::FormatError;
use crate::numbers::signed;
use crate::onnx::attributes::Place;
use crate::onnx::constant::{Constant, Values};
use crate::onnx::importer::{Activated, Importer, Value, as_given};

/// The operand itself.
pub(super) fn alias(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    importer.operand(place, 0)
}

/// The operand itself: nothing is dropped outside training.
pub(super) fn dropout(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    if importer.ints(place, 2)?.is_some_and(|flags| flags != [0]) {
        return Err(place.unsupported("training_mode is not supported"));
    }
    importer.operand(place, 0)
}

/// The operand under other dimensions, in the file's order of elements.
fn reshaped(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    value: Value,
    dims: Vec<usize>,
) -> Result<Value, FormatError> {
    match value {
        Value::Constant(constant) => {
            let count = dims.iter().try_fold(1usize, |product, dim| product.checked_mul(*dim));
            if count != Some(constant.len()) {
                return Err(place.bad(format!("{:?} elements become {dims:?}", constant.dims)));
            }
            Ok(Value::Constant(Rc::new(Constant { dims, ..Constant::clone(&constant) })))
        }
        Value::Activated(value) => {
            let old = importer.dims(&value);
            let Some(mut groups) = groups(&old, &dims) else {
                let tensor = importer.in_order(&value, &as_given(old.len()));
                let order = as_given(dims.len());
                return importer.reshape(place, tensor, &dims, order).map(Value::Activated);
            };
            // Dimensions that become one must be neighbours; the others stay where they are.
            let place_of = |axis: usize| value.order.iter().position(|other| *other == axis);
            groups.sort_by_key(|(from, _)| {
                let wide = from.clone().find(|axis| old[*axis] != 1);
                place_of(wide.unwrap_or(from.start))
            });
            let before: Vec<usize> = groups.iter().flat_map(|(from, _)| from.clone()).collect();
            let order: Vec<usize> = groups.into_iter().flat_map(|(_, to)| to).collect();
            let shape: Vec<usize> = order.iter().map(|axis| dims[*axis]).collect();
            let tensor = importer.in_order(&value, &before);
            importer.reshape(place, tensor, &shape, order).map(Value::Activated)
        }
    }
}

/// Dimensions of two shapes of the same elements in runs of the same products, each as short as can
/// be. Nothing if a dimension is 0 or a shape has none.
fn groups(old: &[usize], new: &[usize]) -> Option<Vec<(Range<usize>, Range<usize>)>> {
    let mut groups: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        let (from, to) = (i, j);
        let (mut have, mut want) = (old[i], new[j]);
        (i, j) = (i + 1, j + 1);
        while have != want {
            if have == 0 || want == 0 {
                return None;
            }
            if have < want {
                have = have.checked_mul(*old.get(i)?)?;
                i += 1;
            } else {
                want = want.checked_mul(*new.get(j)?)?;
                j += 1;
            }
        }
        groups.push((from..i, to..j));
    }
    // What is left are ones.
    let last = groups.last_mut()?;
    (last.0.end, last.1.end) = (old.len(), new.len());
    Some(groups)
}

fn dims_of(importer: &Importer<'_>, value: &Value) -> Vec<usize> {
    match value {
        Value::Constant(constant) => constant.dims.clone(),
        Value::Activated(value) => importer.dims(value),
    }
}

pub(super) fn flatten(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let value = importer.operand(place, 0)?;
    let dims = dims_of(importer, &value);
    // The axis may also lie behind the last dimension.
    let given = place.int("axis", 1);
    let axis =
        if given == signed(dims.len()) { dims.len() } else { place.axis(given, dims.len())? };
    let flat = vec![dims[..axis].iter().product(), dims[axis..].iter().product()];
    reshaped(importer, place, value, flat)
}

pub(super) fn reshape(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let value = importer.operand(place, 0)?;
    let dims = dims_of(importer, &value);
    let target = match place.ints("shape") {
        Some(target) => target.to_vec(),
        None => {
            importer.ints(place, 1)?.ok_or_else(|| place.bad("the shape to take is missing"))?
        }
    };
    let keeps_zero = place.flag("allowzero", false)?;
    let bad = || place.bad(format!("{dims:?} cannot take shape {target:?}"));
    let mut known = Vec::with_capacity(target.len());
    for (axis, size) in target.iter().enumerate() {
        known.push(match *size {
            -1 => None,
            0 if !keeps_zero => Some(*dims.get(axis).ok_or_else(bad)?),
            size => Some(usize::try_from(size).map_err(|_| bad())?),
        });
    }
    let total: usize = dims.iter().product();
    let stated = known.iter().flatten().try_fold(1usize, |product, dim| product.checked_mul(*dim));
    let stated = stated.ok_or_else(bad)?;
    let shape: Vec<usize> = match known.iter().filter(|dim| dim.is_none()).count() {
        0 => known.into_iter().flatten().collect(),
        1 if stated > 0 && total.is_multiple_of(stated) => {
            known.into_iter().map(|dim| dim.unwrap_or(total / stated)).collect()
        }
        _ => return Err(bad()),
    };
    reshaped(importer, place, value, shape)
}

/// Axes from the attribute of old versions or the operand of new ones.
fn axes(
    importer: &Importer<'_>,
    place: Place<'_>,
    rank: usize,
) -> Result<Option<Vec<usize>>, FormatError> {
    let given = match place.ints("axes") {
        Some(axes) => Some(axes.to_vec()),
        None => importer.ints(place, 1)?,
    };
    let Some(given) = given else { return Ok(None) };
    let mut axes = given
        .iter()
        .map(|axis| place.axis(*axis, rank))
        .collect::<Result<Vec<usize>, FormatError>>()?;
    axes.sort_unstable();
    axes.dedup();
    Ok(Some(axes))
}

pub(super) fn squeeze(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let value = importer.operand(place, 0)?;
    let dims = dims_of(importer, &value);
    let axes = axes(importer, place, dims.len())?
        .unwrap_or_else(|| (0..dims.len()).filter(|axis| dims[*axis] == 1).collect());
    if axes.iter().any(|axis| dims[*axis] != 1) {
        return Err(place.bad(format!("axes {axes:?} of {dims:?} are not all of size 1")));
    }
    let kept = |axis: &usize| !axes.contains(axis);
    let Value::Activated(value) = value else {
        let rest = (0..dims.len()).filter(kept).map(|axis| dims[axis]).collect();
        return reshaped(importer, place, value, rest);
    };
    // Elements stay where they are: the order of the dimensions that are left is kept.
    let left: Vec<usize> = value.order.iter().copied().filter(kept).collect();
    let shape: Vec<usize> = left.iter().map(|axis| dims[*axis]).collect();
    let renumber = |axis: &usize| axis - axes.iter().filter(|gone| *gone < axis).count();
    let order = left.iter().map(renumber).collect();
    importer.reshape(place, value.tensor, &shape, order).map(Value::Activated)
}

pub(super) fn unsqueeze(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let value = importer.operand(place, 0)?;
    let dims = dims_of(importer, &value);
    let count = match place.ints("axes") {
        Some(axes) => axes.len(),
        None => importer.ints(place, 1)?.map_or(0, |axes| axes.len()),
    };
    let rank = dims.len() + count;
    let axes = axes(importer, place, rank)?.unwrap_or_default();
    if axes.len() != count {
        return Err(place.bad(format!("axes {axes:?} repeat")));
    }
    let mut old = dims.into_iter();
    let shape = (0..rank)
        .map(|axis| if axes.contains(&axis) { 1 } else { old.next().unwrap_or(1) })
        .collect();
    reshaped(importer, place, value, shape)
}

pub(super) fn transpose(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let value = importer.operand(place, 0)?;
    let dims = dims_of(importer, &value);
    let permutation: Vec<usize> = match place.ints("perm") {
        None => (0..dims.len()).rev().collect(),
        Some(given) => given
            .iter()
            .map(|axis| place.axis(*axis, dims.len()))
            .collect::<Result<_, FormatError>>()?,
    };
    let mut inverse = vec![usize::MAX; dims.len()];
    for (to, from) in permutation.iter().enumerate() {
        inverse[*from] = to;
    }
    if permutation.len() != dims.len() || inverse.contains(&usize::MAX) {
        return Err(place.bad(format!("{permutation:?} is no permutation of {dims:?}")));
    }
    Ok(match value {
        // Nothing moves: the tensor's dimensions get other numbers.
        Value::Activated(value) => Value::Activated(Activated {
            order: value.order.iter().map(|axis| inverse[*axis]).collect(),
            tensor: value.tensor,
        }),
        Value::Constant(constant) => {
            let values = match (&constant.values, constant.floats()) {
                (Values::Int(values), _) => Values::Int(moved(values, &dims, &permutation)),
                (_, Some(values)) => Values::Float(moved(values, &dims, &permutation)),
                _ => return Err(place.bad("a constant cannot be read")),
            };
            let dims = permutation.iter().map(|axis| dims[*axis]).collect();
            Value::Constant(Rc::new(Constant { name: constant.name.clone(), dims, values }))
        }
    })
}

fn moved<T: Copy>(values: &[T], dims: &[usize], permutation: &[usize]) -> Vec<T> {
    let mut steps = vec![1; dims.len()];
    for axis in (1..dims.len()).rev() {
        steps[axis - 1] = steps[axis] * dims[axis];
    }
    (0..values.len())
        .map(|index| {
            let (mut rest, mut source) = (index, 0);
            for axis in permutation.iter().rev() {
                source += rest % dims[*axis] * steps[*axis];
                rest /= dims[*axis];
            }
            values[source]
        })
        .collect()
}

pub(super) fn concat(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let values = importer.operands(place)?;
    let constants: Option<Vec<Rc<Constant>>> = values
        .iter()
        .map(|value| match value {
            Value::Constant(constant) => Some(Rc::clone(constant)),
            Value::Activated(_) => None,
        })
        .collect();
    if let Some(parts) = constants {
        return super::folding::concat(importer, place, &parts);
    }
    let order = values
        .iter()
        .find_map(
            |value| if let Value::Activated(value) = value { Some(&value.order) } else { None },
        )
        .cloned()
        .ok_or_else(|| place.bad("all its operands are constant"))?;
    let axis = place.axis(place.int("axis", 1), order.len())?;
    let position = order.iter().position(|a| *a == axis).unwrap_or_default();
    let mut operands = Vec::with_capacity(values.len());
    for index in 0..values.len() {
        let value = importer.activated(place, index)?;
        if value.order.len() != order.len() {
            return Err(place.bad("its operands differ in rank"));
        }
        operands.push(importer.in_order(&value, &order));
    }
    importer.emit(place, Op::Concat { axis: position }, operands, order).map(Value::Activated)
}

pub(super) fn pad(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let rank = input.order.len();
    let mode = place.text("mode")?.unwrap_or("constant");
    if !["constant", "reflect", "edge"].contains(&mode) {
        return Err(place
            .unsupported(format!("mode {mode}: only constant, reflect and edge are supported")));
    }
    let filler = match importer.optional(place, 2)? {
        None => place.float("value", 0.0)?,
        Some(Value::Constant(constant)) => match constant.floats() {
            Some([value]) => *value,
            _ => return Err(place.unsupported("its filler must be one float")),
        },
        Some(Value::Activated(_)) => return Err(place.unsupported("its filler must be constant")),
    };
    if filler.is_nan() {
        return Err(place.bad("its filler is no number"));
    }
    let pads = match place.ints("pads").or_else(|| place.ints("paddings")) {
        Some(pads) => pads.to_vec(),
        None => importer.ints(place, 1)?.ok_or_else(|| place.bad("its amounts are missing"))?,
    };
    let axes = match importer.ints(place, 3)? {
        None => as_given(rank),
        Some(axes) => {
            axes.iter().map(|axis| place.axis(*axis, rank)).collect::<Result<_, FormatError>>()?
        }
    };
    if pads.len() != 2 * axes.len() {
        return Err(place.bad(format!("amounts {pads:?} for {} axes", axes.len())));
    }
    let mut amounts = vec![(0, 0); rank];
    for (index, axis) in axes.iter().enumerate() {
        let amount = |value: i64| {
            usize::try_from(value)
                .ok()
                .filter(|amount| *amount <= 1 << 24)
                .ok_or_else(|| place.bad(format!("amounts {pads:?} are out of range")))
        };
        let position = input.order.iter().position(|a| a == axis).unwrap_or_default();
        amounts[position] = (amount(pads[index])?, amount(pads[index + axes.len()])?);
    }
    if mode != "constant" {
        return super::spatial::repeated(importer, place, &input, &amounts, mode == "edge");
    }
    importer
        .emit(place, Op::Pad { amounts, filler }, vec![input.tensor], input.order)
        .map(Value::Activated)
}
