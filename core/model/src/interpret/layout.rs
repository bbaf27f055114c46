//! Operators that move values without computing, for every element type.

use super::resize;
use crate::data::Data;
use crate::op::{Op, ResizeMode};
use crate::shape::Shape;

/// The result of an operator that only moves values ([`Op::only_moves`]); `filler` is the int8 value
/// of what a pad fills with. Nothing for other operators, or if the operands' types differ.
pub(crate) fn moved(
    op: &Op,
    operands: &[&Data],
    shapes: &[&Shape],
    output: &Shape,
    filler: i8,
) -> Option<Data> {
    let real = if let Op::Pad { filler, .. } = op { *filler } else { 0.0 };
    Some(match operands.first()? {
        Data::F32(_) => Data::F32(apply(op, &all(operands, Data::as_f32)?, shapes, output, real)?),
        Data::I8(_) => Data::I8(apply(op, &all(operands, Data::as_i8)?, shapes, output, filler)?),
        Data::I32(_) => {
            Data::I32(apply(op, &all(operands, Data::as_i32)?, shapes, output, real as i32)?)
        }
    })
}

fn all<'d, T>(operands: &[&'d Data], get: fn(&Data) -> Option<&[T]>) -> Option<Vec<&'d [T]>> {
    operands.iter().map(|data| get(data)).collect()
}

fn apply<T: Copy>(
    op: &Op,
    operands: &[&[T]],
    shapes: &[&Shape],
    output: &Shape,
    filler: T,
) -> Option<Vec<T>> {
    let (values, shape) = (*operands.first()?, *shapes.first()?);
    Some(match op {
        Op::Reshape => values.to_vec(),
        Op::Transpose { permutation } => transpose(values, shape, permutation),
        Op::Pad { amounts, .. } => pad(values, shape, amounts, filler),
        Op::Concat { axis } => {
            let parts: Vec<_> = operands.iter().copied().zip(shapes.iter().copied()).collect();
            concat(&parts, *axis)
        }
        Op::Slice { begin, size, stride } => slice(values, shape, begin, size, stride),
        Op::SpaceToDepth { block } => {
            let [n, h, w, c] = *shape.dims() else { return None };
            let blocks = Shape::new([n, h / block, *block, w / block, *block, c]);
            transpose(values, &blocks, &[0, 1, 3, 2, 4, 5])
        }
        Op::DepthToSpace { block } => {
            let [n, h, w, _] = *shape.dims() else { return None };
            let blocks = Shape::new([n, h, w, *block, *block, *output.dims().last()?]);
            transpose(values, &blocks, &[0, 1, 3, 2, 4, 5])
        }
        Op::Resize { mode: ResizeMode::Nearest, .. } => {
            resize::nearest(values, shape, output, &resize::Grid::of(op))?
        }
        _ => return None,
    })
}

/// Elements between neighbours along each dimension of a row-major tensor.
pub(crate) fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(dims[axis]);
    }
    strides
}

/// A tensor of `dims` whose element at an index is that of `values` at `start` plus the index times
/// `steps`.
fn strided<T: Copy>(values: &[T], start: usize, dims: &[usize], steps: &[isize]) -> Vec<T> {
    let count = dims.iter().product();
    let (Some((row, outer)), Some(step)) = (dims.split_last(), steps.last()) else {
        return vec![values[start]];
    };
    let mut at = vec![0; outer.len()];
    let mut source = start;
    let mut result = Vec::with_capacity(count);
    while result.len() < count {
        result.extend((0..*row as isize).map(|i| values[source.wrapping_add_signed(i * step)]));
        for axis in (0..outer.len()).rev() {
            at[axis] += 1;
            source = source.wrapping_add_signed(steps[axis]);
            if at[axis] < dims[axis] {
                break;
            }
            source = source.wrapping_add_signed(-(steps[axis] * dims[axis] as isize));
            at[axis] = 0;
        }
    }
    result
}

/// Dimension `i` of the result is dimension `permutation[i]` of `values`.
pub(crate) fn transpose<T: Copy>(values: &[T], shape: &Shape, permutation: &[usize]) -> Vec<T> {
    let from = strides(shape.dims());
    let dims: Vec<usize> = permutation.iter().map(|axis| shape.dims()[*axis]).collect();
    let steps: Vec<isize> = permutation.iter().map(|axis| from[*axis] as isize).collect();
    strided(values, 0, &dims, &steps)
}

fn slice<T: Copy>(
    values: &[T],
    shape: &Shape,
    begin: &[usize],
    size: &[usize],
    stride: &[isize],
) -> Vec<T> {
    let from = strides(shape.dims());
    let start = begin.iter().zip(&from).map(|(begin, step)| begin * step).sum();
    let steps: Vec<isize> =
        stride.iter().zip(&from).map(|(stride, step)| stride * *step as isize).collect();
    strided(values, start, size, &steps)
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
