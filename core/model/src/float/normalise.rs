//! Operators that relate the values of a row to each other, in float.

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

/// Logarithm of the softmax of each row.
pub(super) fn log_softmax(input: &[f32], row: usize) -> Vec<f32> {
    let mut result = input.to_vec();
    for row in result.chunks_exact_mut(row.max(1)) {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = row.iter().map(|value| libm::expf(*value - largest)).sum();
        let logarithm = libm::logf(sum);
        row.iter_mut().for_each(|value| *value = *value - largest - logarithm);
    }
    result
}

/// Parameters of a local response normalisation, as in [`crate::Op::LocalResponseNorm`].
#[derive(Clone, Copy)]
pub(super) struct Response {
    pub(super) size: usize,
    pub(super) alpha: f32,
    pub(super) beta: f32,
    pub(super) bias: f32,
}

/// Local response normalisation of rows of `channels` values.
pub(super) fn local_response(input: &[f32], channels: usize, norm: Response) -> Vec<f32> {
    let before = (norm.size - 1) / 2;
    let behind = norm.size - 1 - before;
    let mut result = Vec::with_capacity(input.len());
    for row in input.chunks_exact(channels.max(1)) {
        for (channel, value) in row.iter().enumerate() {
            let end = channel.saturating_add(behind).saturating_add(1).min(channels);
            let near = &row[channel.saturating_sub(before)..end];
            let squares: f32 = near.iter().map(|value| value * value).sum();
            let base = norm.bias + norm.alpha / norm.size as f32 * squares;
            result.push(value / libm::powf(base, norm.beta));
        }
    }
    result
}
