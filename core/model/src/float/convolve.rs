//! Convolutions and fully connected layers in float.

use crate::interpret::slide::{Slide, repeat_channels};

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

/// Bias first, then products in the order of the taps and, within each, the input channels.
pub(super) fn transposed(
    slide: &Slide<'_>,
    input: &[f32],
    weights: &[f32],
    bias: Option<&[f32]>,
) -> Vec<f32> {
    let [channels, outputs] = [slide.input[3], slide.output[3]];
    let taps = slide.window.size[0] * slide.window.size[1];
    let mut result = vec![0.0; slide.output.iter().product()];
    slide.pixels(|index, pixel| {
        let sums = &mut result[index * outputs..(index + 1) * outputs];
        if let Some(bias) = bias {
            sums.copy_from_slice(bias);
        }
        slide.transposed_taps(pixel, |tap, source| {
            let values = &input[source * channels..(source + 1) * channels];
            for (output, sum) in sums.iter_mut().enumerate() {
                let row = &weights[(output * taps + tap) * channels..][..channels];
                for (value, weight) in values.iter().zip(row) {
                    *sum += value * weight;
                }
            }
        });
    });
    result
}
