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

/// A product of two activations.
pub(super) fn product(
    importer: &mut Importer<'_>,
    place: Place<'_>,
    first: &Activated,
    second: &Activated,
) -> Result<Value, FormatError> {
    let (left, right) = (importer.dims(first), importer.dims(second));
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
