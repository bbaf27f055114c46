//! Weights that stay in SRAM: a boot program copies them from the chip's flash, for which the core waits, to what
//! activations leave. Layers that gain most for each byte come first.

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
    let bytes = |gain: &Gain| -> u64 {
        gain.blocks.iter().map(|block| taken(range(&plan.constants[*block]))).sum()
    };
    gains.sort_by_key(|gain| std::cmp::Reverse((gain.cycles << 16) / bytes(gain).max(1)));
    let mut free = plan.space(Space::Arena).0.next_multiple_of(LINE);
    let mut kept: BTreeMap<usize, Load> = BTreeMap::new();
    for gain in &gains {
        let new: Vec<usize> =
            gain.blocks.iter().filter(|block| !kept.contains_key(block)).copied().collect();
        let more: u64 = new.iter().map(|block| taken(range(&plan.constants[*block]))).sum();
        let is_whole = |block: &usize| {
            let block = &plan.constants[*block];
            range(block)[1] >= block.offset + block.bytes.0
        };
        if free + more > budget.0 || !new.iter().all(is_whole) {
            continue;
        }
        for block in new {
            let [start, end] = range(&plan.constants[block]);
            let from = Place { space: plan.constants[block].space, offset: start };
            let to = Place { space: Space::Arena, offset: free + start % LINE };
            kept.insert(block, Load { from, to, bytes: end - start });
            free += taken([start, end]);
        }
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

/// What each layer gains if its weights and constants lay in SRAM.
fn gains(plan: &Plan, board: &Board, costs: &CostCache) -> BTreeMap<u16, Gain> {
    let mut gains: BTreeMap<u16, Gain> = BTreeMap::new();
    let mut moved = plan.clone();
    let flash = [Space::Weights, Space::Constants].map(|space| space as u8);
    for view in moved.views.iter_mut().filter(|view| flash.contains(&view.space)) {
        view.space = Space::Arena as u8;
    }
    let program = |plan: &Plan| plan.programs.iter().position(|program| !program.boot);
    let Some(core) = program(plan).and_then(|at| plan.programs[at].lanes.first()) else {
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
