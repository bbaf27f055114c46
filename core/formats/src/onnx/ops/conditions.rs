//! Ranges, comparisons and choices between constants: the arithmetic on shapes and grids that
//! exporters write for sizes that are open. Of values that the model computes they have no meaning here.

use std::rc::Rc;

use super::folding;
use crate::numbers::{signed, whole};
use crate::onnx::attributes::Place;
use crate::onnx::constant::{Constant, Values};
use crate::onnx::importer::{Importer, Value};
use crate::{FormatError, elements};

/// Operand `index`, which is not computed.
fn known(
    importer: &Importer<'_>,
    place: Place<'_>,
    index: usize,
) -> Result<Rc<Constant>, FormatError> {
    match importer.operand(place, index)? {
        Value::Constant(constant) => Ok(constant),
        Value::Activated(_) => Err(place.unsupported("of values that the model computes")),
    }
}

/// Numbers from one on up to another, by steps.
pub(super) fn range(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let [start, limit, step] =
        [known(importer, place, 0)?, known(importer, place, 1)?, known(importer, place, 2)?];
    let fits = |count: f64| {
        let most = importer.limits.tensor_elements as f64;
        let count = (0.0..=most).contains(&count).then_some(whole(count));
        let count = count.ok_or_else(|| place.bad("its bounds give no such many numbers"))?;
        folding::room(importer, place, &[count])
    };
    if let (Some([start]), Some([limit]), Some([step])) = (start.ints(), limit.ints(), step.ints())
    {
        // What is not exact is far beyond the limit.
        let count = fits(((*limit as f64 - *start as f64) / *step as f64).ceil().max(0.0))?;
        let number = |at: usize| start.saturating_add(signed(at).saturating_mul(*step));
        let values = Values::Int((0..count).map(number).collect());
        return folding::result(importer, place, vec![count], values);
    }
    if let (Some([start]), Some([limit]), Some([step])) =
        (start.floats(), limit.floats(), step.floats())
    {
        let count = fits(f64::from((limit - start) / step).ceil().max(0.0))?;
        let values = Values::Float((0..count).map(|at| start + at as f32 * step).collect());
        return folding::result(importer, place, vec![count], values);
    }
    Err(place.bad("its bounds and its step must be one number each, of one type"))
}

/// Truth values of two constants, which broadcast.
pub(super) fn compare(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let (first, second) = (known(importer, place, 0)?, known(importer, place, 1)?);
    let dims = broadcast(importer, place, &[&first, &second])?;
    let op = place.node.op_type.as_str();
    let holds = match (first.ints(), second.ints(), first.floats(), second.floats()) {
        (Some(a), Some(b), ..) => pairs(a, &first, b, &second, &dims, |a, b| decide(op, a, b)),
        (None, None, Some(a), Some(b)) => {
            pairs(a, &first, b, &second, &dims, |a, b| decide(op, a, b))
        }
        _ => return Err(place.bad("its constants differ in type")),
    };
    folding::result(importer, place, dims, Values::Int(holds))
}

fn pairs<T: Copy>(
    a: &[T],
    first: &Constant,
    b: &[T],
    second: &Constant,
    dims: &[usize],
    holds: impl Fn(&T, &T) -> bool,
) -> Vec<i64> {
    let a = folding::broadcast(a, &first.dims, dims);
    let b = folding::broadcast(b, &second.dims, dims);
    a.iter().zip(&b).map(|(a, b)| i64::from(holds(a, b))).collect()
}

/// Truth values are 0 and 1.
fn decide<T: PartialOrd + Default>(op: &str, a: &T, b: &T) -> bool {
    let is_true = |value: &T| *value != T::default();
    match op {
        "Equal" => a == b,
        "Greater" => a > b,
        "GreaterOrEqual" => a >= b,
        "Less" => a < b,
        "LessOrEqual" => a <= b,
        "And" => is_true(a) && is_true(b),
        "Or" => is_true(a) || is_true(b),
        _ => is_true(a) != is_true(b),
    }
}

/// The other truth value.
pub(super) fn not(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let given = known(importer, place, 0)?;
    let values = given.ints().ok_or_else(|| place.bad("its operand is no truth value"))?;
    let values = Values::Int(values.iter().map(|value| i64::from(*value == 0)).collect());
    folding::result(importer, place, given.dims.clone(), values)
}

/// Of two constants the first where a third holds, else the second.
pub(super) fn choose(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let [which, first, second] =
        [known(importer, place, 0)?, known(importer, place, 1)?, known(importer, place, 2)?];
    let dims = broadcast(importer, place, &[&which, &first, &second])?;
    let holds = which.ints().ok_or_else(|| place.bad("its condition is no truth value"))?;
    let holds = folding::broadcast(holds, &which.dims, &dims);
    let values = match (first.ints(), second.ints(), first.floats(), second.floats()) {
        (Some(a), Some(b), ..) => Values::Int(chosen(&holds, (a, &first), (b, &second), &dims)),
        (None, None, Some(a), Some(b)) => {
            Values::Float(chosen(&holds, (a, &first), (b, &second), &dims))
        }
        _ => return Err(place.bad("its constants differ in type")),
    };
    folding::result(importer, place, dims, values)
}

fn chosen<T: Copy>(
    holds: &[i64],
    (a, first): (&[T], &Constant),
    (b, second): (&[T], &Constant),
    dims: &[usize],
) -> Vec<T> {
    let a = folding::broadcast(a, &first.dims, dims);
    let b = folding::broadcast(b, &second.dims, dims);
    holds
        .iter()
        .zip(a.iter().zip(&b))
        .map(|(holds, (a, b))| if *holds == 0 { *b } else { *a })
        .collect()
}

/// How many elements the operand has.
pub(super) fn size(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let dims = match importer.operand(place, 0)? {
        Value::Constant(constant) => constant.dims.clone(),
        Value::Activated(value) => importer.dims(&value),
    };
    let count = elements(place.name(), &dims, importer.limits)?;
    folding::result(importer, place, vec![], Values::Int(vec![signed(count)]))
}

fn broadcast(
    importer: &Importer<'_>,
    place: Place<'_>,
    constants: &[&Constant],
) -> Result<Vec<usize>, FormatError> {
    let mut dims = Vec::new();
    for constant in constants {
        dims = folding::joined(&dims, &constant.dims)
            .ok_or_else(|| place.bad("its constants do not broadcast"))?;
    }
    folding::room(importer, place, &dims)?;
    Ok(dims)
}
