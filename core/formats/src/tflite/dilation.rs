//! Dilated convolutions as older converters write them: SPACE_TO_BATCH_ND spreads an image over
//! batches of its own pixels in steps of a block, a convolution without padding works on each, and
//! BATCH_TO_SPACE_ND puts the results back and crops them. That is one convolution of the image,
//! dilated by the block and padded by what was added less what was cropped.

use tilewright_model::Padding;
use tilewright_tflite_schema::{self as fb, BuiltinOperator as Code};

use super::quantised;
use super::verified_file::{Place, Stored};

/// What the two operators around a convolution make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spread {
    pub(super) dilation: [usize; 2],
    pub(super) padding: Padding,
}

/// The operators with each such triple as one convolution, which has the place of the last.
pub(super) fn gather<'a>(
    places: Vec<Place<'a>>,
    tensors: &[Stored<'a>],
    outputs: &[usize],
) -> Vec<Place<'a>> {
    let mut readers = vec![0usize; tensors.len()];
    let read = places.iter().flat_map(|place| place.inputs.iter().flatten());
    read.chain(outputs).for_each(|index| readers[*index] += 1);
    let mut maker = vec![None; tensors.len()];
    for (number, place) in places.iter().enumerate() {
        place.outputs.iter().for_each(|index| maker[*index] = Some(number));
    }
    let only_read_here = |place: &Place<'a>| -> Option<usize> {
        let input = (*place.inputs.first()?)?;
        if readers[input] == 1 { maker[input] } else { None }
    };
    let mut gathered: Vec<Option<Place<'a>>> = places.iter().cloned().map(Some).collect();
    for (last, back) in places.iter().enumerate() {
        let triple = || {
            let middle = only_read_here(back)?;
            let conv = &places[middle];
            let first = only_read_here(conv)?;
            let spread = spread(&places[first], conv, back, tensors)?;
            Some((first, middle, spread))
        };
        let Some((first, middle, spread)) = triple().filter(|(first, middle, _)| {
            // In the file's order; else the file is wrong, and its operators say so.
            first < middle && *middle < last
        }) else {
            continue;
        };
        let mut conv = places[middle].clone();
        conv.inputs[0] = places[first].inputs[0];
        conv.outputs.clone_from(&back.outputs);
        conv.spread = Some(spread);
        (gathered[first], gathered[middle], gathered[last]) = (None, None, Some(conv));
    }
    gathered.into_iter().flatten().collect()
}

/// The convolution's dilation and padding, if the three operators are such a triple.
fn spread(
    to: &Place<'_>,
    conv: &Place<'_>,
    back: &Place<'_>,
    tensors: &[Stored<'_>],
) -> Option<Spread> {
    let is_plain = match conv.code {
        Code::CONV_2D => {
            let options = conv.operator.builtin_options_as_conv_2_doptions()?;
            let steps = [options.stride_h(), options.stride_w()];
            let dilation = [options.dilation_h_factor(), options.dilation_w_factor()];
            options.padding() == fb::Padding::VALID && steps == [1, 1] && dilation == [1, 1]
        }
        Code::DEPTHWISE_CONV_2D => {
            let options = conv.operator.builtin_options_as_depthwise_conv_2_doptions()?;
            let steps = [options.stride_h(), options.stride_w()];
            let dilation = [options.dilation_h_factor(), options.dilation_w_factor()];
            options.padding() == fb::Padding::VALID && steps == [1, 1] && dilation == [1, 1]
        }
        _ => false,
    };
    let are_pair = to.code == Code::SPACE_TO_BATCH_ND && back.code == Code::BATCH_TO_SPACE_ND;
    let one_each = [to, conv, back].iter().all(|place| place.outputs.len() == 1);
    if !is_plain || !are_pair || !one_each {
        return None;
    }
    let constant = |place: &Place<'_>, operand: usize| {
        quantised::ints(&tensors[(*place.inputs.get(operand)?)?])
    };
    // What is spread and put back keeps its quantisation.
    let same = |a: usize, b: usize| {
        tensors[a].kind == tensors[b].kind && tensors[a].quantisation == tensors[b].quantisation
    };
    if !same((*to.inputs.first()?)?, to.outputs[0]) || !same(conv.outputs[0], back.outputs[0]) {
        return None;
    }
    let [height, width] = <[i64; 2]>::try_from(constant(to, 1)?).ok()?;
    if constant(back, 1)? != [height, width] {
        return None;
    }
    let [top, bottom, left, right] = <[i64; 4]>::try_from(constant(to, 2)?).ok()?;
    let [cut_top, cut_bottom, cut_left, cut_right] =
        <[i64; 4]>::try_from(constant(back, 2)?).ok()?;
    let size = |value: i64| usize::try_from(value).ok().filter(|size| *size < 1 << 15);
    let rest = |added: i64, cut: i64| {
        size(added)?;
        size(cut)?;
        size(added - cut)
    };
    Some(Spread {
        dilation: [size(height).filter(|b| *b > 0)?, size(width).filter(|b| *b > 0)?],
        padding: Padding {
            top: rest(top, cut_top)?,
            left: rest(left, cut_left)?,
            bottom: rest(bottom, cut_bottom)?,
            right: rest(right, cut_right)?,
        },
    })
}
