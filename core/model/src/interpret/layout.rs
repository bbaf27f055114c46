//! Operators that move values without computing.

use crate::shape::Shape;

fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis] * dims[axis];
    }
    strides
}

/// Dimension `i` of the result is dimension `permutation[i]` of `values`.
pub(crate) fn transpose<T: Copy>(values: &[T], shape: &Shape, permutation: &[usize]) -> Vec<T> {
    let from = strides(shape.dims());
    let dims: Vec<usize> = permutation.iter().map(|axis| shape.dims()[*axis]).collect();
    let steps: Vec<usize> = permutation.iter().map(|axis| from[*axis]).collect();
    let mut at = vec![0; dims.len()];
    let mut source = 0;
    let mut result = Vec::with_capacity(values.len());
    for _ in 0..values.len() {
        result.push(values[source]);
        for axis in (0..dims.len()).rev() {
            at[axis] += 1;
            source += steps[axis];
            if at[axis] < dims[axis] {
                break;
            }
            source -= steps[axis] * dims[axis];
            at[axis] = 0;
        }
    }
    result
}

/// `values` with `fill` around each dimension.
pub(crate) fn pad<T: Copy>(
    values: &[T],
    shape: &Shape,
    amounts: &[(usize, usize)],
    fill: T,
) -> Vec<T> {
    let input = shape.dims();
    let output: Vec<usize> =
        input.iter().zip(amounts).map(|(dim, (before, after))| dim + before + after).collect();
    let mut result = vec![fill; output.iter().product()];
    let row = input.last().copied().unwrap_or(1);
    if row == 0 {
        return result;
    }
    let steps = strides(&output);
    for (index, from) in values.chunks_exact(row).enumerate() {
        let mut rest = index;
        let mut start = amounts.last().map_or(0, |(before, _)| *before);
        for axis in (0..input.len().saturating_sub(1)).rev() {
            start += (rest % input[axis] + amounts[axis].0) * steps[axis];
            rest /= input[axis];
        }
        result[start..start + row].copy_from_slice(from);
    }
    result
}

/// The parts one behind the other along `axis`.
pub(crate) fn concat<T: Copy>(parts: &[(&[T], &Shape)], axis: usize) -> Vec<T> {
    let outer: usize = parts.first().map_or(0, |(_, shape)| shape.dims()[..axis].iter().product());
    let mut result = Vec::with_capacity(parts.iter().map(|(values, _)| values.len()).sum());
    for index in 0..outer {
        for (values, shape) in parts {
            let inner: usize = shape.dims()[axis..].iter().product();
            result.extend_from_slice(&values[index * inner..(index + 1) * inner]);
        }
    }
    result
}
