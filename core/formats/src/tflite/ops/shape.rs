//! Operators that move values without computing.

use tilewright_model::{Activation, Op, ResizeMode, Unary};

use super::{axis, fused, needed, unmoved};
use crate::numbers::signed;
use crate::tflite::importer::{Importer, Refused, Value, unsupported};
use crate::tflite::verified_file::Place;

/// Operand 0 under other dimensions.
fn reshaped<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
    dims: Vec<usize>,
) -> Result<(), Refused> {
    if let Some(values) = importer.ints(place, 0) {
        if dims.iter().try_fold(1usize, |p, dim| p.checked_mul(*dim)) != Some(values.len()) {
            return Err(place.bad(format!("{} elements become {dims:?}", values.len())).into());
        }
        return Ok(importer.set(place, 0, Value::Ints { dims, values: values.into() })?);
    }
    let input = importer.activated(place, 0)?;
    unmoved(importer, place, 0, Op::Reshape, input, &dims)
}

pub(super) fn reshape<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = place.operator.builtin_options_as_reshape_options();
    let stated = || {
        options
            .and_then(|options| options.new_shape())
            .map(|shape| shape.iter().map(i64::from).collect::<Vec<i64>>())
    };
    let target = match importer.optional(place, 1) {
        Some(_) => match importer.ints(place, 1) {
            Some(target) => target,
            None => match stated() {
                Some(target) => target,
                None => return unsupported("to a shape that is not constant"),
            },
        },
        None => stated().ok_or_else(|| place.bad("the shape to take is missing"))?,
    };
    let dims = importer.dims(place, 0)?;
    let bad = || place.bad(format!("{dims:?} cannot take shape {target:?}"));
    let total: usize = dims.iter().product();
    let known = target
        .iter()
        .map(|size| match *size {
            -1 => Ok(None),
            size => usize::try_from(size).map(Some).map_err(|_| bad()),
        })
        .collect::<Result<Vec<Option<usize>>, _>>()?;
    let product =
        known.iter().flatten().try_fold(1usize, |p, dim| p.checked_mul(*dim)).ok_or_else(bad)?;
    let shape: Vec<usize> = match known.iter().filter(|dim| dim.is_none()).count() {
        0 => known.into_iter().flatten().collect(),
        1 if product > 0 && total.is_multiple_of(product) => {
            known.into_iter().map(|dim| dim.unwrap_or(total / product)).collect()
        }
        _ => return Err(bad().into()),
    };
    reshaped(importer, place, shape)
}

pub(super) fn squeeze<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let dims = importer.dims(place, 0)?;
    let options = place.operator.builtin_options_as_squeeze_options();
    let given: Vec<i32> =
        options.and_then(|options| options.squeeze_dims()).iter().flatten().collect();
    let gone = given
        .iter()
        .map(|given| axis(place, i64::from(*given), dims.len()))
        .collect::<Result<Vec<usize>, _>>()?;
    let goes = |at: usize| if gone.is_empty() { dims[at] == 1 } else { gone.contains(&at) };
    if gone.iter().any(|at| dims[*at] != 1) {
        return Err(place.bad(format!("dimensions {gone:?} of {dims:?} are not all 1")).into());
    }
    let kept = (0..dims.len()).filter(|at| !goes(*at)).map(|at| dims[at]).collect();
    reshaped(importer, place, kept)
}

pub(super) fn expand_dims<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let mut dims = importer.dims(place, 0)?;
    let [at] = *importer.needed_ints(place, 1, "axis")? else {
        return Err(place.bad("its axis must be one number").into());
    };
    let at = axis(place, at, dims.len() + 1)?;
    dims.insert(at, 1);
    reshaped(importer, place, dims)
}

pub(super) fn transpose<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let rank = importer.dims(place, 0)?.len();
    let given = importer.needed_ints(place, 1, "permutation")?;
    let permutation =
        given.iter().map(|at| axis(place, *at, rank)).collect::<Result<Vec<usize>, _>>()?;
    let input = importer.activated(place, 0)?;
    unmoved(importer, place, 0, Op::Transpose { permutation }, input, &[])
}

pub(super) fn concatenation<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_concatenation_options())?;
    if fused(options.fused_activation_function())? != Activation::None {
        return unsupported("with a fused activation");
    }
    let along = axis(place, i64::from(options.axis()), importer.dims(place, 0)?.len())?;
    let parts: Option<Vec<Vec<i64>>> =
        (0..place.inputs.len()).map(|position| importer.ints(place, position)).collect();
    if let Some(parts) = parts {
        let joined = parts.concat();
        let dims = vec![joined.len()];
        return Ok(importer.set(place, 0, Value::Ints { dims, values: joined.into() })?);
    }
    let mut inputs = importer.all_activated(place)?;
    if importer.is_uint8(place)? {
        // Of uint8 the runtime takes each operand to the result's quantisation in floats.
        let result = importer.result_kind(place, 0)?;
        for input in &mut inputs {
            if importer.kind(*input) != result {
                let dims = importer.shape(*input).to_vec();
                let op = Op::Unary(Unary::Rescale);
                *input = importer.part(place, op, vec![*input], result.clone(), &dims)?;
            }
        }
    }
    importer.emit(place, Op::Concat { axis: along }, inputs)?;
    Ok(())
}

pub(super) fn pad<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>) -> Result<(), Refused> {
    let rank = importer.dims(place, 0)?.len();
    let pads = importer.needed_ints(place, 1, "amounts")?;
    if pads.len() != 2 * rank {
        return Err(place.bad(format!("amounts {pads:?} for {rank} dimensions")).into());
    }
    let amount = |value: i64| {
        usize::try_from(value)
            .ok()
            .filter(|amount| *amount <= 1 << 24)
            .ok_or_else(|| place.bad(format!("amounts {pads:?} are out of range")))
    };
    let amounts = pads
        .chunks_exact(2)
        .map(|pair| Ok((amount(pair[0])?, amount(pair[1])?)))
        .collect::<Result<Vec<_>, Refused>>()?;
    let filler = match importer.optional(place, 2) {
        None => 0.0,
        Some(_) => match importer.floats(place, 2).as_deref() {
            Some([filler]) if !filler.is_nan() => *filler,
            Some(_) => return Err(place.bad("its filler must be one number").into()),
            None => return unsupported("with a filler that is not constant"),
        },
    };
    let input = importer.activated(place, 0)?;
    unmoved(importer, place, 0, Op::Pad { amounts, filler }, input, &[])
}

/// The block's size, for the options of both directions.
fn block(place: &Place<'_>, given: i32) -> Result<usize, Refused> {
    Ok(super::size(place, "block", given)?)
}

pub(super) fn space_to_depth<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_space_to_depth_options())?;
    let block = block(place, options.block_size())?;
    let input = importer.activated(place, 0)?;
    unmoved(importer, place, 0, Op::SpaceToDepth { block }, input, &[])
}

pub(super) fn depth_to_space<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_depth_to_space_options())?;
    let block = block(place, options.block_size())?;
    let input = importer.activated(place, 0)?;
    unmoved(importer, place, 0, Op::DepthToSpace { block }, input, &[])
}

fn resize<'a>(importer: &mut Importer<'_, 'a>, place: &Place<'a>, op: Op) -> Result<(), Refused> {
    let mut dims = importer.dims(place, 0)?;
    let given = importer.needed_ints(place, 1, "size")?;
    let (Ok(sizes), 4) = (<[i64; 2]>::try_from(given.as_slice()), dims.len()) else {
        return Err(place.bad(format!("{dims:?} resized to {given:?}")).into());
    };
    for (dim, size) in dims[1..3].iter_mut().zip(sizes) {
        *dim = super::size(place, "size", i32::try_from(size).unwrap_or(i32::MAX))?;
    }
    let input = importer.activated(place, 0)?;
    unmoved(importer, place, 0, op, input, &dims)
}

pub(super) fn resize_bilinear<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options = needed(place, place.operator.builtin_options_as_resize_bilinear_options())?;
    let (align_corners, half_pixel_centers) =
        (options.align_corners(), options.half_pixel_centers());
    let mut mode = ResizeMode::Bilinear;
    if importer.is_uint8(place)? {
        if !takes_pixels(importer, place, align_corners, half_pixel_centers)? {
            return unsupported("of uint8 between pixels, which is computed in floats");
        }
        mode = ResizeMode::Nearest;
    }
    resize(importer, place, Op::Resize { mode, align_corners, half_pixel_centers, places: None })
}

/// Whether every pixel of a resized image is one of the image's, so that none lies between two: the
/// image is a single pixel high or wide, or its pixels are taken at equal whole distances.
fn takes_pixels<'a>(
    importer: &Importer<'_, 'a>,
    place: &Place<'a>,
    align_corners: bool,
    half_pixel_centers: bool,
) -> Result<bool, Refused> {
    let dims = importer.dims(place, 0)?;
    let sizes = importer.needed_ints(place, 1, "size")?;
    let ([_, height, width, _], [rows, columns]) = (dims.as_slice(), sizes.as_slice()) else {
        return Ok(false);
    };
    let takes = |before: usize, after: i64| {
        let (from, to) = match align_corners && after > 1 {
            true => (signed(before) - 1, after - 1),
            false => (signed(before), after),
        };
        let is_whole = to > 0 && from % to == 0;
        before == 1 || (is_whole && (!half_pixel_centers || from / to % 2 == 1))
    };
    Ok(takes(*height, *rows) && takes(*width, *columns))
}

pub(super) fn resize_nearest<'a>(
    importer: &mut Importer<'_, 'a>,
    place: &Place<'a>,
) -> Result<(), Refused> {
    let options =
        needed(place, place.operator.builtin_options_as_resize_nearest_neighbor_options())?;
    let op = Op::Resize {
        mode: ResizeMode::Nearest,
        align_corners: options.align_corners(),
        half_pixel_centers: options.half_pixel_centers(),
        places: None,
    };
    resize(importer, place, op)
}
