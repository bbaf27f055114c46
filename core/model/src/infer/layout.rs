//! Shapes of operators that move, combine or reduce values.

use super::mismatch;
use crate::op::Places;
use crate::tensor::Tensor;

pub(super) fn padded(input: &[usize], amounts: &[(usize, usize)]) -> Result<Vec<usize>, String> {
    if input.len() != amounts.len() {
        return Err(format!("{} pairs for {} dimensions", amounts.len(), input.len()));
    }
    input
        .iter()
        .zip(amounts)
        .map(|(dim, (before, after))| dim.checked_add(*before)?.checked_add(*after))
        .collect::<Option<_>>()
        .ok_or_else(|| "the result's size overflows".to_owned())
}

pub(super) fn concatenated(operands: &[&Tensor], axis: usize) -> Result<Vec<usize>, String> {
    let mut dims = operands[0].shape.dims().to_vec();
    if axis >= dims.len() {
        return Err(format!("no dimension {axis}"));
    }
    for operand in &operands[1..] {
        let other = operand.shape.dims();
        let agree = other.len() == dims.len()
            && (0..dims.len()).all(|index| index == axis || dims[index] == other[index]);
        if !agree {
            return Err(mismatch(operands));
        }
        dims[axis] = dims[axis].checked_add(other[axis]).ok_or("the result's size overflows")?;
    }
    Ok(dims)
}

pub(super) fn transposed(input: &[usize], permutation: &[usize]) -> Result<Vec<usize>, String> {
    let mut sorted = permutation.to_vec();
    sorted.sort_unstable();
    if sorted.len() != input.len() || sorted.iter().enumerate().any(|(i, p)| i != *p) {
        return Err(format!("{permutation:?} is no permutation of {} dimensions", input.len()));
    }
    Ok(permutation.iter().map(|axis| input[*axis]).collect())
}

/// The shape to which two shapes broadcast: aligned at the last dimension, 1 stands for any.
pub(super) fn broadcast(first: &[usize], second: &[usize]) -> Option<Vec<usize>> {
    let rank = first.len().max(second.len());
    let dim = |dims: &[usize], axis: usize| {
        (axis + dims.len()).checked_sub(rank).map_or(1, |index| dims[index])
    };
    (0..rank)
        .map(|axis| match (dim(first, axis), dim(second, axis)) {
            (1, other) | (other, 1) => Some(other),
            (a, b) => (a == b).then_some(a),
        })
        .collect()
}

pub(super) fn reduced(
    input: &[usize],
    axes: &[usize],
    keep_dims: bool,
) -> Result<Vec<usize>, String> {
    let ascending = axes.windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending || axes.iter().any(|axis| *axis >= input.len()) {
        return Err(format!("{axes:?} are no ascending dimensions of {}", input.len()));
    }
    if axes.iter().any(|axis| input[*axis] == 0) {
        return Err("a dimension without elements cannot be reduced".to_owned());
    }
    let kept = |(axis, dim): (usize, &usize)| match axes.contains(&axis) {
        true => keep_dims.then_some(1),
        false => Some(*dim),
    };
    Ok(input.iter().enumerate().filter_map(kept).collect())
}

pub(super) fn sliced(
    input: &[usize],
    begin: &[usize],
    size: &[usize],
    stride: &[isize],
) -> Result<Vec<usize>, String> {
    if [begin.len(), size.len(), stride.len()] != [input.len(); 3] {
        return Err(format!("it slices another number of dimensions than {}", input.len()));
    }
    for (axis, dim) in input.iter().enumerate() {
        let last = size[axis].checked_sub(1).map(|steps| {
            let steps = isize::try_from(steps).ok()?.checked_mul(stride[axis])?;
            begin[axis].checked_add_signed(steps)
        });
        let inside = match last {
            None => true,
            Some(last) => begin[axis] < *dim && last.is_some_and(|last| last < *dim),
        };
        if !inside || stride[axis] == 0 {
            return Err(format!(
                "{} elements from {} by steps of {} leave dimension {axis} of {dim}",
                size[axis], begin[axis], stride[axis]
            ));
        }
    }
    Ok(size.to_vec())
}

pub(super) fn space_to_depth(input: &[usize], block: usize) -> Result<Vec<usize>, String> {
    let [n, h, w, c] = input else {
        return Err("its input must have four dimensions".to_owned());
    };
    if block == 0 || h % block != 0 || w % block != 0 {
        return Err(format!("{h}×{w} is not made of blocks of {block}×{block}"));
    }
    let channels = block.checked_mul(block).and_then(|area| area.checked_mul(*c));
    Ok(vec![*n, h / block, w / block, channels.ok_or("the result's size overflows")?])
}

pub(super) fn depth_to_space(input: &[usize], block: usize) -> Result<Vec<usize>, String> {
    let [n, h, w, c] = input else {
        return Err("its input must have four dimensions".to_owned());
    };
    let area = block.checked_mul(block).filter(|area| *area > 0 && c % area == 0);
    let area = area.ok_or_else(|| format!("{c} channels are no blocks of {block}×{block}"))?;
    let sides = [h.checked_mul(block), w.checked_mul(block)];
    let [Some(h), Some(w)] = sides else { return Err("the result's size overflows".to_owned()) };
    Ok(vec![*n, h, w, c / area])
}

pub(super) fn resized(
    input: &[usize],
    output: &[usize],
    places: Option<&[Places; 2]>,
) -> Result<Vec<usize>, String> {
    let ([n, h, w, c], [_, oh, ow, _]) = (input, output) else {
        return Err("input and result must have four dimensions".to_owned());
    };
    // Fixed-point coordinates of 10 fractional bits must fit 32 bits.
    if [*h, *w, *oh, *ow].iter().any(|length| *length == 0 || *length > 1 << 16) {
        return Err(format!("{h}×{w} pixels cannot become {oh}×{ow}"));
    }
    for (at, (before, after)) in places.iter().flat_map(|at| at.iter().zip([(h, oh), (w, ow)])) {
        // At most a pixel before the first, and less than one behind the last.
        let is_inside = at.first >= -1.0 && at.step >= 0.0 && at.at(*after - 1) < *before as f64;
        if !is_inside {
            return Err(format!("places {at:?} of {after} pixels lie outside of {before}"));
        }
    }
    Ok(vec![*n, *oh, *ow, *c])
}
