//! Operators that compute with all elements of a row.

use tilewright_model::Op;

use super::{axis, needed};
use crate::tflite::file::Place;
use crate::tflite::importer::{Importer, Refused, unsupported};

pub(super) fn softmax<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_softmax_options())?;
    let beta = options.beta();
    if beta != 1.0 {
        return unsupported(format!("beta {beta}"));
    }
    let input = importer.activated(place, 0)?;
    importer.emit(place, Op::Softmax, vec![input])?;
    Ok(())
}

pub(super) fn log_softmax<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let input = importer.activated(place, 0)?;
    importer.emit(place, Op::LogSoftmax, vec![input])?;
    Ok(())
}

pub(super) fn mean<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let rank = importer.dims(place, 0)?.len();
    let options = place.operator.builtin_options_as_reducer_options();
    let keep_dims = options.is_some_and(|options| options.keep_dims());
    let given = importer.needed_ints(place, 1, "axes")?;
    let mut axes =
        given.iter().map(|at| axis(place, *at, rank)).collect::<Result<Vec<usize>, _>>()?;
    axes.sort_unstable();
    axes.dedup();
    let input = importer.activated(place, 0)?;
    importer.emit(place, Op::Mean { axes, keep_dims }, vec![input])?;
    Ok(())
}

pub(super) fn arg_max<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let rank = importer.dims(place, 0)?.len();
    let [given] = *importer.needed_ints(place, 1, "axis")? else {
        return Err(place.bad("its axis must be one number").into());
    };
    let axis = axis(place, given, rank)?;
    let input = importer.activated(place, 0)?;
    importer.emit(place, Op::ArgMax { axis, keep_dims: false }, vec![input])?;
    Ok(())
}

pub(super) fn local_response<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options =
        needed(place, place.operator.builtin_options_as_local_response_normalization_options())?;
    let radius = usize::try_from(options.radius())
        .ok()
        .filter(|radius| *radius < 1 << 15)
        .ok_or_else(|| place.bad(format!("its radius is {}", options.radius())))?;
    let size = 2 * radius + 1;
    // Here alpha is of the sum, in the graph of the mean.
    let alpha = options.alpha() * size as f32;
    let op = Op::LocalResponseNorm { size, alpha, beta: options.beta(), bias: options.bias() };
    let input = importer.activated(place, 0)?;
    importer.emit(place, op, vec![input])?;
    Ok(())
}
