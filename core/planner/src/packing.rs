//! How weights in the chip's flash lie; and which convolutions have theirs transformed: faster, for more flash.
//!
//! Weights of 3x3 windows take 32 bytes for nine values then, and sixteen products are made where 36 were.
//! A layer's gain is what its steps take less by the costs of its board; the layers that gain most for each byte
//! come first, while the plan image has room in the chip's flash. Weights that a copy brings stay as they are.

use crate::narrow::narrow;
use std::cmp::Reverse;

use tilewright_board::Board;
use tilewright_plan::{
    Bytes, ConstantRole, Instruction, Op, Packed, Plan, RowOrder, Space, Tile, View,
};
use tilewright_report::Packing;

use crate::costs::{Costs, TRANSFORMED};
use crate::lower::Stored;
use crate::recipe::Made;

/// The weights' place among the operands of a convolution.
const WEIGHTS: usize = 2;

/// What another packing than pairs changes for a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// More bytes of flash; below zero: fewer.
    pub bytes: i64,
    /// Fewer cycles, modelled; below zero: more.
    pub cycles: i64,
}

/// A compute step with its operands.
pub struct Compute<'a> {
    /// Its op in the plan.
    pub op: u32,
    /// Its layer in the plan.
    pub layer: u16,
    /// In which order it makes rows.
    pub order: RowOrder,
    /// Its tile.
    pub tile: &'a Tile,
    /// Its operands.
    pub views: &'a [View],
}

/// The compute steps of all programs but boot programs.
pub fn computes(plan: &Plan) -> impl Iterator<Item = Compute<'_>> {
    plan.main.iter().flat_map(|program| &program.lanes).flat_map(|lane| &lane.steps).filter_map(
        |step| {
            let Instruction::Compute { op, tile, first_view, order } = step.instruction else {
                return None;
            };
            let (_, views) = plan.operands(op, first_view)?;
            Some(Compute {
                op,
                layer: step.layer,
                order,
                tile: plan.tiles.get(tile as usize)?,
                views,
            })
        },
    )
}

/// What a step takes by an op whose weights take so many bytes in the plan image.
pub fn cycles(costs: &Costs, op: &Op, bytes: u64, step: &Compute<'_>) -> u64 {
    let mut views = step.views.to_vec();
    if let (Some(view), Ok(bytes)) = (views.get_mut(WEIGHTS), u32::try_from(bytes)) {
        *view = View { space: view.space, ..View::bytes(Space::Weights, view.offset, bytes) };
    }
    costs.step(op, step.tile, &views, step.order).0
}

/// What a step's transformed weights change against those in pairs; nothing if they cannot be transformed.
pub fn change(costs: &Costs, op: &Op, step: &Compute<'_>) -> Option<Change> {
    let plain = Op { flags: op.flags & !Op::TRANSFORMED, ..*op };
    let fast = Op { flags: op.flags | Op::TRANSFORMED, ..*op };
    let input = step.views.first()?;
    let filters = [&plain, &fast].map(|op| op.filters_for(input));
    if filters[1].packed != Packed::Transformed || op.is_sparse() {
        return None;
    }
    let channels = u64::from(step.tile.channels);
    let [few, many] = filters.map(|filters| filters.all_bytes(channels));
    let (few, many) = (few?, many?);
    let cycles = |op: &Op, bytes: u64| cycles(costs, op, bytes, step);
    Some(Change {
        bytes: many.checked_signed_diff(few)?,
        cycles: cycles(&plain, few).checked_signed_diff(cycles(&fast, many))?,
    })
}

/// What a step's sparse weights change against those in pairs.
fn of_sparse(costs: &Costs, op: &Op, step: &Compute<'_>) -> Option<Change> {
    let plain = Op { flags: op.flags & !Op::SPARSE, ..*op };
    let sparse = step.views.get(WEIGHTS)?.elements();
    let pairs = plain.filters_for(step.views.first()?).all_bytes(step.tile.channels.into())?;
    let cycles = |op: &Op, bytes: u64| cycles(costs, op, bytes, step);
    let saved = cycles(&plain, pairs).checked_signed_diff(cycles(op, sparse))?;
    Some(Change { bytes: sparse.checked_signed_diff(pairs)?, cycles: saved })
}

/// The packing of each layer's weights that has another than pairs, with what it changes.
pub fn changes(plan: &Plan, costs: &Costs) -> Vec<Option<(&'static str, Change)>> {
    let mut layers = vec![None; plan.layers.len()];
    for step in computes(plan) {
        let Some(op) = plan.ops.get(step.op as usize) else { continue };
        let found = match (op.is_sparse(), op.is_transformed()) {
            (true, _) => of_sparse(costs, op, &step).map(|change| ("sparse", change)),
            (_, true) => change(costs, op, &step).map(|change| ("transformed", change)),
            _ => None,
        };
        let (Some((name, change)), Some(layer)) = (found, layers.get_mut(usize::from(step.layer)))
        else {
            continue;
        };
        // Steps of a layer read the same weights.
        let before = layer.map_or(0, |(_, Change { cycles, .. })| cycles);
        *layer = Some((name, Change { cycles: before + change.cycles, ..change }));
    }
    layers
}

/// Has weights of a plan transformed that the core reads in the chip's flash, as many as there is room for.
pub fn choose(made: &mut Made, board: &Board, costs: &Costs, packing: Packing) {
    let Made { plan, recipe } = made;
    // Costs that a board names may be of others' kernels, or of small ones, which take weights in pairs alone and
    // know no others.
    let known = costs.kernels.contains_key(TRANSFORMED)
        || packing == Packing::Fast && board.core.costs.is_none();
    if packing == Packing::Plain || !known {
        return;
    }
    let is_copied = plan.spans.iter().any(|span| span.space() == Some(Space::Weights));
    let Some(mut room) = board.plan_bytes().0.checked_sub(plan.image_bytes().0) else { return };
    if is_copied {
        return;
    }
    let mut gains: Vec<(Vec<u32>, Change)> = Vec::new();
    for (block, constant) in plan.constants.iter().enumerate() {
        if constant.role == ConstantRole::Weights
            && constant.space == Space::Weights
            && let Some(change) = of_block(plan, costs, block)
            && (change.cycles > 0 || packing == Packing::Fast)
        {
            let ops: Vec<u32> = constant.readers().map(|reader| reader.op).collect();
            gains.push((ops, change));
        }
    }
    gains.sort_by_key(|(ops, change)| {
        let each = i128::from(change.cycles) * 1_000_000 / i128::from(change.bytes.max(1));
        (Reverse(each), ops.clone())
    });
    let mut chosen = Vec::new();
    for (ops, change) in gains {
        // Blocks, and what lies behind them, are aligned.
        let bytes = change.bytes.unsigned_abs() + 2 * Stored::IMAGE.alignment;
        if let Some(left) = room.checked_sub(bytes) {
            room = left;
            chosen.extend(ops);
        }
    }
    transform(plan, &chosen);
    recipe.transformed = chosen;
}

/// What changes if a block of weights is transformed: nothing if it is not all of a convolution's weights, and
/// those of its steps alone.
fn of_block(plan: &Plan, costs: &Costs, block: usize) -> Option<Change> {
    let constant = plan.constants.get(block)?;
    let is_read = |op: u32| constant.readers().any(|reader| reader.op == op);
    let others = plan.constants.iter().filter(|other| other.role == ConstantRole::Weights);
    if others.filter(|other| is_read(other.op)).count() != 1 {
        return None;
    }
    let mut all: Option<Change> = None;
    for step in computes(plan).filter(|step| is_read(step.op)) {
        let weights = step.views.get(WEIGHTS)?;
        let whole = weights.space() == Some(Space::Weights)
            && u64::from(weights.offset) == constant.offset
            && weights.elements() == constant.bytes.0;
        let op = plan.ops.get(step.op as usize)?;
        let change = change(costs, op, &step).filter(|_| whole)?;
        let before = all.map_or(0, |change| change.cycles);
        all = Some(Change { cycles: before + change.cycles, ..change });
    }
    all
}

/// Transforms the weights of ops, each a whole block, and moves all blocks to their places.
pub fn transform(plan: &mut Plan, ops: &[u32]) {
    if ops.is_empty() {
        return;
    }
    let mut larger = std::collections::BTreeMap::new();
    for step in computes(plan).filter(|step| ops.contains(&step.op)) {
        let Some(op) = plan.ops.get(step.op as usize) else { continue };
        let fast = Op { flags: op.flags | Op::TRANSFORMED, ..*op };
        let filters = step.views.first().map(|input| fast.filters_for(input));
        let filters = filters.filter(|filters| filters.packed == Packed::Transformed);
        let bytes = filters.and_then(|filters| filters.all_bytes(step.tile.channels.into()));
        larger.extend(bytes.map(|bytes| (step.op, bytes)));
    }
    for op in larger.keys() {
        if let Some(op) = plan.ops.get_mut(*op as usize) {
            op.flags |= Op::TRANSFORMED;
        }
    }
    let mut order: Vec<usize> = (0..plan.constants.len())
        .filter(|block| plan.constants[*block].space == Space::Weights)
        .collect();
    order.sort_by_key(|block| plan.constants[*block].offset);
    // Where blocks were, how long, and where they are.
    let mut moved: Vec<(u64, u64, u64, u64)> = Vec::with_capacity(order.len());
    let mut end = 0u64;
    for block in order {
        let constant = &mut plan.constants[block];
        let before = (constant.offset, constant.bytes.0);
        if constant.role == ConstantRole::Weights
            && let Some(bytes) = larger.get(&constant.op)
        {
            constant.bytes = Bytes(*bytes);
        }
        constant.offset = end.next_multiple_of(Stored::IMAGE.alignment);
        end = constant.offset + constant.bytes.0;
        moved.push((before.0, before.1, constant.offset, constant.bytes.0));
    }
    for view in plan.views.iter_mut().filter(|view| view.space() == Some(Space::Weights)) {
        let offset = u64::from(view.offset);
        let at = moved.partition_point(|(start, ..)| *start <= offset);
        let Some(&(start, bytes, to, new)) = at.checked_sub(1).and_then(|at| moved.get(at)) else {
            continue;
        };
        let place = narrow(to + (offset - start));
        *view = if new == bytes {
            View { offset: place, ..*view }
        } else {
            View::bytes(Space::Weights, place, narrow(new))
        };
    }
    let weights = &mut plan.space_bytes[Space::Weights as usize];
    *weights = Bytes(end);
}
