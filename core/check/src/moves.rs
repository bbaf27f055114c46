//! Whether a gather takes each element from where its operator says.

use crate::shapes;
use tilewright_model::{Model, Node, Op as ModelOp};
use tilewright_plan::{Gather, View};

/// Follows a gather element by element: the element of the output must come from the byte of the
/// input view that holds the operand's element that the operator names.
///
/// Input and output are whole tensors whose bytes follow each other.
///
/// # Errors
/// Names the first element that is taken from elsewhere.
pub fn check(model: &Model, node: &Node, gather: &Gather, input: &View) -> Result<(), String> {
    let (Some(from), Some(to)) = (node.inputs.first(), node.outputs.first()) else {
        return Err("the node lacks an operand".to_owned());
    };
    let whole = input.is_contiguous() && input.elements() == shapes::bytes(model, *from);
    if !whole {
        return Err("a gather reads a part of its input".to_owned());
    }
    let from = model.tensor(*from).shape.dims();
    let to = model.tensor(*to).shape.dims();
    let elements: usize = to.iter().product();
    let made: u64 = gather.sizes.iter().map(|size| u64::from(*size)).product();
    if made != elements as u64 {
        return Err("a gather makes a part of its output".to_owned());
    }
    let mut at = vec![0usize; to.len()];
    let mut source = vec![0usize; from.len()];
    for element in 0..elements {
        unravel(element, to, &mut at);
        origin(&node.op, from, &at, &mut source).ok_or("the node has no origin of elements")?;
        let expected = source.iter().zip(from).fold(0, |index, (at, dim)| index * dim + at);
        if place(gather, element as u64) != expected as i64 {
            return Err(format!("element {element} is taken from another place than its own"));
        }
    }
    Ok(())
}

/// The place that a gather gives the element with this number.
fn place(gather: &Gather, mut element: u64) -> i64 {
    let mut place = i64::from(gather.start);
    for (size, step) in gather.sizes.iter().zip(gather.steps).rev() {
        let size = u64::from((*size).max(1));
        place += (element % size) as i64 * i64::from(step);
        element /= size;
    }
    place
}

/// The coordinates of the element with a number.
fn unravel(mut element: usize, dims: &[usize], at: &mut [usize]) {
    for (at, dim) in at.iter_mut().zip(dims).rev() {
        *at = element % dim;
        element /= dim;
    }
}

/// The coordinates in the operand of the element at `at` in the result.
fn origin(op: &ModelOp, from: &[usize], at: &[usize], source: &mut [usize]) -> Option<()> {
    match op {
        ModelOp::Slice { begin, stride, .. } => {
            for (axis, source) in source.iter_mut().enumerate() {
                let steps = isize::try_from(*at.get(axis)?).ok()? * stride.get(axis)?;
                *source = begin.get(axis)?.checked_add_signed(steps)?;
            }
        }
        ModelOp::Transpose { permutation } => {
            for (at, axis) in at.iter().zip(permutation) {
                *source.get_mut(*axis)? = *at;
            }
        }
        ModelOp::SpaceToDepth { block } => {
            let ([_, _, _, channels], [n, y, x, c]) = (from, at) else { return None };
            let (pixel, channel) = (c / channels, c % channels);
            let place = [*n, y * block + pixel / block, x * block + pixel % block, channel];
            source.copy_from_slice(&place);
        }
        ModelOp::DepthToSpace { block } => {
            let ([_, _, _, channels], [n, y, x, c]) = (from, at) else { return None };
            let pixel = y % block * block + x % block;
            let channel = pixel * (channels / (block * block)) + c;
            source.copy_from_slice(&[*n, y / block, x / block, channel]);
        }
        _ => return None,
    }
    Some(())
}
