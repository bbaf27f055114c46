//! Functions of single values in float.

use crate::op::Activation;

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

/// x where positive, else x times its slope.
pub(super) fn prelu(x: f32, slope: f32) -> f32 {
    if x > 0.0 { x } else { x * slope }
}

/// Comparisons instead of `max`, whose sign of zero differs between machines.
pub(super) fn activate(values: &mut [f32], activation: Activation) {
    let (low, high) = activation.range();
    if activation == Activation::None {
        return;
    }
    for value in values {
        *value = if *value > high {
            high
        } else if *value > low {
            *value
        } else {
            low
        };
    }
}
