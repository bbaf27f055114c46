//! Places between pixels.

use super::{IntegerError, bad, operand, result};
use crate::graph::{Model, Node};
use crate::interpret::resize;
use crate::op::{Op, ResizeMode};

/// Fractional bits of a place between pixels.
pub const BILINEAR_BITS: u32 = 10;

/// Places in the input, in steps of 2^−10 pixels, from which a bilinear resize takes its values;
/// vertical and horizontal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BilinearParams {
    /// From one output pixel to the next.
    pub step: [i32; 2],
    /// Of the first output pixel; may be negative.
    pub first: [i32; 2],
}

/// Parameters of a bilinear resize.
///
/// # Errors
/// If the node is another operator, or steps rounded up lead behind the input, where TensorFlow
/// Lite reads outside of it: results wider or higher than some 2,000 pixels.
pub fn bilinear(model: &Model, node: &Node) -> Result<BilinearParams, IntegerError> {
    let Op::Resize { mode: ResizeMode::Bilinear, align_corners, half_pixel_centers } = node.op
    else {
        return Err(bad(node, "is no bilinear resize"));
    };
    let sizes = sizes(model, node)?;
    let step = sizes.map(|[input, output]| {
        let (from, to) = match align_corners && output > 1 {
            true => (input - 1, output - 1),
            false => (input, output),
        };
        // Both are below 2^17, so that this fits.
        (((from << BILINEAR_BITS) + to / 2) / to) as i32
    });
    let half = 1 << (BILINEAR_BITS - 1);
    let first = step.map(|step| if half_pixel_centers { step / 2 - half } else { 0 });
    for (axis, [input, output]) in sizes.into_iter().enumerate() {
        let last = (output as i64 - 1) * i64::from(step[axis]) + i64::from(first[axis]);
        if last >> BILINEAR_BITS >= input as i64 {
            return Err(bad(node, "its steps of 1/1024 pixel add up to more than the input has"));
        }
    }
    Ok(BilinearParams { step, first })
}

/// For each output row the input row that a nearest-neighbour resize takes, and for each column
/// the column.
///
/// # Errors
/// If the node is another operator.
pub fn nearest(model: &Model, node: &Node) -> Result<[Vec<usize>; 2], IntegerError> {
    let Op::Resize { mode: ResizeMode::Nearest, align_corners, half_pixel_centers } = node.op
    else {
        return Err(bad(node, "is no nearest-neighbour resize"));
    };
    Ok(sizes(model, node)?.map(|[input, output]| {
        (0..output)
            .map(|at| resize::nearest_index(at, input, output, align_corners, half_pixel_centers))
            .collect()
    }))
}

/// Input and output height, input and output width.
fn sizes(model: &Model, node: &Node) -> Result<[[usize; 2]; 2], IntegerError> {
    let input = operand(model, node, 0)?.shape.dims();
    let output = result(model, node)?.shape.dims();
    match (input, output) {
        ([_, h, w, _], [_, oh, ow, _]) if [h, w, oh, ow].iter().all(|size| **size > 0) => {
            Ok([[*h, *oh], [*w, *ow]])
        }
        _ => Err(bad(node, "has no height and width")),
    }
}
