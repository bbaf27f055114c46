//! Pools and means in float.

use crate::interpret::broadcast;
use crate::interpret::slide::Slide;

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

/// Sum of each window over the number of its pixels, padding included if `padding` is given: the
/// rows and columns beyond it that do not count.
pub(super) fn average_pool(
    slide: &Slide<'_>,
    input: &[f32],
    padding: Option<[usize; 2]>,
) -> Vec<f32> {
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
        if let Some(uncounted) = padding {
            count = slide.counted(pixel, uncounted);
        }
        let divisor = count.max(1) as f32;
        row.iter_mut().for_each(|sum| *sum /= divisor);
    });
    result
}

/// Sums in row-major order, over the number of values.
pub(super) fn mean(input: &[f32], dims: &[usize], axes: &[usize]) -> Vec<f32> {
    let reduced = broadcast::reduced(dims, axes);
    let mut result = vec![0.0; reduced.iter().product()];
    broadcast::together(dims, [dims, &reduced], |from, to| result[to] += input[from]);
    let count = axes.iter().map(|axis| dims[*axis]).product::<usize>().max(1) as f32;
    result.iter_mut().for_each(|sum| *sum /= count);
    result
}
