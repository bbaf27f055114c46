//! Operators that compute with all elements of a row.

use tilewright_model::{Activation, DType, Data, Op, Quantisation, TensorId};

use super::{axis, needed};
use crate::FormatError;
use crate::tflite::importer::{Importer, Refused, unsupported};
use crate::tflite::verified_file::{Place, Stored};

pub(super) fn softmax<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_softmax_options())?;
    let mut input = importer.activated(place, 0)?;
    if options.beta() != 1.0 {
        input = scaled(importer, place, input, options.beta())?;
    }
    importer.emit(place, Op::Softmax, vec![input])?;
    Ok(())
}

/// A constant beside the operator's result, for its name.
fn named<'a>(
    importer: &Importer<'_, 'a>,
    place: &Place<'a>,
    what: &str,
) -> Result<Stored<'a>, FormatError> {
    let result = importer.file.tensors[importer.result(place, 0)?].clone();
    Ok(Stored { name: format!("{}.{what}", place.name), ..result })
}

/// The input times a factor, as a product with a constant. In int8 the same bytes under another
/// scale, which must be exact.
fn scaled<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    input: TensorId,
    factor: f32,
) -> Result<TensorId, Refused> {
    if !factor.is_finite() || factor <= 0.0 {
        return Err(place.bad(format!("its beta is {factor}")).into());
    }
    let (dtype, quantisation) = importer.kind(input);
    let (data, of_factor, of_product) = match &quantisation {
        Some(quantisation) if dtype == DType::I8 => {
            let scale = quantisation.scale(0);
            let product = scale * factor;
            if f64::from(product) != f64::from(scale) * f64::from(factor) || !product.is_normal() {
                let reason = format!("beta {factor}, whose product with scale {scale} is rounded");
                return unsupported(reason);
            }
            let of_product = Quantisation::per_tensor(product, quantisation.zero());
            (Data::I8(vec![1]), Some(Quantisation::per_tensor(factor, 0)), Some(of_product))
        }
        _ => (Data::F32(vec![factor]), None, None),
    };
    let named = named(importer, place, "beta")?;
    let constant = importer.constant(&named, &[1], data, of_factor)?;
    let op = Op::Mul { activation: Activation::None };
    Ok(importer.part(place, op, vec![input, constant], (dtype, of_product), &[])?)
}

pub(super) fn log_softmax<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let input = importer.activated(place, 0)?;
    importer.emit(place, Op::LogSoftmax, vec![input])?;
    Ok(())
}

/// In floats alone: the mean times the number of elements.
pub(super) fn sum<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    if !importer.is_float(place) {
        return unsupported("of quantised values");
    }
    let (op, input) = reduced(importer, place)?;
    let Op::Mean { axes, .. } = &op else { return unsupported("of nothing") };
    let dims = importer.shape(input);
    let count: usize = axes.iter().map(|axis| dims[*axis]).product();
    let mean = importer.part(place, op, vec![input], (DType::F32, None), &[])?;
    let named = named(importer, place, "count")?;
    let count = importer.constant(&named, &[1], Data::F32(vec![count as f32]), None)?;
    importer.emit(place, Op::Mul { activation: Activation::None }, vec![mean, count])?;
    Ok(())
}

pub(super) fn mean<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let (op, input) = reduced(importer, place)?;
    importer.emit(place, op, vec![input])?;
    Ok(())
}

/// A mean over the dimensions that operand 1 gives, and what it takes.
fn reduced<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(Op, TensorId), Refused> {
    let rank = importer.dims(place, 0)?.len();
    let options = place.operator.builtin_options_as_reducer_options();
    let keep_dims = options.is_some_and(|options| options.keep_dims());
    let given = importer.needed_ints(place, 1, "axes")?;
    let mut axes =
        given.iter().map(|at| axis(place, *at, rank)).collect::<Result<Vec<usize>, _>>()?;
    axes.sort_unstable();
    axes.dedup();
    Ok((Op::Mean { axes, keep_dims }, importer.activated(place, 0)?))
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
