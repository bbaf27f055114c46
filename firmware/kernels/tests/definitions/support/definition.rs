//! Kernels from their definitions, in wide integers, one element at a time.

use super::Tensor;
use tilewright_kernels::{
    AveragePool, Channel, Conv, FullyConnected, Multiplier, Output, Pool, Requantise, Window,
};

/// Multiplies by a Q31 number and shifts, rounding twice.
pub fn scale(value: i32, factor: Multiplier) -> i32 {
    let left = factor.shift.max(0);
    let right = (-factor.shift).max(0);
    let value = i128::from(value.wrapping_mul(1i32.wrapping_shl(left as u32)));
    let product = value * i128::from(factor.multiplier);
    let nudge = if product >= 0 { 1i128 << 30 } else { 1 - (1i128 << 30) };
    let high = ((product + nudge) / (1i128 << 31)).min(i128::from(i32::MAX));
    // Halves away from zero.
    let unit = 1i128 << right;
    let magnitude = (2 * high.abs() + unit) / (2 * unit);
    (magnitude * high.signum()) as i32
}

pub fn finish(sum: i64, factor: Multiplier, output: &Output) -> i8 {
    let value = i64::from(scale(sum as i32, factor)) + i64::from(output.zero);
    value.clamp(i64::from(output.min), i64::from(output.max)) as i8
}

/// Output size of a window over an input with padding at both ends.
pub fn output_size(window: &Window, axis: usize, input: usize, end_padding: usize) -> usize {
    let reach = (window.size[axis] - 1) * window.dilation[axis] as usize + 1;
    let whole = input + window.padding[axis] as usize + end_padding;
    if whole < reach { 0 } else { (whole - reach) / window.stride[axis] as usize + 1 }
}

/// Input coordinates of each tap, whether inside or not.
fn taps(window: &Window, y: usize, x: usize) -> Vec<([usize; 2], [i64; 2])> {
    let mut taps = Vec::new();
    for ky in 0..window.size[0] {
        for kx in 0..window.size[1] {
            let at = |axis: usize, output: usize, tap: usize| {
                output as i64 * i64::from(window.stride[axis]) - i64::from(window.padding[axis])
                    + tap as i64 * i64::from(window.dilation[axis])
            };
            taps.push(([ky, kx], [at(0, y, ky), at(1, x, kx)]));
        }
    }
    taps
}

pub fn conv(
    op: &Conv,
    x: &Tensor,
    weights: &[i8],
    channels: &[Channel],
    size: [usize; 2],
) -> Tensor {
    let group_inputs = x.shape[2] / op.groups;
    let group_outputs = channels.len() / op.groups;
    let [kh, kw] = op.window.size;
    Tensor::from_fn([size[0], size[1], channels.len()], |oy, ox, oc| {
        let mut sum = i64::from(channels[oc].bias);
        for ([ky, kx], [iy, ix]) in taps(&op.window, oy, ox) {
            for ic in 0..group_inputs {
                let value = x.get(iy, ix, oc / group_outputs * group_inputs + ic);
                let value = value.map_or(0, |v| i64::from(v) - i64::from(op.input_zero));
                let weight = weights[((oc * kh + ky) * kw + kx) * group_inputs + ic];
                sum += value * (i64::from(weight) - i64::from(op.weight_zero));
            }
        }
        finish(sum, channels[oc].factor, &op.output)
    })
}

pub fn depthwise(
    op: &Conv,
    x: &Tensor,
    weights: &[i8],
    channels: &[Channel],
    size: [usize; 2],
) -> Tensor {
    Tensor::from_fn([size[0], size[1], channels.len()], |oy, ox, oc| {
        let mut sum = i64::from(channels[oc].bias);
        for ([ky, kx], [iy, ix]) in taps(&op.window, oy, ox) {
            if let Some(value) = x.get(iy, ix, oc / op.groups) {
                let weight = weights[(ky * op.window.size[1] + kx) * channels.len() + oc];
                let weight = i64::from(weight) - i64::from(op.weight_zero);
                sum += (i64::from(value) - i64::from(op.input_zero)) * weight;
            }
        }
        finish(sum, channels[oc].factor, &op.output)
    })
}

pub fn fully_connected(
    op: &FullyConnected,
    x: &Tensor,
    weights: &[i8],
    channels: &[Channel],
) -> Tensor {
    let inputs = x.data.len();
    Tensor::from_fn([1, 1, channels.len()], |_, _, oc| {
        let products = x.data.iter().zip(&weights[oc * inputs..][..inputs]);
        let [zero, weight_zero] = [op.input_zero, op.weight_zero].map(i64::from);
        let sum: i64 =
            products.map(|(x, w)| (i64::from(*x) - zero) * (i64::from(*w) - weight_zero)).sum();
        finish(sum + i64::from(channels[oc].bias), channels[oc].factor, &op.output)
    })
}

/// The values that a window sees.
fn window_values(op: &Pool, x: &Tensor, [oy, ox, c]: [usize; 3]) -> Vec<i64> {
    let taps = taps(&op.window, oy, ox);
    taps.into_iter().filter_map(|(_, [y, x_])| x.get(y, x_, c)).map(i64::from).collect()
}

fn clamp(value: i64, output: &Output) -> i8 {
    value.clamp(i64::from(output.min), i64::from(output.max)) as i8
}

pub fn max_pool(op: &Pool, x: &Tensor, size: [usize; 2]) -> Tensor {
    Tensor::from_fn([size[0], size[1], x.shape[2]], |oy, ox, c| {
        let largest = window_values(op, x, [oy, ox, c]).into_iter().max();
        clamp(largest.expect("each window sees input"), &op.output)
    })
}

pub fn average_pool(op: &AveragePool, x: &Tensor, size: [usize; 2]) -> Tensor {
    Tensor::from_fn([size[0], size[1], x.shape[2]], |oy, ox, c| {
        let mut values = window_values(&op.pool, x, [oy, ox, c]);
        if let Some(counted) = &op.counted {
            let inside = |[y, x_]: &[i64; 2]| {
                *y < i64::from(counted.end[0]) && *x_ < i64::from(counted.end[1])
            };
            let all = taps(&op.pool.window, oy, ox);
            let all = all.iter().filter(|(_, place)| inside(place)).count();
            values.resize(all, i64::from(counted.zero));
        }
        let (sum, count) = (values.iter().sum::<i64>(), values.len() as i64);
        let mean = match op.halves_up {
            // The largest number that is not above sum / count + 1/2.
            true => (2 * sum + count).div_euclid(2 * count),
            // For even counts this is (|sum| + count / 2) / count as well.
            false => (2 * sum.abs() + count) / (2 * count) * sum.signum(),
        };
        clamp(mean, &op.pool.output)
    })
}

pub fn requantise(op: &Requantise, x: &Tensor) -> Tensor {
    let value = |x: &i8| finish(i64::from(*x) - i64::from(op.input_zero), op.factor, &op.output);
    Tensor { shape: x.shape, data: x.data.iter().map(value).collect() }
}

pub fn pad(padding: [usize; 2], zero: i8, x: &Tensor, size: [usize; 2]) -> Tensor {
    Tensor::from_fn([size[0], size[1], x.shape[2]], |y, x_, c| {
        let at = (y as i64 - padding[0] as i64, x_ as i64 - padding[1] as i64);
        x.get(at.0, at.1, c).unwrap_or(zero)
    })
}
