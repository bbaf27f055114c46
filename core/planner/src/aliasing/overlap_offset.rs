//! The overlap offset: how far the output of a step in rows must lie from its input, and in which order its rows can
//! be made where they lie.

use std::ops::Range;

use tilewright_plan::rows::{self, Row};
use tilewright_plan::{Kernel, Op, Role, RowOrder, Tile, View, domain};

/// Least distances between two tensors, from offset to offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverlapOffset {
    /// Of the output above the input, with rows from the last to the first.
    pub above: u64,
    /// Of the output below the input, with rows from the first to the last.
    pub below: u64,
}

/// The bytes of its space that a view can touch.
fn touched(view: &View) -> Range<u64> {
    u64::from(view.offset)..u64::from(view.offset) + view.extent()
}

fn output(op: &Op, operands: &[View]) -> Option<Range<u64>> {
    let at = op.kernel()?.operand(Role::Output)?;
    operands.get(at).map(touched)
}

/// Of each row, from the first on, what it writes and what it reads of some operands: the hull.
fn traffic(
    op: &Op,
    tile: &Tile,
    operands: &[View],
    inputs: &[usize],
) -> Option<Vec<[Range<u64>; 2]>> {
    let row = |y: u16| {
        let row = Row::of(op, tile, operands, y)?;
        let reads = inputs.iter().filter_map(|input| row.operands().get(*input)).map(touched);
        let read = reads.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))?;
        Some([output(op, row.operands())?, read])
    };
    rows::sequence(tile, RowOrder::Down).map(row).collect()
}

/// The least distances for a step whose operands `inputs` lie in one tensor and whose output in
/// another; views give places inside of the two. Nothing if the step cannot be made in rows.
#[must_use]
pub fn overlap_offset(
    op: &Op,
    tile: &Tile,
    operands: &[View],
    inputs: &[usize],
) -> Option<OverlapOffset> {
    let rows = traffic(op, tile, operands, inputs)?;
    let (mut above, mut below) = (0, 0);
    // What the rows that are yet to be made read.
    let mut lowest = u64::MAX;
    for [write, read] in rows.iter().rev() {
        lowest = lowest.min(read.start);
        below = below.max(write.end.saturating_sub(lowest));
    }
    let mut highest = 0;
    for [write, read] in &rows {
        highest = highest.max(read.end);
        above = above.max(highest.saturating_sub(write.start));
    }
    (!rows.is_empty()).then_some(OverlapOffset { above: above.max(1), below: below.max(1) })
}

/// The order in which a step can be made where its operands lie; nothing if there is none.
#[must_use]
pub fn order(op: &Op, tile: &Tile, operands: &[View]) -> Option<RowOrder> {
    let kernel = op.kernel()?;
    let to = kernel.operand(Role::Output)?;
    let (space, written) = (operands.get(to)?.space, touched(operands.get(to)?));
    let meets = |a: &Range<u64>, b: &Range<u64>| a.start < b.end && b.start < a.end;
    let inputs: Vec<usize> = kernel
        .roles()
        .iter()
        .zip(operands)
        .enumerate()
        .filter(|(_, (role, view))| {
            **role == Role::Input && view.space == space && meets(&touched(view), &written)
        })
        .map(|(index, _)| index)
        .collect();
    let in_place = domain::in_place(kernel, operands);
    if inputs.iter().all(|input| in_place == Some(*input)) {
        return Some(RowOrder::Whole);
    }
    let apart = |rows: &mut dyn Iterator<Item = &[Range<u64>; 2]>| {
        let mut read: Option<Range<u64>> = None;
        for [write, own] in rows {
            let all = read.get_or_insert_with(|| own.clone());
            *all = all.start.min(own.start)..all.end.max(own.end);
            if meets(all, write) {
                return false;
            }
        }
        true
    };
    // Each operand by itself: nothing lies between two of them that must not be read.
    let each: Option<Vec<_>> =
        inputs.iter().map(|input| traffic(op, tile, operands, &[*input])).collect();
    let each = each?;
    // Beginning with the row made last, what is read is what later rows need.
    if each.iter().all(|rows| apart(&mut rows.iter().rev())) {
        return Some(RowOrder::Down);
    }
    each.iter().all(|rows| apart(&mut rows.iter())).then_some(RowOrder::Up)
}

/// Whether a kernel's step may write over operand `index`, both whole and of one shape.
#[must_use]
pub fn can_write_over(kernel: Kernel, operands: &[View], index: usize) -> bool {
    let Some(to) = kernel.operand(Role::Output) else { return false };
    let place = |view: &View| View { offset: 0, y0: 0, x0: 0, ..*view };
    let (Some(from), Some(to)) = (operands.get(index), operands.get(to)) else { return false };
    kernel.is_elementwise() && place(from) == place(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::Space;

    fn conv(window: u16, stride: u16, padding: u16) -> Op {
        Op {
            kernel: Kernel::Conv as u16,
            window: [window; 2],
            stride: [stride; 2],
            dilation: [1; 2],
            padding: [padding; 2],
            groups: 1,
            ..Op::default()
        }
    }

    fn step(input: [u16; 2], channels: u32, output: [u16; 2], made: u32) -> (Tile, Vec<View>) {
        let tile =
            Tile { output_size: output, channels: made, valid_size: input, ..Tile::default() };
        let bytes = View::bytes(Space::Weights, 0, 1);
        let from = View::whole(Space::Arena, 0, input[0], input[1], channels);
        let to = View::whole(Space::Arena, 0, output[0], output[1], made);
        (tile, vec![from, to, bytes, bytes])
    }

    #[test]
    fn a_pointwise_layer_needs_its_larger_side_and_one_row() {
        let (tile, views) = step([8, 8], 2, [8, 8], 4);
        let offset = overlap_offset(&conv(1, 1, 0), &tile, &views, &[0]).unwrap();
        // Below: the last row's end against its own input. Above: the first row's input.
        assert_eq!(offset, OverlapOffset { above: 16, below: 8 * 32 - 7 * 16 });
    }

    #[test]
    fn a_window_of_three_has_an_offset_of_two_rows() {
        let (tile, views) = step([8, 8], 2, [8, 8], 2);
        let offset = overlap_offset(&conv(3, 1, 1), &tile, &views, &[0]).unwrap();
        assert_eq!(offset, OverlapOffset { above: 2 * 16, below: 2 * 16 });
    }

    #[test]
    fn one_byte_less_than_the_offset_has_no_order() {
        let op = conv(3, 2, 1);
        let (tile, views) = step([8, 8], 2, [4, 4], 3);
        let offset = overlap_offset(&op, &tile, &views, &[0]).unwrap();
        let at = |input: u64, output: u64| {
            let mut views = views.clone();
            views[0].offset = input.try_into().unwrap();
            views[1].offset = output.try_into().unwrap();
            order(&op, &tile, &views)
        };
        assert_eq!(at(offset.below, 0), Some(RowOrder::Down));
        assert_eq!(at(offset.below - 1, 0), None);
        assert_eq!(at(0, offset.above), Some(RowOrder::Up));
        assert_eq!(at(0, offset.above - 1), None);
        assert_eq!(at(0, 8 * 16), Some(RowOrder::Whole));
    }
}
