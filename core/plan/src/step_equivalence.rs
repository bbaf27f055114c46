//! Which compute steps run alike, so that one of them tells what the others cost.
//!
//! Two steps are alike if their ops differ in zero points and clamps alone, their operands have the
//! same shape, pitches and place in a cache line, and their tiles see the border of the layer alike.
//! Control flow of most kernels follows from that alone, so that alike steps execute the same
//! instructions; kernels whose way depends on values (average pool, softmax) need not, and steps with sparse weights
//! do only with the same ones.

use crate::kernel::{Kernel, Role};
use crate::op::Op;
use crate::rows::MOST_OPERANDS;
use crate::step::RowOrder;
use crate::view::{Tile, View};

/// Bytes of a cache line, which is the widest burst as well.
const LINE: u32 = 32;

/// What decides how a compute step runs, but for the values that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepEquivalence {
    op: [u8; size_of::<Op>()],
    order: u32,
    /// Rows and columns of the output, rows and columns of the input that exists, channels.
    size: [u32; 5],
    /// By how much the input that exists begins behind what the tile's first window sees.
    border: [i64; 2],
    operands: [Placement; MOST_OPERANDS],
}

/// How an operand lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Placement {
    space: u8,
    in_line: u32,
    /// Whether it lies at the output's offset: the search for what is done in place looks further.
    at_output: bool,
    pitches: [u32; 2],
    size: [u32; 3],
    ring: [u16; 2],
    /// Its first row and column, from those of the tile or of the input that exists.
    first: [i64; 2],
}

impl StepEquivalence {
    /// Of a step; nothing if it has too many operands or no kernel.
    #[must_use]
    pub fn of(op: &Op, tile: &Tile, operands: &[View], order: RowOrder) -> Option<Self> {
        let kernel = op.kernel()?;
        let moves = moves(kernel, op);
        let border = |axis: usize| {
            let output = i64::from(tile.output_start[axis]);
            let input = i64::from(tile.valid_start[axis]);
            let seen = output * i64::from(op.stride[axis].max(1)) - i64::from(op.padding[axis]);
            if moves { input - seen } else { output << 32 | input }
        };
        let [rows, columns] = tile.output_size.map(u32::from);
        let [valid_rows, valid_columns] = tile.valid_size.map(u32::from);
        let mut this = Self {
            op: way(kernel, op),
            order: order as u32,
            size: [rows, columns, valid_rows, valid_columns, tile.channels],
            border: [border(0), border(1)],
            operands: [Placement::default(); MOST_OPERANDS],
        };
        if operands.len() > MOST_OPERANDS {
            return None;
        }
        let output = operands.get(kernel.operand(Role::Output)?)?.offset;
        for ((placement, view), role) in this.operands.iter_mut().zip(operands).zip(kernel.roles())
        {
            let from = match role {
                Role::Output if moves => tile.output_start,
                Role::Input if moves => tile.valid_start,
                _ => [0; 2],
            };
            *placement = Placement::of(view, from, output);
        }
        Some(this)
    }
}

impl Placement {
    fn of(view: &View, from: [u16; 2], output: u32) -> Self {
        Self {
            space: view.space,
            in_line: view.offset % LINE,
            at_output: view.offset == output,
            pitches: [view.row_pitch, view.column_pitch],
            size: [u32::from(view.h), u32::from(view.w), view.c],
            ring: [view.ring_rows, view.first_row],
            first: [
                i64::from(view.y0) - i64::from(from[0]),
                i64::from(view.x0) - i64::from(from[1]),
            ],
        }
    }
}

/// What of an op decides the way of its kernel: not the numbers that it only computes with.
fn way(kernel: Kernel, op: &Op) -> [u8; size_of::<Op>()] {
    let mut way = *op;
    if kernel.operand(Role::Weights).is_some() {
        // Weights with a zero point are another way.
        way.input_zero[0] = 0;
        (way.output_zero, way.clamp_min, way.clamp_max) = (0, 0, 0);
    }
    zerocopy::transmute!(way)
}

/// Whether a tile elsewhere in the layer runs alike if its operands lie alike around it: not where
/// the way to its values depends on the place.
fn moves(kernel: Kernel, op: &Op) -> bool {
    kernel.spec().reach.is_alike_elsewhere() && op.flags & Op::COUNT_PADDING == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Space;

    /// A convolution 3x3 with padding 1 and stride 2, and a tile of 2 rows from `row` on, whose
    /// input begins at `offset`.
    fn tile(kernel: Kernel, row: u16, offset: u32) -> Option<StepEquivalence> {
        let op = Op {
            kernel: kernel as u16,
            window: [3, 3],
            stride: [2, 2],
            dilation: [1, 1],
            padding: [1, 1],
            ..Op::default()
        };
        let from = (row * 2).saturating_sub(1);
        let rows = row * 2 + 4 - from;
        let tile = Tile {
            output_start: [row, 0],
            output_size: [2, 8],
            channels: 4,
            valid_start: [from, 0],
            valid_size: [rows, 16],
            ..Tile::default()
        };
        let row_of = |view: View, y0: u16| View { y0: y0.cast_signed(), ..view };
        let operands = [
            row_of(View::whole(Space::Arena, offset, rows, 16, 4), from),
            row_of(View::whole(Space::Arena, 4096, 2, 8, 4), row),
            View::bytes(Space::Weights, 0, 144),
            View::bytes(Space::Constants, 0, 64),
        ];
        StepEquivalence::of(&op, &tile, &operands, RowOrder::Whole)
    }

    #[test]
    fn tiles_inside_of_a_layer_are_alike_and_those_at_its_border_are_not() {
        let inside = tile(Kernel::Conv, 2, 64);
        assert!(inside.is_some());
        assert_eq!(inside, tile(Kernel::Conv, 4, 128));
        assert_ne!(inside, tile(Kernel::Conv, 0, 64));
    }

    #[test]
    fn another_place_in_the_cache_line_is_another_step() {
        assert_ne!(tile(Kernel::Conv, 2, 64), tile(Kernel::Conv, 2, 68));
    }

    #[test]
    fn where_the_place_decides_no_tile_is_like_another() {
        assert_ne!(tile(Kernel::ConvMaxPool, 2, 64), tile(Kernel::ConvMaxPool, 4, 64));
    }
}
