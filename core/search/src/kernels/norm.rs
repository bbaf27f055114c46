//! Batch normalisation without scale and offset, as DARTS searches with it: its cells' operations are compared by
//! architecture weights, which a scale would undo.

/// Added to variances.
const EPSILON: f32 = 1e-5;

/// What the channels of some rows were before.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    pub mean: Vec<f32>,
    /// 1 / deviation.
    pub inverse: Vec<f32>,
}

impl Moments {
    /// Those of several batches as one.
    pub fn mean<'m>(all: impl Iterator<Item = &'m Self> + Clone) -> Self {
        let count = all.clone().count().max(1) as f32;
        let channels = all.clone().next().map_or(0, |moments| moments.mean.len());
        let (mut mean, mut variance) = (vec![0.0f32; channels], vec![0.0f32; channels]);
        for moments in all {
            mean.iter_mut().zip(&moments.mean).for_each(|(sum, mean)| *sum += mean / count);
            let inverse = variance.iter_mut().zip(&moments.inverse);
            inverse.for_each(|(sum, inverse)| *sum += 1.0 / (inverse * inverse) / count);
        }
        let inverse = variance.iter().map(|variance| 1.0 / variance.sqrt()).collect();
        Self { mean, inverse }
    }
}

/// Makes each channel of `rows` have mean 0 and variance 1.
pub(crate) fn normalise(rows: &mut [f32], channels: usize) -> Moments {
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
    Moments { mean, inverse }
}

/// Turns a gradient by normalised rows, `dy`, into one by the rows before.
pub(crate) fn denormalise(dy: &mut [f32], normalised: &[f32], moments: &Moments) {
    let inverse = &moments.inverse;
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
