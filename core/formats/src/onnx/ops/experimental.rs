//! Operators that were experimental in the standard's first versions and left it again; converters
//! from Core ML wrote them.

use crate::FormatError;
use crate::onnx::attributes::Place;
use crate::onnx::importer::{Activated, Importer, Value};

/// An image's number of channels.
fn image(importer: &mut Importer<'_>, place: Place<'_>) -> Result<(Activated, usize), FormatError> {
    let input = importer.activated(place, 0)?;
    match *importer.dims(&input) {
        [_, channels, _, _] => Ok((input, channels)),
        ref dims => Err(place.bad(format!("{dims:?} is no image"))),
    }
}

/// Each value times one scale, plus its channel's bias.
pub(super) fn image_scaler(
    importer: &mut Importer<'_>,
    place: Place<'_>,
) -> Result<Value, FormatError> {
    let (input, channels) = image(importer, place)?;
    let scale = place.float("scale", 1.0)?;
    let bias = place.attribute("bias").map_or(&[][..], |attribute| &attribute.floats);
    if !bias.is_empty() && bias.len() != channels {
        return Err(place.bad(format!("{} biases for {channels} channels", bias.len())));
    }
    let affine = |channel: usize| (scale, bias.get(channel).copied().unwrap_or(0.0));
    super::elementwise::per_channel(importer, place, &input, place.name(), 1, affine)
}

/// alpha · x + beta.
pub(super) fn affine(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let input = importer.activated(place, 0)?;
    let axis = match input.order.len() {
        0 => return Err(place.bad("its operand is a scalar")),
        rank => usize::from(rank > 1),
    };
    let both = (place.float("alpha", 1.0)?, place.float("beta", 0.0)?);
    super::elementwise::per_channel(importer, place, &input, place.name(), axis, |_| both)
}

/// An image without `border` columns left, rows above, columns right, rows below; with `scale`, of
/// that many rows and columns from there on.
pub(super) fn crop(importer: &mut Importer<'_>, place: Place<'_>) -> Result<Value, FormatError> {
    let (input, _) = image(importer, place)?;
    let dims = importer.dims(&input);
    let sizes = |name: &str| -> Result<Option<Vec<usize>>, FormatError> {
        let Some(values) = place.ints(name).filter(|values| !values.is_empty()) else {
            return Ok(None);
        };
        let sizes = values.iter().map(|value| usize::try_from(*value).ok()).collect();
        Some(sizes)
            .filter(Option::is_some)
            .ok_or_else(|| place.bad(format!("attribute {name} is {values:?}")))
    };
    let Some([left, top, right, bottom]) =
        sizes("border")?.and_then(|border| <[usize; 4]>::try_from(border).ok())
    else {
        return Err(place.bad("attribute border must be four numbers"));
    };
    let scale = sizes("scale")?;
    let kept: Option<Vec<usize>> = match scale.as_deref() {
        None => [top.checked_add(bottom), left.checked_add(right)]
            .iter()
            .zip(&dims[2..])
            .map(|(gone, size)| size.checked_sub((*gone)?))
            .collect(),
        Some([rows, columns]) => Some(vec![*rows, *columns]),
        Some(_) => return Err(place.bad("attribute scale must be two numbers")),
    };
    super::spatial::part(importer, place, &input, [top, left], kept.as_deref())
}
