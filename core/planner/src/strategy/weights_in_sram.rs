//! Weights that stay in SRAM: a boot program copies them from the chip's flash, for which the core waits, to what
//! activations leave. They are those that gain most together: with more room never less.

use std::collections::{BTreeMap, BTreeSet};

use super::external::LINE;
use crate::costs::{CostCache, Outside};
use crate::recipe::Made;
use crate::schedule::boot::{self, Load};
use crate::schedule::sequence::Place;
use tilewright_board::Board;
use tilewright_plan::{
    Bytes, Constant, Cycles, Instruction, Kernel, LaneKind, Plan, Role, Space, View,
};

/// What a layer gains where its weights and constants lie in SRAM.
#[derive(Default)]
struct Gain {
    cycles: u64,
    /// Its blocks, as indices of the plan's constants.
    blocks: BTreeSet<usize>,
}

/// The blocks of constants, by where they lie.
struct Blocks(BTreeMap<(Space, u64), (u64, usize)>);

impl Blocks {
    fn of(plan: &Plan) -> Self {
        let blocks = plan.constants.iter().enumerate().map(|(index, block)| {
            let Constant { space, offset, bytes, .. } = block;
            ((*space, *offset), (offset + bytes.0, index))
        });
        Self(blocks.collect())
    }

    /// The block that all bytes of a view belong to.
    fn holding(&self, view: &View) -> Option<usize> {
        let (space, start) = (view.space()?, u64::from(view.offset));
        let (_, (end, block)) = self.0.range((space, 0)..=(space, start)).next_back()?;
        (start + view.extent() <= *end).then_some(*block)
    }
}

/// The plan with as many weights in `budget` bytes of SRAM as there is room for beside what it uses; nothing if
/// none gain, or the board has no engine that copies them.
pub fn load_weights(made: &Made, board: &Board, costs: &CostCache, budget: Bytes) -> Option<Made> {
    let plan = &made.plan;
    boot::largest(board)?;
    let unit = u64::from(board.engine(LaneKind::Dma)?.alignment.max(1));
    let mut gains: Vec<Gain> = gains(plan, board, costs).into_values().collect();
    gains.retain(|gain| gain.cycles > 0);
    if gains.is_empty() {
        return None;
    }
    // Blocks lie as they did within a cache line, and share none.
    let range = |block: &Constant| {
        let start = block.offset / unit * unit;
        let all = plan.space(block.space).0;
        [start, (block.offset + block.bytes.0).next_multiple_of(unit).min(all / unit * unit)]
    };
    let taken = |[start, end]: [u64; 2]| (start % LINE + end - start).next_multiple_of(LINE);
    let is_whole = |block: &usize| {
        let block = &plan.constants[*block];
        range(block)[1] >= block.offset + block.bytes.0
    };
    gains.retain(|gain| gain.blocks.iter().all(is_whole));
    let lines = |block: &usize| taken(range(&plan.constants[*block])) / LINE;
    let gains = apart(gains);
    let sizes: Vec<[u64; 2]> =
        gains.iter().map(|gain| [gain.blocks.iter().map(lines).sum(), gain.cycles]).collect();
    let mut free = plan.space(Space::Arena).0.next_multiple_of(LINE);
    let room = budget.0.saturating_sub(free) / LINE;
    let mut kept: BTreeMap<usize, Load> = BTreeMap::new();
    for block in best(&sizes, room).into_iter().flat_map(|gain| &gains[gain].blocks) {
        let [start, end] = range(&plan.constants[*block]);
        let from = Place { space: plan.constants[*block].space, offset: start };
        let to = Place { space: Space::Arena, offset: free + start % LINE };
        kept.insert(*block, Load { from, to, bytes: end - start });
        free += taken([start, end]);
    }
    if kept.is_empty() {
        return None;
    }
    let mut made = made.clone();
    let loads: Vec<Load> = kept.into_values().collect();
    boot::bring(&mut made.plan, &loads, board);
    made.recipe.weights_in_sram.extend(loads);
    Some(made)
}

/// Gains of which no two have a block in common: layers that do gain together.
fn apart(gains: Vec<Gain>) -> Vec<Gain> {
    let mut apart: Vec<Gain> = Vec::with_capacity(gains.len());
    for mut gain in gains {
        apart.retain_mut(|other| {
            let is_apart = other.blocks.is_disjoint(&gain.blocks);
            if !is_apart {
                gain.cycles += other.cycles;
                gain.blocks.append(&mut other.blocks);
            }
            is_apart
        });
        apart.push(gain);
    }
    apart
}

/// Which of some, each with its size and its gain, gain most together in so much room; of equal ones the smallest.
fn best(all: &[[u64; 2]], room: u64) -> Vec<usize> {
    let total: u64 = all.iter().map(|[size, _]| size).sum();
    let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
    let room = size(room.min(total));
    // Most that the first ones gain in each room, and whether the last of these is among them.
    let mut most = vec![0u64; room + 1];
    let mut is_taken: Vec<Vec<bool>> = Vec::with_capacity(all.len());
    for [bytes, gain] in all {
        let size = size(*bytes);
        let mut taken = vec![false; room + 1];
        for within in (size..=room).rev() {
            let with = most[within - size] + gain;
            if with > most[within] {
                (most[within], taken[within]) = (with, true);
            }
        }
        is_taken.push(taken);
    }
    let mut left = (0..=room).find(|within| most[*within] == most[room]).unwrap_or(0);
    let mut found = Vec::new();
    for (number, taken) in is_taken.iter().enumerate().rev() {
        if taken[left] {
            found.push(number);
            left -= size(all[number][0]);
        }
    }
    found.reverse();
    found
}

/// What each layer gains if its weights and constants lay in SRAM.
fn gains(plan: &Plan, board: &Board, costs: &CostCache) -> BTreeMap<u16, Gain> {
    let mut gains: BTreeMap<u16, Gain> = BTreeMap::new();
    let mut moved = plan.clone();
    let flash = [Space::Weights, Space::Constants].map(|space| space as u8);
    for view in moved.views.iter_mut().filter(|view| flash.contains(&view.space)) {
        view.space = Space::Arena as u8;
    }
    let Some(core) = plan.main.as_ref().and_then(|program| program.lanes.first()) else {
        return gains;
    };
    let blocks = Blocks::of(plan);
    let [here, there] = [plan, &moved].map(|plan| costs.lane(board, plan, core));
    for (step, (here, there)) in core.steps.iter().zip(here.iter().zip(&there)) {
        let Instruction::Compute { op, first_view, .. } = step.instruction else { continue };
        let Some((op, views)) = plan.operands(op, first_view) else { continue };
        // Firmware reads the parameters of gathers when it opens the image.
        if op.kernel() == Some(Kernel::Gather) {
            continue;
        }
        let gain = gains.entry(step.layer).or_default();
        let cycles = |(cost, outside): &(Cycles, Outside)| cost.0 + outside.waits.0;
        gain.cycles += cycles(here).saturating_sub(cycles(there));
        let roles = op.roles();
        let constants = roles.iter().zip(views).filter(|(role, view)| {
            matches!(role, Role::Weights | Role::Constants) && flash.contains(&view.space)
        });
        for (_, view) in constants {
            gain.blocks.extend(blocks.holding(view));
        }
    }
    gains
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gains_most_together_is_taken_and_more_room_never_gains_less() {
        let all = [[5, 60], [4, 40], [3, 35], [0, 1]];
        assert_eq!(best(&all, 12), [0, 1, 2, 3]);
        // By gains for each byte the first would go with the third.
        assert_eq!(best(&all, 9), [0, 1, 3]);
        assert_eq!(best(&all, 7), [1, 2, 3]);
        let gain = |room| best(&all, room).into_iter().map(|one| all[one][1]).sum::<u64>();
        assert!((0..20).all(|room| gain(room) <= gain(room + 1)));
        assert_eq!(best(&[], 9), Vec::<usize>::new());
    }

    #[test]
    fn layers_with_blocks_in_common_gain_together() {
        let gain = |cycles, blocks: &[usize]| {
            let blocks = blocks.iter().copied().collect();
            Gain { cycles, blocks }
        };
        let all = apart(vec![gain(1, &[1, 2]), gain(2, &[3]), gain(4, &[2, 4]), gain(8, &[5])]);
        let all: Vec<(u64, usize)> = all.iter().map(|one| (one.cycles, one.blocks.len())).collect();
        assert_eq!(all, [(2, 1), (5, 3), (8, 1)]);
    }
}
