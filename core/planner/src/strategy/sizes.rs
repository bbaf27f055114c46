//! Sizes of memory that do not depend on the budget: what is planned for one of them is found with every larger budget.

use tilewright_board::Board;
use tilewright_plan::Bytes;

/// Sizes between a power of two and the next.
const AN_OCTAVE: u64 = 16;
/// The smallest of all.
const LEAST: u64 = 512;

/// The sizes below a number of bytes, the largest first: powers of two times sixteenths from 16 to 31.
pub fn below(bytes: Bytes) -> impl Iterator<Item = Bytes> {
    let mut end = bytes.0;
    std::iter::from_fn(move || {
        let most = end.checked_sub(1).filter(|most| *most >= LEAST)?;
        let unit = (1 << most.ilog2()) / AN_OCTAVE;
        end = most / unit * unit;
        Some(Bytes(end))
    })
}

/// The sizes that a budget on a board holds, the largest first. All of the board's arena is one of them: no budget is
/// larger.
pub fn within(budget: Bytes, board: &Board) -> impl Iterator<Item = Bytes> {
    let arena = board.arena();
    let all = (budget >= arena).then_some(arena);
    let end = Bytes(budget.0.min(arena.0.saturating_sub(1)).saturating_add(1));
    all.into_iter().chain(below(end))
}

/// All of them, behind the budget itself and the next larger one: what is planned for that may take no more than the budget.
pub fn around(budget: Bytes, board: &Board) -> impl Iterator<Item = Bytes> {
    let unit = (1 << budget.0.max(LEAST).ilog2()) / AN_OCTAVE;
    let next = Bytes((budget.0 / unit + 1).saturating_mul(unit)).min(board.arena());
    let all = within(budget, board).filter(move |size| *size < budget);
    (next > budget).then_some(next).into_iter().chain([budget]).chain(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_budget_has_all_sizes_of_a_smaller_one() {
        let sizes: Vec<u64> = below(Bytes(4609)).take(10).map(|size| size.0).collect();
        assert_eq!(sizes, [4608, 4352, 4096, 3968, 3840, 3712, 3584, 3456, 3328, 3200]);
        for budget in (512..20_000).step_by(77) {
            let more: Vec<Bytes> = below(Bytes(budget + 5)).collect();
            assert!(below(Bytes(budget)).all(|size| more.contains(&size)), "{budget}");
        }
        assert_eq!(below(Bytes(512)).count(), 0);
        assert_eq!(below(Bytes(u64::MAX)).next(), Some(Bytes(31 << 59)));
    }

    #[test]
    fn a_budget_on_the_grid_and_the_whole_arena_are_sizes() {
        let board = &tilewright_board::find("stm32f746g-disco").expect("a board");
        let first = |budget| within(Bytes(budget), board).next();
        assert_eq!(first(4608), Some(Bytes(4608)));
        assert_eq!(first(4700), Some(Bytes(4608)));
        let arena = board.arena();
        for more in [arena, arena + Bytes(1)] {
            assert_eq!(within(more, board).take(2).collect::<Vec<_>>()[0], arena);
        }
        assert!(within(arena, board).zip(within(arena, board).skip(1)).all(|(a, b)| a > b));
    }
}
