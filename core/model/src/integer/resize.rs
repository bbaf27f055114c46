//! Places between pixels.

use super::{IntegerError, bad, operand, result};
use crate::graph::{Model, Node};
use crate::interpret::resize::Grid;
use crate::op::{Op, ResizeMode};

/// Fractional bits of a place between pixels.
pub const BILINEAR_BITS: u32 = 10;
const UNIT: i32 = 1 << BILINEAR_BITS;

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
    let Op::Resize { mode: ResizeMode::Bilinear, align_corners, half_pixel_centers, places } =
        node.op
    else {
        return Err(bad(node, "is no bilinear resize"));
    };
    let sizes = sizes(model, node)?;
    let own = places.map(|places| {
        // Below 2^16 pixels, so that this fits.
        let fixed = |place: f32| libm::round(f64::from(place) * f64::from(UNIT)) as i32;
        BilinearParams {
            step: places.map(|at| fixed(at.step)),
            first: places.map(|at| fixed(at.first)),
        }
    });
    let params = own.unwrap_or_else(|| of_flags(sizes, align_corners, half_pixel_centers));
    for (axis, [input, output]) in sizes.into_iter().enumerate() {
        let (step, first) = (params.step[axis], params.first[axis]);
        let last = (output as i64 - 1) * i64::from(step) + i64::from(first);
        if last >> BILINEAR_BITS >= input as i64 {
            return Err(bad(node, "its steps of 1/1024 pixel add up to more than the input has"));
        }
    }
    Ok(params)
}

/// Those of the grids that TensorFlow Lite knows.
fn of_flags(
    sizes: [[usize; 2]; 2],
    align_corners: bool,
    half_pixel_centers: bool,
) -> BilinearParams {
    let step = sizes.map(|[input, output]| {
        let (from, to) = match align_corners && output > 1 {
            true => (input - 1, output - 1),
            false => (input, output),
        };
        // Both are below 2^17, so that this fits.
        (((from << BILINEAR_BITS) + to / 2) / to) as i32
    });
    let first = step.map(|step| if half_pixel_centers { step / 2 - UNIT / 2 } else { 0 });
    BilinearParams { step, first }
}

/// For each output row the input row that a nearest-neighbour resize takes, and for each column
/// the column.
///
/// # Errors
/// If the node is another operator.
pub fn nearest(model: &Model, node: &Node) -> Result<[Vec<usize>; 2], IntegerError> {
    if !matches!(node.op, Op::Resize { mode: ResizeMode::Nearest, .. }) {
        return Err(bad(node, "is no nearest-neighbour resize"));
    }
    let (sizes, grid) = (sizes(model, node)?, Grid::of(&node.op));
    let along = |axis: usize| {
        let [input, output] = sizes[axis];
        (0..output).map(|at| grid.nearest(axis, at, input, output)).collect()
    };
    Ok([along(0), along(1)])
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
