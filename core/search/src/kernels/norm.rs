//! Batch normalisation without scale and offset, as DARTS searches with it: its cells' operations are compared by
//! architecture weights, which a scale would undo.

/// Added to variances.
const EPSILON: f32 = 1e-5;

/// Makes each channel of `rows` have mean 0 and variance 1; 1 / deviation of each channel.
pub(crate) fn normalise(rows: &mut [f32], channels: usize) -> Vec<f32> {
    let count = (rows.len() / channels) as f32;
    let mean = means(rows, channels);
    let mut inverse = vec![0.0f32; channels];
    for row in rows.chunks_exact_mut(channels) {
        for ((value, mean), sum) in row.iter_mut().zip(&mean).zip(&mut inverse) {
            *value -= mean;
            *sum += *value * *value;
        }
    }
    inverse.iter_mut().for_each(|sum| *sum = 1.0 / (*sum / count + EPSILON).sqrt());
    for row in rows.chunks_exact_mut(channels) {
        row.iter_mut().zip(&inverse).for_each(|(value, inverse)| *value *= inverse);
    }
    inverse
}

/// Turns a gradient by normalised rows, `dy`, into one by the rows before.
pub(crate) fn denormalise(dy: &mut [f32], normalised: &[f32], inverse: &[f32]) {
    let channels = inverse.len();
    let count = (dy.len() / channels) as f32;
    let mean = means(dy, channels);
    let mut along = vec![0.0f32; channels];
    for (dy, y) in dy.chunks_exact(channels).zip(normalised.chunks_exact(channels)) {
        for ((sum, dy), y) in along.iter_mut().zip(dy).zip(y) {
            *sum += dy * y;
        }
    }
    along.iter_mut().for_each(|sum| *sum /= count);
    for (dy, y) in dy.chunks_exact_mut(channels).zip(normalised.chunks_exact(channels)) {
        let of_channel = mean.iter().zip(&along).zip(inverse);
        for ((dy, y), ((mean, along), inverse)) in dy.iter_mut().zip(y).zip(of_channel) {
            *dy = (*dy - mean - y * along) * inverse;
        }
    }
}

fn means(rows: &[f32], channels: usize) -> Vec<f32> {
    let mut sums = vec![0.0f32; channels];
    for row in rows.chunks_exact(channels) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    let count = (rows.len() / channels) as f32;
    sums.iter_mut().for_each(|sum| *sum /= count);
    sums
}
