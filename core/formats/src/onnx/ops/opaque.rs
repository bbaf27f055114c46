//! Operators that nothing here computes, but whose results have shapes that are known: a model with
//! them can be looked at and planned for memory.

use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::importer::{Activated, Importer, Value};

/// An operator whose result has the shape of its first operand.
pub(super) fn like_its_operand(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let dims = importer.dims(&input);
    importer.opaque_of(place, dims).map(Value::Activated)
}

/// Recurrent operators: all states of a sequence, the last one, and an LSTM's last cell.
pub(super) fn recurrent(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let [first, second, _] = *importer.dims(&input) else {
        return Err(place.bad("its operand is no sequence of rows for each of a batch"));
    };
    let of_recurrence = match importer.operand(place, 2)? {
        Value::Constant(constant) => constant.dims.last().copied(),
        Value::Activated(value) => importer.dims(&value).last().copied(),
    };
    let hidden = usize::try_from(place.int("hidden_size", 0)).ok().filter(|size| *size > 0);
    let hidden = hidden.or(of_recurrence).ok_or_else(|| place.bad("hidden_size is missing"))?;
    let directions = 1 + usize::from(place.text("direction")? == Some("bidirectional"));
    // Version 14 lets the batch be first.
    let (all, last) = if place.flag("layout", false)? {
        (vec![first, second, directions, hidden], vec![first, directions, hidden])
    } else {
        (vec![first, directions, second, hidden], vec![directions, second, hidden])
    };
    importer.opaque_results(place, &[all, last.clone(), last])
}

/// A product of two activations.
pub(super) fn product(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    first: &Activated,
    second: &Activated,
) -> Result<Value, FormatError> {
    let (mut left, mut right) = (importer.dims(first), importer.dims(second));
    for (flag, dims) in [("transA", &mut left), ("transB", &mut right)] {
        if let (true, [.., rows, columns]) = (place.flag(flag, false)?, dims.as_mut_slice()) {
            std::mem::swap(rows, columns);
        }
    }
    if left.len() == 1 || right.len() == 1 {
        return Err(place.unsupported("products with vectors that are not constant"));
    }
    let misfit = || place.bad(format!("{left:?} times {right:?}"));
    let ([left @ .., rows, taken], [right @ .., given, columns]) =
        (left.as_slice(), right.as_slice())
    else {
        return Err(misfit());
    };
    let outer = super::folding::joined(left, right).filter(|_| taken == given);
    let mut dims = outer.ok_or_else(misfit)?;
    dims.extend([*rows, *columns]);
    importer.opaque_of(place, dims).map(Value::Activated)
}
