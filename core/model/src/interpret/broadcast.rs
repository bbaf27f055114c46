//! Steps through two tensors at once: broadcasting and reduction.

use super::layout::strides;

/// Calls `visit` with the index in each of two tensors for every index of `dims`, in row-major
/// order. A tensor's shape is aligned at the last dimension; one element stands for as many as
/// `dims` has.
pub(crate) fn together(dims: &[usize], shapes: [&[usize]; 2], mut visit: impl FnMut(usize, usize)) {
    let steps = shapes.map(|shape| {
        let missing = dims.len() - shape.len();
        let own = strides(shape);
        let step = |axis: usize| match axis.checked_sub(missing) {
            Some(own_axis) if shape[own_axis] != 1 => own[own_axis],
            _ => 0,
        };
        (0..dims.len()).map(step).collect::<Vec<_>>()
    });
    let count: usize = dims.iter().product();
    let mut at = vec![0; dims.len()];
    let (mut first, mut second) = (0, 0);
    for _ in 0..count {
        visit(first, second);
        for axis in (0..dims.len()).rev() {
            at[axis] += 1;
            first += steps[0][axis];
            second += steps[1][axis];
            if at[axis] < dims[axis] {
                break;
            }
            first -= steps[0][axis] * dims[axis];
            second -= steps[1][axis] * dims[axis];
            at[axis] = 0;
        }
    }
}

/// `function` of the elements of two tensors that broadcast to `dims`.
pub(crate) fn combine<T: Copy>(
    dims: &[usize],
    shapes: [&[usize]; 2],
    values: [&[T]; 2],
    mut function: impl FnMut(T, T) -> T,
) -> Vec<T> {
    let [first, second] = values;
    if shapes[0] == shapes[1] {
        return first.iter().zip(second).map(|(a, b)| function(*a, *b)).collect();
    }
    let mut result = Vec::with_capacity(dims.iter().product());
    together(dims, shapes, |a, b| result.push(function(first[a], second[b])));
    result
}

/// The shape that reducing `axes` leaves, with those as dimensions of one element.
pub(crate) fn reduced(dims: &[usize], axes: &[usize]) -> Vec<usize> {
    let kept = |(axis, dim): (usize, &usize)| if axes.contains(&axis) { 1 } else { *dim };
    dims.iter().enumerate().map(kept).collect()
}

/// For each row of `axis` the index of the first largest value.
pub(crate) fn arg_max<T: Copy + PartialOrd>(values: &[T], dims: &[usize], axis: usize) -> Vec<i32> {
    let length = dims[axis];
    let inner: usize = dims[axis + 1..].iter().product();
    let outer: usize = dims[..axis].iter().product();
    let mut result = Vec::with_capacity(outer * inner);
    for (row, column) in (0..outer).flat_map(|row| (0..inner).map(move |column| (row, column))) {
        let at = |index: usize| values[(row * length + index) * inner + column];
        let largest =
            (1..length).fold(0, |best, index| if at(index) > at(best) { index } else { best });
        result.push(largest as i32);
    }
    result
}
