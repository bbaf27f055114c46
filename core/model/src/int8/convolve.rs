//! Convolutions and fully connected layers in int8. Values enter as differences from the zero point,
//! which fit 16 bits; sums wrap at 32 bits.

use super::clamp;
use crate::integer::{Channel, Multiplier};
use crate::interpret::slide::{Slide, repeat_channels};
use crate::tensor::{Quantisation, Tensor};

/// Rows of weights are filled up with zeros to a multiple of this, so that products vectorise.
const UNIT: usize = 16;

/// How sums become results.
pub(super) struct Rescale {
    pub(super) channels: Vec<Channel>,
    pub(super) input_zero: i16,
    pub(super) output_zero: i32,
    pub(super) clamp: (i8, i8),
}

impl Rescale {
    fn result(&self, channel: usize, sum: i32) -> i8 {
        let Channel { bias, multiplier, shift } = self.channels[channel];
        let scaled = Multiplier { q31: multiplier, shift }.apply(sum.wrapping_add(bias));
        clamp(scaled.wrapping_add(self.output_zero), self.clamp)
    }

    fn differences(&self, input: &[i8]) -> Vec<i16> {
        input.iter().map(|value| i16::from(*value) - self.input_zero).collect()
    }
}

/// Weights of a convolution, widened: one row for each output channel.
pub(super) struct Rows {
    weights: Vec<i16>,
    depth: usize,
    pitch: usize,
    outputs: usize,
    groups: usize,
}

impl Rows {
    pub(super) fn new(values: &[i8], tensor: &Tensor, groups: usize) -> Self {
        let outputs = tensor.shape.dims().first().copied().unwrap_or(0);
        let depth = values.len().checked_div(outputs).unwrap_or(0);
        let pitch = depth.next_multiple_of(UNIT).max(UNIT);
        let mut weights = vec![0; outputs * pitch];
        let zero = weight_zero(tensor);
        for (row, values) in weights.chunks_exact_mut(pitch).zip(values.chunks(depth.max(1))) {
            row.iter_mut().zip(values).for_each(|(to, from)| *to = i16::from(*from) - zero);
        }
        Self { weights, depth, pitch, outputs, groups }
    }
}

/// Weights as differences from their zero point, in their own order.
pub(super) fn differences(values: &[i8], tensor: &Tensor) -> Vec<i16> {
    let zero = weight_zero(tensor);
    values.iter().map(|value| i16::from(*value) - zero).collect()
}

/// The zero point of weights; one of 8 bits, or there are no channels' constants.
fn weight_zero(tensor: &Tensor) -> i16 {
    tensor.quantisation.as_ref().map_or(0, Quantisation::zero) as i16
}

fn dot(values: &[i16], weights: &[i16]) -> i32 {
    let products = values.iter().zip(weights).map(|(v, w)| i32::from(*v) * i32::from(*w));
    products.fold(0, i32::wrapping_add)
}

pub(super) fn convolve(slide: &Slide<'_>, input: &[i8], rows: &Rows, rescale: &Rescale) -> Vec<i8> {
    let input = rescale.differences(input);
    let pixels: usize = slide.output[..3].iter().product();
    let mut result = vec![0; pixels * rows.outputs];
    let channels = slide.input[3] / rows.groups;
    let each = rows.outputs / rows.groups;
    let mut patch = vec![0; rows.pitch];
    slide.pixels(|index, pixel| {
        let results = &mut result[index * rows.outputs..(index + 1) * rows.outputs];
        for group in 0..rows.groups {
            slide.gather(&input, pixel, group * channels, channels, &mut patch[..rows.depth]);
            let first = group * each;
            let weights = rows.weights[first * rows.pitch..].chunks_exact(rows.pitch);
            for (offset, weights) in weights.take(each).enumerate() {
                let channel = first + offset;
                results[channel] = rescale.result(channel, dot(&patch, weights));
            }
        }
    });
    result
}

pub(super) fn depthwise(
    slide: &Slide<'_>,
    input: &[i8],
    weights: &[i16],
    rescale: &Rescale,
    multiplier: usize,
) -> Vec<i8> {
    let differences = rescale.differences(input);
    let input =
        if multiplier == 1 { differences } else { repeat_channels(&differences, multiplier) };
    let channels = slide.output[3];
    let mut result = vec![0; slide.output.iter().product()];
    let mut sums = vec![0i32; channels];
    slide.pixels(|index, pixel| {
        sums.fill(0);
        slide.taps(pixel, |tap, source| {
            let weights = &weights[tap * channels..(tap + 1) * channels];
            let values = &input[source * channels..(source + 1) * channels];
            for ((sum, value), weight) in sums.iter_mut().zip(values).zip(weights) {
                *sum = sum.wrapping_add(i32::from(*value) * i32::from(*weight));
            }
        });
        let results = &mut result[index * channels..(index + 1) * channels];
        for (channel, (result, sum)) in results.iter_mut().zip(&sums).enumerate() {
            *result = rescale.result(channel, *sum);
        }
    });
    result
}

/// A transposed convolution; each output pixel gathers what reaches it.
pub(super) fn transposed(
    slide: &Slide<'_>,
    input: &[i8],
    rows: &Rows,
    rescale: &Rescale,
) -> Vec<i8> {
    let input = rescale.differences(input);
    let [channels, outputs] = [slide.input[3], slide.output[3]];
    let mut result = vec![0; slide.output.iter().product()];
    let mut patch = vec![0i16; rows.pitch];
    slide.pixels(|index, pixel| {
        patch.fill(0);
        slide.transposed_taps(pixel, |tap, source| {
            patch[tap * channels..(tap + 1) * channels]
                .copy_from_slice(&input[source * channels..(source + 1) * channels]);
        });
        let results = &mut result[index * outputs..(index + 1) * outputs];
        let weights = rows.weights.chunks_exact(rows.pitch);
        for (channel, (result, weights)) in results.iter_mut().zip(weights).enumerate() {
            *result = rescale.result(channel, dot(&patch, weights));
        }
    });
    result
}
