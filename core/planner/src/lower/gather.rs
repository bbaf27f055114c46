//! Operators that only move elements, as strided copies.

use super::unsupported;
use crate::PlanError;
use tilewright_model::{Model, Node, Op};
use tilewright_plan::Gather;

/// Rows or columns of the largest box.
const LARGEST_SIDE: u64 = super::LARGEST_SIDE as u64;

/// A dimension of a copy: elements, and bytes from one to the next in the input.
type Dimension = (usize, isize);

/// The parameters of a copy, and the box into which it writes a whole contiguous tensor.
pub struct Copy {
    /// Where the elements lie.
    pub gather: Gather,
    /// Rows, columns and channels of the output.
    pub output: [u32; 3],
}

impl Copy {
    /// Bytes that follow each other in input and output.
    pub fn run(&self) -> i32 {
        match (self.gather.sizes.last(), self.gather.steps.last()) {
            (Some(size), Some(1)) => i32::try_from(*size).unwrap_or(i32::MAX),
            _ => 1,
        }
    }
}

/// The copy that a slice, transpose, space to depth or depth to space is, for whole contiguous
/// tensors.
///
/// # Errors
/// If it takes more than six dimensions.
pub fn copy(model: &Model, node: &Node) -> Result<Copy, PlanError> {
    let input = node.inputs.first().map(|id| model.tensor(*id).shape.dims());
    let input = input.ok_or_else(|| unsupported(node, "no operand"))?;
    let (start, dimensions) =
        strided(&node.op, input).ok_or_else(|| unsupported(node, "no strided copy"))?;
    let dimensions = merged(&dimensions);
    let mut gather = Gather { sizes: [1; 6], ..Gather::default() };
    if dimensions.len() > gather.sizes.len() {
        return Err(unsupported(node, "its elements are moved along more than six dimensions"));
    }
    let too_large = |_| unsupported(node, "larger than 2 GiB");
    gather.start = u32::try_from(start).map_err(too_large)?;
    // The used dimensions come last: those of channels, and of columns before them.
    let unused = gather.sizes.len() - dimensions.len();
    for (index, (size, step)) in dimensions.iter().enumerate() {
        gather.sizes[unused + index] = u32::try_from(*size).map_err(too_large)?;
        gather.steps[unused + index] = i32::try_from(*step).map_err(too_large)?;
    }
    // The last dimension is the channels, the one before the columns, the others the rows; or all
    // are channels where a side would be too long.
    gather.split = [4, 1];
    let sides = gather
        .box_size()
        .filter(|[rows, columns, _]| *rows <= LARGEST_SIDE && *columns <= LARGEST_SIDE);
    if sides.is_none() {
        gather.split = [0, 0];
    }
    let size = gather.box_size().ok_or_else(|| unsupported(node, "larger than 4 GiB"))?;
    let mut output = [0; 3];
    for (output, size) in output.iter_mut().zip(size) {
        *output = u32::try_from(size).map_err(too_large)?;
    }
    Ok(Copy { gather, output })
}

/// Place of the first element and the dimensions of the output, in terms of the flat input.
fn strided(op: &Op, input: &[usize]) -> Option<(usize, Vec<Dimension>)> {
    let mut pitches = vec![1isize; input.len()];
    for axis in (1..input.len()).rev() {
        pitches[axis - 1] = pitches[axis].checked_mul(isize::try_from(input[axis]).ok()?)?;
    }
    Some(match op {
        Op::Slice { begin, size, stride } => {
            let start =
                begin.iter().zip(&pitches).map(|(begin, pitch)| begin * pitch.unsigned_abs());
            let steps = stride.iter().zip(&pitches).map(|(stride, pitch)| stride * pitch);
            (start.sum(), size.iter().copied().zip(steps).collect())
        }
        Op::Transpose { permutation } => {
            let dimensions = permutation
                .iter()
                .map(|axis| Some((*input.get(*axis)?, *pitches.get(*axis)?)))
                .collect::<Option<_>>()?;
            (0, dimensions)
        }
        Op::SpaceToDepth { block } => {
            let ([n, h, w, c], [batch, row, pixel, _]) = (input, pitches.as_slice()) else {
                return None;
            };
            let side = block.cast_signed();
            let blocks = [(h / block, row * side), (w / block, pixel * side)];
            let inside = [(*block, *row), (*block, *pixel), (*c, 1)];
            (0, [&[(*n, *batch)][..], &blocks, &inside].concat())
        }
        Op::DepthToSpace { block } => {
            let ([n, h, w, c], [batch, row, pixel, _]) = (input, pitches.as_slice()) else {
                return None;
            };
            let channels = c / (block * block);
            let column = channels.cast_signed();
            let rows = [(*h, *row), (*block, column * block.cast_signed())];
            let columns = [(*w, *pixel), (*block, column), (channels, 1)];
            (0, [&[(*n, *batch)][..], &rows, &columns].concat())
        }
        _ => return None,
    })
}

/// The same places with fewer dimensions: none of one element, and none that goes on where the one
/// inside it ends.
fn merged(dimensions: &[Dimension]) -> Vec<Dimension> {
    let mut merged: Vec<Dimension> = Vec::new();
    for (size, step) in dimensions.iter().copied().filter(|(size, _)| *size != 1) {
        match merged.last_mut() {
            Some((outer, outer_step)) if *outer_step == step * size.cast_signed() => {
                *outer *= size;
                *outer_step = step;
            }
            _ => merged.push((size, step)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_of_whole_rows_is_one_run() {
        let op = Op::Slice { begin: vec![0, 2, 0, 0], size: vec![1, 3, 5, 7], stride: vec![1; 4] };
        let (start, dimensions) = strided(&op, &[1, 9, 5, 7]).unwrap();
        assert_eq!((start, merged(&dimensions)), (70, vec![(105, 1)]));
    }

    #[test]
    fn a_shuffle_has_three_dimensions() {
        let op = Op::Transpose { permutation: vec![0, 1, 2, 4, 3] };
        let (start, dimensions) = strided(&op, &[1, 4, 4, 3, 8]).unwrap();
        assert_eq!((start, merged(&dimensions)), (0, vec![(16, 24), (8, 1), (3, 8)]));
    }

    #[test]
    fn a_reversed_dimension_is_not_merged() {
        let op = Op::Slice { begin: vec![0, 4], size: vec![3, 5], stride: vec![1, -1] };
        let (start, dimensions) = strided(&op, &[3, 5]).unwrap();
        assert_eq!((start, merged(&dimensions)), (4, vec![(3, 5), (5, -1)]));
    }
}
