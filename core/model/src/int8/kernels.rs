//! Arithmetic of the int8 operators. Values enter as differences from the zero point, which fit
//! 16 bits; sums wrap at 32 bits.

use crate::integer::{ADD_LEFT_SHIFT, AddParams, Channel, Multiplier};
use crate::interpret::slide::{Slide, repeat_channels};
use crate::tensor::Tensor;

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

fn clamp(value: i32, (low, high): (i8, i8)) -> i8 {
    // A low bound above the high one, from a zero point beyond the range, yields the high bound.
    value.max(i32::from(low)).min(i32::from(high)) as i8
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
        for (row, values) in weights.chunks_exact_mut(pitch).zip(values.chunks(depth.max(1))) {
            row.iter_mut().zip(values).for_each(|(to, from)| *to = i16::from(*from));
        }
        Self { weights, depth, pitch, outputs, groups }
    }
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

pub(super) fn max_pool(slide: &Slide<'_>, input: &[i8], limits: (i8, i8)) -> Vec<i8> {
    let channels = slide.output[3];
    let mut result = vec![i8::MIN; slide.output.iter().product()];
    slide.pixels(|index, pixel| {
        let row = &mut result[index * channels..(index + 1) * channels];
        slide.taps(pixel, |_, source| {
            let values = &input[source * channels..(source + 1) * channels];
            row.iter_mut().zip(values).for_each(|(max, value)| *max = (*max).max(*value));
        });
        row.iter_mut().for_each(|value| *value = clamp(i32::from(*value), limits));
    });
    result
}

/// Mean of each window, rounded half away from zero. `padding` is the value of padded pixels if
/// they count, with the rows and columns at its end that never do.
pub(super) fn average_pool(
    slide: &Slide<'_>,
    input: &[i8],
    padding: Option<(i32, [usize; 2])>,
    limits: (i8, i8),
) -> Vec<i8> {
    let channels = slide.output[3];
    let mut result = vec![0; slide.output.iter().product()];
    let mut sums = vec![0i64; channels];
    slide.pixels(|index, pixel| {
        sums.fill(0);
        let mut count = 0;
        slide.taps(pixel, |_, source| {
            count += 1;
            let values = &input[source * channels..(source + 1) * channels];
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += i64::from(*value));
        });
        if let Some((zero, uncounted)) = padding {
            let area = slide.counted(pixel, uncounted) as i64;
            let padded = (area - count) * i64::from(zero);
            sums.iter_mut().for_each(|sum| *sum += padded);
            count = area;
        }
        let count = count.max(1);
        let results = &mut result[index * channels..(index + 1) * channels];
        for (result, sum) in results.iter_mut().zip(&sums) {
            let half = if *sum > 0 { count / 2 } else { -(count / 2) };
            *result = clamp(((sum + half) / count) as i32, limits);
        }
    });
    result
}

pub(super) fn add(
    first: &[i8],
    second: &[i8],
    params: &AddParams,
    [first_zero, second_zero, output_zero]: [i32; 3],
    limits: (i8, i8),
) -> Vec<i8> {
    let operand = |value: i8, zero: i32, multiplier: Multiplier| {
        multiplier.apply((i32::from(value) - zero) << ADD_LEFT_SHIFT)
    };
    first
        .iter()
        .zip(second)
        .map(|(first, second)| {
            let first = operand(*first, first_zero, params.first);
            let sum = first.wrapping_add(operand(*second, second_zero, params.second));
            clamp(params.output.apply(sum).wrapping_add(output_zero), limits)
        })
        .collect()
}

pub(super) fn requantise(
    values: &[i8],
    multiplier: Multiplier,
    [from, to]: [i32; 2],
    limits: (i8, i8),
) -> Vec<i8> {
    let rescale =
        |value: &i8| clamp(multiplier.apply(i32::from(*value) - from).wrapping_add(to), limits);
    values.iter().map(rescale).collect()
}
