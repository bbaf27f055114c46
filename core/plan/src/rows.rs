//! Steps that are made row by row.
//!
//! A step with an order of rows is, by definition, the sequence of its one-row tiles: each an
//! ordinary step with operands of its own, which share no byte or work in place. Only across rows
//! may output and inputs overlap: a row may be written where nothing that later rows need lies any
//! more. So the arena holds both diagonally ("row lag").
//!
//! Kernels stay as they are, with disjoint operands and no further `unsafe`. The planner computes the overlap offset from
//! the geometry (`core/planner/src/aliasing/overlap_offset.rs`), and the validator follows the rows one by one.

use core::ops::Range;

use crate::domain;
use crate::kernel::{Kernel, Role};
use crate::op::Op;
use crate::spec::Reach;
use crate::step::RowOrder;
use crate::view::{Tile, View};

/// Most operands of a kernel.
pub const MOST_OPERANDS: usize = 4;

/// The rows of a tile in the order in which they are made; none if it is made at once.
pub fn sequence(tile: &Tile, order: RowOrder) -> impl Iterator<Item = u16> {
    let first = tile.output_start[0];
    let count = match order {
        RowOrder::Whole => 0,
        RowOrder::Down | RowOrder::Up => tile.output_size[0],
    };
    let end = first.saturating_add(count);
    (first..end).map(move |row| match order {
        RowOrder::Up => end - 1 - (row - first),
        RowOrder::Down | RowOrder::Whole => row,
    })
}

/// One output row of a step, or several that follow each other.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The rows, and of the input what they see.
    pub tile: Tile,
    views: [View; MOST_OPERANDS],
    count: usize,
}

impl Row {
    /// Output row `y` (a coordinate of the layer's output) of a step; nothing if its kernel does
    /// not make single rows, or `y` is none of the tile's.
    #[must_use]
    pub fn of(op: &Op, tile: &Tile, operands: &[View], y: u16) -> Option<Self> {
        Self::several(op, tile, operands, y..y.checked_add(1)?)
    }

    /// Output rows `made` (coordinates of the layer's output, at least one) of a step, as one step;
    /// nothing if its kernel does not make single rows, or some are none of the tile's.
    #[must_use]
    pub fn several(op: &Op, tile: &Tile, operands: &[View], made: Range<u16>) -> Option<Self> {
        let (y, count) = (made.start, made.end.checked_sub(made.start).filter(|count| *count > 0)?);
        let kernel = op.kernel().filter(|kernel| kernel.makes_rows())?;
        let last = tile.output_start[0].checked_add(tile.output_size[0])?;
        if y < tile.output_start[0] || made.end > last || operands.len() > MOST_OPERANDS {
            return None;
        }
        let roles = kernel.roles();
        let output = operands.get(kernel.operand(Role::Output)?)?;
        let mut row = Self { tile: *tile, views: [View::default(); 4], count: operands.len() };
        row.tile.output_start[0] = y;
        row.tile.output_size[0] = count;
        let seen = seen_by((kernel, op, tile), 0, &made);
        if let Some(seen) = &seen {
            row.tile.valid_start[0] = u16::try_from(seen.start).ok()?;
            row.tile.valid_size[0] = u16::try_from(seen.len()).ok()?;
        }
        for ((slot, view), role) in row.views.iter_mut().zip(operands).zip(roles) {
            *slot = match (role, &seen) {
                (Role::Output, _) => part(view, i32::from(y), i32::from(count))?,
                (Role::Input, Some(seen)) => {
                    part(view, seen.start, i32::try_from(seen.len()).ok()?)?
                }
                // One row stands for all.
                (Role::Input, None) if view.h == 1 => *view,
                (Role::Input, None) => {
                    let below = i32::from(y) - i32::from(output.y0);
                    part(view, i32::from(view.y0) + below, i32::from(count))?
                }
                (Role::Weights | Role::Constants, _) => *view,
            };
        }
        Some(row)
    }

    /// Output columns `made` (coordinates of the layer's output, at least one) of a step, as one step; nothing if its
    /// kernel's window does not move over the input, or some are none of the tile's.
    #[must_use]
    pub fn columns(op: &Op, tile: &Tile, operands: &[View], made: Range<u16>) -> Option<Self> {
        let count = made.end.checked_sub(made.start).filter(|count| *count > 0)?;
        let kernel = op.kernel().filter(|kernel| kernel.makes_rows())?;
        let last = tile.output_start[1].checked_add(tile.output_size[1])?;
        let is_windowed = matches!(kernel.spec().reach, Reach::Window);
        if made.start < tile.output_start[1]
            || made.end > last
            || operands.len() > MOST_OPERANDS
            || !is_windowed
        {
            return None;
        }
        let seen = seen_by((kernel, op, tile), 1, &made)?;
        let mut part = Self { tile: *tile, views: [View::default(); 4], count: operands.len() };
        part.tile.output_start[1] = made.start;
        part.tile.output_size[1] = count;
        part.tile.valid_start[1] = u16::try_from(seen.start).ok()?;
        part.tile.valid_size[1] = u16::try_from(seen.len()).ok()?;
        for ((slot, view), role) in part.views.iter_mut().zip(operands).zip(kernel.roles()) {
            *slot = match role {
                Role::Output => across(view, i32::from(made.start)..i32::from(made.end))?,
                Role::Input => across(view, seen.clone())?,
                Role::Weights | Role::Constants => *view,
            };
        }
        Some(part)
    }

    /// Whether what the row writes leaves all that is read by it and by the rows after it, of which
    /// `last` is made last: what rows see moves one way, as they do.
    #[must_use]
    pub fn leaves_the_rest_until(&self, last: &Self, kernel: Kernel) -> bool {
        let to = kernel.operand(Role::Output);
        let Some(output) = to.and_then(|to| self.operands().get(to)) else { return false };
        let written = touched(output);
        let in_place = domain::in_place(kernel, self.operands());
        let both = self.operands().iter().zip(last.operands()).zip(kernel.roles());
        both.enumerate().all(|(index, ((own, last), role))| {
            let (own_range, last_range) = (touched(own), touched(last));
            let read = own_range.start.min(last_range.start)..own_range.end.max(last_range.end);
            *role != Role::Input
                || own.space != output.space
                || in_place == Some(index)
                || read.end <= written.start
                || written.end <= read.start
        })
    }

    /// The rows' operands, in the order of the kernel's roles.
    #[must_use]
    pub fn operands(&self) -> &[View] {
        self.views.get(..self.count).unwrap_or(&[])
    }
}

/// The bytes of its space that a view can touch.
fn touched(view: &View) -> Range<u64> {
    u64::from(view.offset)..u64::from(view.offset) + view.extent()
}

/// The existing input rows (of axis 0) or columns (of axis 1) that those of the output see, at least one; nothing for
/// kernels that take those of their boxes one by one.
fn seen_by(step: (Kernel, &Op, &Tile), axis: usize, made: &Range<u16>) -> Option<Range<i32>> {
    // What they see moves one way, as they do.
    let first = seen(step, axis, made.start)?;
    let last = seen(step, axis, made.end.checked_sub(1)?)?;
    Some(first.start..last.end.max(first.end))
}

/// The same of one row or column.
fn seen((kernel, op, tile): (Kernel, &Op, &Tile), axis: usize, y: u16) -> Option<Range<i32>> {
    let y = i64::from(y);
    let [window, dilation] = [op.window, op.dilation].map(|both| i64::from(both[axis]));
    let reach = (window - 1) * dilation;
    let (stride, padding) = (i64::from(op.stride[axis]).max(1), i64::from(op.padding[axis]));
    let (start, end) = match kernel.spec().reach {
        Reach::Window => {
            let start = y * stride - padding;
            (start, start + reach + 1)
        }
        Reach::Transposed => {
            // Input i reaches outputs i · stride − padding up to that plus the window's reach.
            let last = (y + padding).div_euclid(stride);
            ((y + padding - reach + stride - 1).div_euclid(stride), last + 1)
        }
        Reach::Between => {
            const UNIT: i64 = 1 << 10;
            let [down, right, first, left, ..] = op.scalars.map(i64::from);
            let (step, first) = if axis == 0 { (down, first) } else { (right, left) };
            let place = y * step + first;
            (place.div_euclid(UNIT), (place + UNIT - 1).div_euclid(UNIT) + 1)
        }
        _ => return None,
    };
    let valid = i64::from(tile.valid_start[axis]);
    let valid_end = valid + i64::from(tile.valid_size[axis]).max(1);
    let start = start.clamp(valid, valid_end - 1);
    let end = end.clamp(start + 1, valid_end);
    Some(i32::try_from(start).ok()?..i32::try_from(end).ok()?)
}

/// Some columns of a view, by those of its tensor; nothing if they are not in it.
fn across(view: &View, columns: Range<i32>) -> Option<View> {
    let index = u32::try_from(columns.start.checked_sub(i32::from(view.x0))?).ok()?;
    let w = u16::try_from(columns.len()).ok()?;
    if w == 0 || index.checked_add(w.into())? > u32::from(view.w) {
        return None;
    }
    let offset = view.offset.checked_add(index.checked_mul(view.column_pitch)?)?;
    Some(View { offset, w, x0: i16::try_from(columns.start).ok()?, ..*view })
}

/// `count` rows of a view from row `y` of its tensor on; nothing if they are not in it.
fn part(view: &View, y: i32, count: i32) -> Option<View> {
    let index = u32::try_from(y.checked_sub(i32::from(view.y0))?).ok()?;
    let h = u16::try_from(count).ok()?;
    let rows = u32::from(h);
    if h == 0 || index.checked_add(rows)? > u32::from(view.h) {
        return None;
    }
    let ring = u32::from(view.ring_rows);
    let place = index + u32::from(view.first_row);
    let place = if place >= ring { place - ring } else { place };
    let part = View { h, y0: i16::try_from(y).ok()?, ..*view };
    if place + rows > ring {
        return Some(View { first_row: u16::try_from(place).ok()?, ..part });
    }
    let offset = view.offset.checked_add(place.checked_mul(view.row_pitch)?)?;
    Some(View { offset, ring_rows: h, first_row: 0, ..part })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Space;
    use proptest::prelude::*;

    fn windowed(kernel: Kernel) -> impl Strategy<Value = (Op, Tile, Vec<View>)> {
        let side = (1u16..9, 1u16..5, 1u16..4, 1u16..3, 0u16..4, 1u16..9);
        (side, 0u16..3, 0u16..3).prop_map(move |(side, ring, first)| {
            let (input, window, stride, dilation, padding, output) = side;
            let op = Op {
                kernel: kernel as u16,
                window: [window, 1],
                stride: [stride, 1],
                dilation: [dilation, 1],
                padding: [padding, 0],
                groups: 1,
                clamp_min: -128,
                clamp_max: 127,
                ..Op::default()
            };
            let tile = Tile {
                output_size: [output, 2],
                channels: 3,
                valid_size: [input, 2],
                ..Tile::default()
            };
            let mut from = View::whole(Space::Arena, 0, input, 2, 3);
            from.ring_rows += ring;
            from.first_row = first % from.ring_rows;
            let to = View::whole(Space::Arena, 1000, output, 2, 3);
            (op, tile, vec![from, to])
        })
    }

    fn any_step() -> impl Strategy<Value = (Op, Tile, Vec<View>)> {
        prop_oneof![windowed(Kernel::MaxPool), windowed(Kernel::AveragePool)]
    }

    proptest! {
        /// What the domain lets through whole, it lets through in any tiles of rows.
        #[test]
        fn rows_together_see_what_they_see_alone((op, tile, operands) in any_step(), cut in 0u16..9) {
            prop_assume!(domain::check_compute(&op, &tile, &operands).is_ok());
            let cut = cut.min(tile.output_size[0]);
            for made in [0..cut, cut..tile.output_size[0]].into_iter().filter(|r| !r.is_empty()) {
                let rows = Row::several(&op, &tile, &operands, made.clone()).unwrap();
                prop_assert_eq!(domain::check_compute(&op, &rows.tile, rows.operands()), Ok(()));
                let seen = |row: &Row| {
                    let start = row.tile.valid_start[0];
                    start..start + row.tile.valid_size[0]
                };
                let all = seen(&rows);
                for y in made {
                    let row = seen(&Row::of(&op, &tile, &operands, y).unwrap());
                    prop_assert!(all.start <= row.start && row.end <= all.end);
                }
            }
        }

        /// What the domain lets through whole, it lets through in any tiles of columns, which see what rows do of a step
        /// whose axes are exchanged.
        #[test]
        fn columns_see_what_rows_see((op, tile, operands) in any_step(), cut in 0u16..9) {
            let unwrapped = |view: &View| View { ring_rows: view.h, first_row: 0, ..*view };
            let operands: Vec<View> = operands.iter().map(unwrapped).collect();
            prop_assume!(domain::check_compute(&op, &tile, &operands).is_ok());
            let turned = |[first, second]: [u16; 2]| [second, first];
            let other = Op {
                window: turned(op.window),
                stride: turned(op.stride),
                dilation: turned(op.dilation),
                padding: turned(op.padding),
                ..op
            };
            let size = turned(tile.output_size);
            let across = Tile { output_size: size, valid_size: turned(tile.valid_size), ..tile };
            let views: Vec<View> = operands
                .iter()
                .map(|view| View::whole(Space::Arena, view.offset, view.w, view.h, view.c))
                .collect();
            let cut = cut.min(size[1]);
            for made in [0..cut, cut..size[1]].into_iter().filter(|made| !made.is_empty()) {
                let rows = Row::several(&op, &tile, &operands, made.clone()).unwrap();
                let part = Row::columns(&other, &across, &views, made).unwrap();
                prop_assert_eq!(domain::check_compute(&other, &part.tile, part.operands()), Ok(()));
                prop_assert_eq!(turned(part.tile.valid_start), rows.tile.valid_start);
                prop_assert_eq!(turned(part.tile.valid_size), rows.tile.valid_size);
                for (column, row) in part.operands().iter().zip(rows.operands()) {
                    prop_assert_eq!((column.x0, column.w), (row.y0, row.h));
                    prop_assert_eq!(column.offset % 1000, column.x0.cast_unsigned() as u32 * column.c);
                }
            }
            prop_assert!(Row::columns(&other, &across, &views, 0..size[1] + 1).is_none());
        }

        /// What the domain lets through whole, it lets through row by row.
        #[test]
        fn rows_of_a_step_are_steps((op, tile, operands) in any_step()) {
            prop_assume!(domain::check_compute(&op, &tile, &operands).is_ok());
            for order in [RowOrder::Down, RowOrder::Up] {
                let mut made = Vec::new();
                for y in sequence(&tile, order) {
                    let row = Row::of(&op, &tile, &operands, y).unwrap();
                    prop_assert_eq!(domain::check_compute(&op, &row.tile, row.operands()), Ok(()));
                    for (part, whole) in row.operands().iter().zip(&operands) {
                        let end = u64::from(part.offset) + part.extent();
                        prop_assert!(part.offset >= whole.offset);
                        prop_assert!(end <= u64::from(whole.offset) + whole.extent());
                    }
                    made.push(y);
                }
                made.sort_unstable();
                prop_assert!(made.into_iter().eq(0..tile.output_size[0]));
            }
        }
    }

    #[test]
    fn a_row_sees_its_window_and_no_more() {
        let op = Op {
            kernel: Kernel::MaxPool as u16,
            window: [3, 3],
            stride: [2, 2],
            dilation: [1, 1],
            padding: [1, 1],
            groups: 1,
            ..Op::default()
        };
        let tile = Tile { output_size: [4, 4], channels: 2, valid_size: [8, 8], ..Tile::default() };
        let operands =
            [View::whole(Space::Arena, 0, 8, 8, 2), View::whole(Space::Arena, 0, 4, 4, 2)];
        let rows: Vec<_> = sequence(&tile, RowOrder::Down)
            .map(|y| {
                let row = Row::of(&op, &tile, &operands, y).unwrap();
                let [input, output] = row.operands() else { panic!() };
                (input.y0, input.h, input.offset, output.offset)
            })
            .collect();
        assert_eq!(rows, [(0, 2, 0, 0), (1, 3, 16, 8), (3, 3, 48, 16), (5, 3, 80, 24)]);
    }
}
