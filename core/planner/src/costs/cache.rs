//! A cache of costs of steps. Tiles of one layer, and those of ways that are compared, mostly
//! differ in where they lie only, which no cost depends on but as far as a [`Key`] says.
//!
//! Whoever adds something that costs depend on adds it to that key.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use tilewright_board::Board;
use tilewright_plan::rows::MOST_OPERANDS;
use tilewright_plan::{Cycles, Lane, Op, Plan, Reach, RowOrder, Space, Tile, View};

use super::{Before, Computed, Costs, Outside, access};

/// Most steps in the cache; then it is emptied.
const MOST: usize = 1 << 14;

/// The costs of a board, and what steps were found to cost there.
#[derive(Debug)]
pub struct CostCache {
    /// The costs.
    pub costs: Costs,
    /// By hashes of the keys.
    found: RefCell<BTreeMap<u64, Vec<(Key, Found)>>>,
    count: Cell<usize>,
}

type Found = (Cycles, Outside);

impl CostCache {
    /// Those of a board, which all lanes must be of whose costs are asked for.
    #[must_use]
    pub fn on(board: &Board) -> Self {
        let (found, count) = (RefCell::new(BTreeMap::new()), Cell::new(0));
        Self { costs: Costs::on(board), found, count }
    }

    /// What each step of a lane costs on the board, nothing for copies and marks: also what the core waits
    /// for operands that lie outside of the chip, and what it loses where it meets a kernel first: less if it
    /// met another before, since the runtime's way to them is the same. And how it uses the memories there.
    #[must_use]
    pub fn lane(&self, board: &Board, plan: &Plan, lane: &Lane) -> Vec<Found> {
        self.costs.lane_by(plan, lane, &|step, order, before| self.step(board, step, order, before))
    }

    /// What the core computes and waits at least where it takes steps one after the other whose operands are
    /// brought from the card before.
    pub fn least<'a>(
        &self,
        board: &Board,
        steps: impl Iterator<Item = (Computed<'a>, RowOrder)>,
    ) -> Cycles {
        let mut last = None;
        let mut views = Vec::with_capacity(MOST_OPERANDS);
        let all = steps.map(|((op, tile, operands), order)| {
            let before = Before::step(op, &mut last);
            views.clear();
            views.extend(operands.iter().map(|view| match view.space() {
                Some(Space::Card) => View { space: Space::Arena as u8, ..*view },
                _ => *view,
            }));
            let (cost, outside) = self.step(board, (op, tile, &views), order, before);
            cost.0.saturating_add(outside.waits.0)
        });
        Cycles(all.fold(0, u64::saturating_add))
    }

    fn step(&self, board: &Board, step: Computed<'_>, order: RowOrder, before: Before) -> Found {
        let Some(key) = Key::of(board, step, order, before) else {
            return self.costs.found(board, step, order, before);
        };
        let hash = key.hash();
        let known = self.found.borrow().get(&hash).and_then(|found| {
            found.iter().find(|(known, _)| *known == key).map(|(_, found)| *found)
        });
        known.unwrap_or_else(|| {
            let made = self.costs.found(board, step, order, before);
            let mut found = self.found.borrow_mut();
            if self.count.replace(self.count.get() + 1) == MOST {
                found.clear();
                self.count.set(1);
            }
            found.entry(hash).or_default().push((key, made));
            made
        })
    }
}

impl Costs {
    fn found(&self, board: &Board, step: Computed<'_>, order: RowOrder, before: Before) -> Found {
        let (op, tile, views) = step;
        let cost = self.step_behind(op, tile, views, order, before);
        (cost, access::outside(self, board, op, tile, views, cost))
    }
}

/// All that the cost of a step depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    op: Op,
    tile: Tile,
    views: [View; MOST_OPERANDS],
    /// Of both axes where the input that exists begins, and what is held of it, seen from where the first
    /// window begins; of kernels with windows.
    seen: [[i64; 2]; 2],
    order: RowOrder,
    before: Before,
}

impl Key {
    /// That of a step; nothing of one with more operands than any has.
    fn of(
        board: &Board,
        (op, tile, operands): Computed<'_>,
        order: RowOrder,
        before: Before,
    ) -> Option<Self> {
        let mut views = [View::default(); MOST_OPERANDS];
        views.get_mut(..operands.len())?.copy_from_slice(operands);
        let mut key = Self { op: *op, tile: *tile, views, seen: [[0; 2]; 2], order, before };
        let kernel = op.kernel()?;
        // What writes over an operand does so by where both lie.
        if kernel.is_elementwise() {
            return Some(key);
        }
        key.tile.channel_start = 0;
        let turn = turn(board);
        for view in &mut key.views {
            view.offset %= if is_outside(view) { turn } else { 4 };
            if order == RowOrder::Whole
                && view.first_row.checked_add(view.h).is_some_and(|end| end <= view.ring_rows)
            {
                (view.ring_rows, view.first_row) = (view.h, 0);
            }
        }
        if kernel.spec().reach == Reach::Window && order == RowOrder::Whole {
            for axis in [0, 1] {
                let start = i64::from(tile.output_start[axis]);
                let origin = start * i64::from(op.stride[axis]) - i64::from(op.padding[axis]);
                let held = operands.first().map_or(0, |view| [view.y0, view.x0][axis]);
                let valid = i64::from(tile.valid_start[axis]);
                key.seen[axis] = [valid - origin, i64::from(held) - origin];
            }
            (key.tile.output_start, key.tile.valid_start) = ([0; 2], [0; 2]);
            for view in &mut key.views {
                (view.y0, view.x0) = (0, 0);
            }
        }
        Some(key)
    }

    /// A number that few others have.
    fn hash(&self) -> u64 {
        let Self { op, tile, views, seen, .. } = self;
        let pair = |[a, b]: [u16; 2]| u64::from(a) << 16 | u64::from(b);
        let own = [
            u64::from(op.kernel) << 32 | pair(op.window),
            pair(op.stride) << 32 | pair(op.padding),
            pair(tile.output_start) << 32 | pair(tile.output_size),
            u64::from(tile.channels) << 32 | pair(tile.valid_size),
        ];
        let seen = seen.iter().flatten().map(|at| at.cast_unsigned());
        let of_views = views.iter().map(|view| {
            u64::from(view.c) << 32 ^ u64::from(view.offset) << 8 ^ u64::from(view.space)
        });
        let all = own.into_iter().chain(seen).chain(of_views);
        all.fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
            (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        })
    }
}

/// Bytes after which places in a board's data cache come again, or in a word where it has none.
fn turn(board: &Board) -> u32 {
    board.core.data_cache.as_ref().map_or(4, |cache| {
        let line = cache.line_bytes.max(1);
        (cache.bytes / line / cache.ways.max(1)).max(1).saturating_mul(line)
    })
}

fn is_outside(view: &View) -> bool {
    matches!(view.space(), Some(Space::ExternalRam | Space::ExternalFlash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilewright_plan::Kernel;
    use tilewright_plan::rows::Row;

    const SIDE: u16 = 23;

    /// A layer with windows, its input and output in these spaces.
    fn layer(
        kernel: Kernel,
        [side, stride]: [u16; 2],
        spaces: [Space; 3],
    ) -> (Op, Tile, Vec<View>) {
        let padding = [side / 2; 2];
        let (window, stride) = ([side; 2], [stride; 2]);
        let op = Op {
            kernel: kernel as u16,
            window,
            stride,
            dilation: [1; 2],
            padding,
            groups: 1,
            clamp_min: -128,
            clamp_max: 127,
            ..Op::default()
        };
        let output_size = [(SIDE - 1) / stride[0] + 1; 2];
        let tile = Tile { output_size, channels: 16, valid_size: [SIDE; 2], ..Tile::default() };
        let [from, to, of_weights] = spaces;
        let made = output_size[0];
        let views = vec![
            View::whole(from, 0, SIDE, SIDE, 16),
            View::whole(to, 1 << 16, made, made, 16),
            View::bytes(of_weights, 1 << 17, 16 * 16 * u32::from(side * side)),
            View::bytes(Space::Constants, 1 << 18, 16 * 12),
        ];
        (op, tile, views.into_iter().take(kernel.roles().len()).collect())
    }

    #[test]
    fn what_the_cache_gives_is_what_would_be_found() {
        let kernels = [Kernel::Conv, Kernel::Depthwise, Kernel::MaxPool, Kernel::AveragePool];
        let (arena, ram) = (Space::Arena, Space::ExternalRam);
        let spaces = [
            [arena, arena, Space::Weights],
            [ram, arena, arena],
            [arena, ram, Space::ExternalFlash],
        ];
        for board in ["stm32f746g-disco", "stm32f469i-disco", "paper-tinyops-f746"] {
            let board = tilewright_board::find(board).unwrap();
            for (kernel, spaces) in kernels.iter().flat_map(|k| spaces.map(|s| (*k, s))) {
                let costs = CostCache::on(&board);
                let mut asked = 0;
                for (side, stride) in [(3, 1), (3, 2), (5, 1), (1, 1)] {
                    let (op, tile, views) = layer(kernel, [side, stride], spaces);
                    let rows = tile.output_size[0];
                    for (start, count) in (0..rows).flat_map(|y| [(y, 1), (y, 2), (y, rows - y)]) {
                        let made = start..rows.min(start + count);
                        let part = Row::several(&op, &tile, &views, made).unwrap();
                        let mut operands = part.operands().to_vec();
                        operands[0].offset += 4 * u32::from(start);
                        for order in [RowOrder::Whole, RowOrder::Down] {
                            let step = (&op, &part.tile, &operands[..]);
                            let known = costs.step(&board, step, order, Before::Same);
                            let new = costs.costs.found(&board, step, order, Before::Same);
                            assert_eq!(known, new, "{} {kernel:?} {step:?}", board.id);
                            asked += 1;
                        }
                    }
                }
                assert!(costs.count.get() < asked, "{} of {asked}", costs.count.get());
            }
        }
    }
}
