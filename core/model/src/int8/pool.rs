//! Pools and means in int8.

use super::clamp;
use crate::integer::Multiplier;
use crate::interpret::broadcast;
use crate::interpret::slide::Slide;

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

/// Mean of each window, halves rounded up or away from zero. `padding` is the value of padded pixels if
/// they count, with the rows and columns at its end that never do.
pub(super) fn average_pool(
    slide: &Slide<'_>,
    input: &[i8],
    padding: Option<(i32, [usize; 2])>,
    halves_up: bool,
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
            let mean = match *sum {
                sum if halves_up => (sum + count / 2).div_euclid(count),
                sum if sum > 0 => (sum + count / 2) / count,
                sum => (sum - count / 2) / count,
            };
            *result = clamp(mean as i32, limits);
        }
    });
    result
}

/// Sum of differences from the input's zero point over `axes`, times `scale`.
pub(super) fn mean(
    input: &[i8],
    dims: &[usize],
    axes: &[usize],
    scale: Multiplier,
    [input_zero, output_zero]: [i32; 2],
) -> Vec<i8> {
    let reduced = broadcast::reduced(dims, axes);
    let mut sums = vec![0i32; reduced.iter().product()];
    broadcast::together(dims, [dims, &reduced], |from, to| {
        sums[to] = sums[to].wrapping_add(i32::from(input[from]) - input_zero);
    });
    let result = |sum: &i32| scale.apply(*sum).wrapping_add(output_zero);
    sums.iter().map(|sum| clamp(result(sum), (i8::MIN, i8::MAX))).collect()
}
