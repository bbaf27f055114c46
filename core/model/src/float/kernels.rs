//! Arithmetic of the float operators.

use crate::interpret::slide::{Slide, repeat_channels};
use crate::op::Activation;

/// Output channels computed side by side; each keeps its own order of summation, so this changes
/// no result.
const LANES: usize = 8;

/// Weights of a convolution, regrouped to group × block of output channels × tap and input channel
/// × lane; the last block of a group is filled up with zeros.
pub(super) struct Packed {
    weights: Vec<[f32; LANES]>,
    outputs: usize,
    depth: usize,
    groups: usize,
}

impl Packed {
    /// Packs weights given as `outputs` rows.
    pub(super) fn new(weights: &[f32], outputs: usize, groups: usize) -> Self {
        let depth = weights.len().checked_div(outputs).unwrap_or(0);
        let each = outputs / groups;
        let mut packed = Vec::with_capacity(groups * each.div_ceil(LANES) * depth);
        for group in 0..groups {
            for block in 0..each.div_ceil(LANES) {
                for k in 0..depth {
                    packed.push(std::array::from_fn(|lane| {
                        let channel = block * LANES + lane;
                        let row = group * each + channel;
                        if channel < each { weights[row * depth + k] } else { 0.0 }
                    }));
                }
            }
        }
        Self { weights: packed, outputs, depth, groups }
    }

    /// Bias first, then products in the order of the taps and, within each, the input channels.
    pub(super) fn convolve(
        &self,
        slide: &Slide<'_>,
        input: &[f32],
        bias: Option<&[f32]>,
    ) -> Vec<f32> {
        let pixels: usize = slide.output[..3].iter().product();
        let mut result = vec![0.0; pixels * self.outputs];
        let channels = slide.input[3] / self.groups;
        let each = self.outputs / self.groups;
        let blocks = each.div_ceil(LANES);
        let mut patch = vec![0.0; self.depth];
        slide.pixels(|index, pixel| {
            let row = &mut result[index * self.outputs..(index + 1) * self.outputs];
            for group in 0..self.groups {
                slide.gather(input, pixel, group * channels, channels, &mut patch);
                for block in 0..blocks {
                    let first = group * each + block * LANES;
                    let lanes = LANES.min(each - block * LANES);
                    let mut sums = [0.0; LANES];
                    if let Some(bias) = bias {
                        sums[..lanes].copy_from_slice(&bias[first..first + lanes]);
                    }
                    let start = (group * blocks + block) * self.depth;
                    let weights = &self.weights[start..start + self.depth];
                    for (value, weights) in patch.iter().zip(weights) {
                        for lane in 0..LANES {
                            sums[lane] += value * weights[lane];
                        }
                    }
                    row[first..first + lanes].copy_from_slice(&sums[..lanes]);
                }
            }
        });
        result
    }
}

pub(super) fn depthwise(
    slide: Slide<'_>,
    input: &[f32],
    weights: &[f32],
    bias: Option<&[f32]>,
    multiplier: usize,
) -> Vec<f32> {
    let repeated;
    let input = if multiplier == 1 {
        input
    } else {
        repeated = repeat_channels(input, multiplier);
        &repeated
    };
    let channels = slide.output[3];
    let mut result = vec![0.0; slide.output.iter().product()];
    slide.pixels(|index, pixel| {
        let sums = &mut result[index * channels..(index + 1) * channels];
        if let Some(bias) = bias {
            sums.copy_from_slice(bias);
        }
        slide.taps(pixel, |tap, source| {
            let weights = &weights[tap * channels..(tap + 1) * channels];
            let values = &input[source * channels..(source + 1) * channels];
            for ((sum, value), weight) in sums.iter_mut().zip(values).zip(weights) {
                *sum += value * weight;
            }
        });
    });
    result
}

pub(super) fn max_pool(slide: &Slide<'_>, input: &[f32]) -> Vec<f32> {
    let channels = slide.output[3];
    let mut result = vec![f32::NEG_INFINITY; slide.output.iter().product()];
    slide.pixels(|index, pixel| {
        let row = &mut result[index * channels..(index + 1) * channels];
        slide.taps(pixel, |_, source| {
            let values = &input[source * channels..(source + 1) * channels];
            for (largest, value) in row.iter_mut().zip(values) {
                if *value > *largest {
                    *largest = *value;
                }
            }
        });
    });
    result
}

pub(super) fn average_pool(slide: &Slide<'_>, input: &[f32], count_padding: bool) -> Vec<f32> {
    let channels = slide.output[3];
    let mut result = vec![0.0; slide.output.iter().product()];
    slide.pixels(|index, pixel| {
        let row = &mut result[index * channels..(index + 1) * channels];
        let mut count = 0;
        slide.taps(pixel, |_, source| {
            count += 1;
            let values = &input[source * channels..(source + 1) * channels];
            row.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        });
        if count_padding {
            count = slide.window.size[0] * slide.window.size[1];
        }
        let divisor = count.max(1) as f32;
        row.iter_mut().for_each(|sum| *sum /= divisor);
    });
    result
}

/// Operands x, scale, offset, mean, variance.
pub(super) fn batch_norm(operands: &[&[f32]], epsilon: f32) -> Vec<f32> {
    let [input, scale, offset, mean, variance] = operands else { return Vec::new() };
    let mut result = input.to_vec();
    for row in result.chunks_exact_mut(scale.len().max(1)) {
        for (channel, value) in row.iter_mut().enumerate() {
            let deviation = libm::sqrtf(variance[channel] + epsilon);
            *value = (*value - mean[channel]) / deviation * scale[channel] + offset[channel];
        }
    }
    result
}

pub(super) fn softmax(input: &[f32], row: usize) -> Vec<f32> {
    let mut result = input.to_vec();
    for row in result.chunks_exact_mut(row.max(1)) {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for value in row.iter_mut() {
            *value = libm::expf(*value - largest);
            sum += *value;
        }
        row.iter_mut().for_each(|value| *value /= sum);
    }
    result
}

/// Comparisons instead of `max`, whose sign of zero differs between machines.
pub(super) fn activate(values: &mut [f32], activation: Activation) {
    let limit = match activation {
        Activation::None => return,
        Activation::Relu => f32::INFINITY,
        Activation::Relu6 => 6.0,
    };
    for value in values {
        *value = if *value > limit {
            limit
        } else if *value > 0.0 {
            *value
        } else {
            0.0
        };
    }
}
