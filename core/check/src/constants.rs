//! Constant blocks: whole, disjoint, and those that the steps use.

use std::ops::Range;

use crate::contents::{Contents, Held};
use crate::node::Meaning;
use crate::{CheckError, shapes};
use tilewright_model::{Model, Node, Op as ModelOp, Padding, TensorId, Window, integer};
use tilewright_plan::image::STORE_ALIGNMENT;
use tilewright_plan::kernel::{CHANNEL_CONSTANT_BYTES, FACTOR_BYTES, NEAREST_BYTES, TABLE_BYTES};
use tilewright_plan::{
    Constant, ConstantRole, Filters, Gather, Kernel, Op, Packed, Plan, Role, Space, View,
};

const NO_PART: &str = "is for channels that its node does not have";

/// The first output channel of a block and how many there are, of a node with `channels`.
fn part(block: &Constant, channels: u64) -> Option<(u64, u64)> {
    let Some(part) = block.part else { return Some((0, channels)) };
    let (start, count) = (u64::from(part.start), u64::from(part.channels));
    (count > 0 && start + count <= channels).then_some((start, count))
}

/// Checks the blocks themselves.
///
/// # Errors
/// Names the first wrong block.
pub fn check(plan: &Plan, model: &Model) -> Result<(), CheckError> {
    let mut ranges = Vec::new();
    for (index, block) in plan.constants.iter().enumerate() {
        let wrong = |reason: &str| CheckError::Constant { index, reason: reason.to_owned() };
        let node = model.nodes.get(block.node as usize).ok_or_else(|| wrong("unknown node"))?;
        let end = block.offset.checked_add(block.bytes.0);
        if end.is_none_or(|end| end > plan.space(block.space).0) {
            return Err(wrong("reaches past the end of its space"));
        }
        let operand = |input: usize| {
            let id = node.inputs.get(input).filter(|id| model.tensor(**id).is_constant());
            id.map(|id| shapes::bytes(model, *id))
        };
        let output = node.outputs.first().map_or(&[][..], |id| model.tensor(*id).shape.dims());
        let expected = match block.role {
            ConstantRole::Weights => {
                let natural = operand(1).ok_or_else(|| wrong("its node has no weights"))?;
                let op = plan.ops.get(block.op as usize).ok_or_else(|| wrong("unknown op"))?;
                let channels = output.last().copied().unwrap_or(0).max(1) as u64;
                let filters = op.filters(natural / channels);
                let (start, count) = part(block, channels).ok_or_else(|| wrong(NO_PART))?;
                if filters.packed == Packed::Sparse && block.part.is_none() {
                    let weights = node.inputs.get(1).and_then(|id| {
                        let source = model.tensor(*id).source.as_ref()?;
                        source.integers(0..source.len())
                    });
                    let weights = weights.ok_or_else(|| wrong("its weights cannot be read"))?;
                    let ends = sparse_ends(&weights, &filters);
                    let is_cut_there = block.cuts.as_ref().is_some_and(|cuts| {
                        cuts.starts().split_first() == Some((&0, &ends[..]))
                            && (cuts.are_of(&filters), cuts.channels().into()) == (true, channels)
                    });
                    if !is_cut_there {
                        return Err(wrong("its sparse filters are cut elsewhere"));
                    }
                    ends.last().copied().unwrap_or(0)
                } else {
                    filters.start(start).ok_or_else(|| wrong("cuts a pair of filters in two"))?;
                    let bytes = filters.all_bytes(count);
                    bytes.ok_or_else(|| wrong("its weights are too large"))?
                }
            }
            ConstantRole::Channels => {
                let channels = output.last().copied().unwrap_or(0) as u64;
                let (_, count) = part(block, channels).ok_or_else(|| wrong(NO_PART))?;
                count * CHANNEL_CONSTANT_BYTES
            }
            _ if block.part.is_some() => return Err(wrong("only filters are cut by channels")),
            ConstantRole::Operand { input } => operand(usize::from(input))
                .ok_or_else(|| wrong("its node has no such constant operand"))?,
            ConstantRole::Table => TABLE_BYTES,
            ConstantRole::Nearest => match output {
                [_, rows, columns, _] => (*rows as u64 + *columns as u64) * NEAREST_BYTES,
                _ => return Err(wrong("its node makes no picture")),
            },
            ConstantRole::Factors => {
                let p = integer::local_response(model, node).map_err(|e| wrong(&e.to_string()))?;
                p.factors.len() as u64 * FACTOR_BYTES
            }
            ConstantRole::Gather(_) => Gather::BYTES,
        };
        if block.bytes.0 != expected {
            return Err(wrong("has another length than its node needs"));
        }
        for copy in &block.copies {
            let other = model.nodes.get(copy.node as usize).ok_or_else(|| wrong("unknown copy"))?;
            let ops = [block.op, copy.op].map(|op| plan.ops.get(op as usize));
            let [Some(own), Some(copied)] = ops else { return Err(wrong("unknown op")) };
            let is_alike =
                is_same(model, block.role, [node, other]) && is_packed_alike(own, copied);
            if !is_alike {
                return Err(wrong("is not what a copy of its node needs"));
            }
        }
        ranges.push((block.space, block.offset, block.offset + block.bytes.0, index));
    }
    ranges.sort_unstable();
    for pair in ranges.windows(2) {
        let [(space, _, end, _), (next_space, start, _, index)] = pair else { continue };
        if space == next_space && end > start {
            return Err(CheckError::Constant {
                index: *index,
                reason: "overlaps another block".to_owned(),
            });
        }
    }
    Ok(())
}

/// Where blocks of filters without their zeros end: a filter has for each 512 values, and for what is left, a word and
/// twelve bytes for each four pairs of neighbours that are not both zero, at least one.
fn sparse_ends(weights: &[i8], filters: &Filters) -> Vec<u64> {
    let block = filters.length.saturating_mul(filters.together).max(1);
    let mut end = 0;
    let blocks = weights.chunks(usize::try_from(block).unwrap_or(usize::MAX)).map(|block| {
        let rows = block.chunks(filters.length as usize).flat_map(|filter| filter.chunks(512));
        let pairs = rows.map(|row| row.chunks(2).filter(|p| **p != [0; 2][..p.len()]).count());
        end += pairs.map(|pairs| 4 + 12 * pairs.max(1).div_ceil(4) as u64).sum::<u64>();
        end
    });
    blocks.collect()
}

/// Whether a block is the same for two nodes: made of the same constants for the same quantisations, by the same
/// operator but for its padding.
fn is_same(model: &Model, role: ConstantRole, [a, b]: [&Node; 2]) -> bool {
    if matches!(role, ConstantRole::Nearest | ConstantRole::Gather(_)) {
        return false;
    }
    let operator = |node: &Node| match node.op.clone() {
        ModelOp::Conv { window, groups, activation } => {
            let window = Window { padding: Padding::default(), ..window };
            ModelOp::Conv { window, groups, activation }
        }
        ModelOp::DepthwiseConv { window, multiplier, activation } => {
            let window = Window { padding: Padding::default(), ..window };
            ModelOp::DepthwiseConv { window, multiplier, activation }
        }
        op => op,
    };
    let is_same_tensor = |a: &TensorId, b: &TensorId| {
        let (one, other) = (model.tensor(*a), model.tensor(*b));
        one.quantisation == other.quantisation
            && one.is_constant() == other.is_constant()
            && (!one.is_constant() || a == b)
    };
    let tensors = |node: &Node| -> Vec<TensorId> {
        node.inputs.iter().chain(&node.outputs).copied().collect()
    };
    let (first, second) = (tensors(a), tensors(b));
    operator(a) == operator(b)
        && first.len() == second.len()
        && first.iter().zip(&second).all(|(a, b)| is_same_tensor(a, b))
}

/// Whether two ops read weights and constants as they lie in the same way.
fn is_packed_alike(a: &Op, b: &Op) -> bool {
    Op { padding: b.padding, ..*a } == *b
}

/// Checks that the bytes that a step takes as its weights or constants are its node's: those of
/// channels from its first channel on, tables whole.
///
/// # Errors
/// Says what is wrong.
pub fn check_use(
    plan: &Plan,
    node: u32,
    op: u32,
    (role, kernel): (Role, Kernel),
    (view, contents): (&View, &Contents),
    meaning: &Meaning,
) -> Result<(), String> {
    let Meaning { channel_start, channels, .. } = *meaning;
    let wanted = match (role, kernel) {
        (Role::Weights, _) => ConstantRole::Weights,
        (_, Kernel::Lut) => ConstantRole::Table,
        (_, Kernel::ResizeNearest) => ConstantRole::Nearest,
        (_, Kernel::LocalResponse) => ConstantRole::Factors,
        _ => ConstantRole::Channels,
    };
    let block = plan
        .constants
        .iter()
        .position(|c| c.is_read_by(node, op) && c.role == wanted)
        .ok_or("the node's weights or constants are not in the plan")?;
    let held = &plan.constants[block];
    let first = held.part.map_or(0, |part| part.start.into());
    let skipped = || channel_start.checked_sub(first).ok_or("uses filters that are elsewhere");
    let (start, bytes) = match wanted {
        ConstantRole::Weights => {
            let record = plan.ops.get(op as usize).ok_or("unknown op")?;
            let filters = record.filters(meaning.weights_per_channel);
            if filters.packed == Packed::Sparse {
                let cuts = held.cuts.as_ref().filter(|cuts| cuts.are_of(&filters));
                let made = skipped()?..skipped()? + channels;
                let bytes = cuts.and_then(|cuts| cuts.range(made));
                let bytes = bytes.ok_or("cuts a block of sparse filters in two")?;
                (bytes.start, bytes.end - bytes.start)
            } else {
                let start = filters.start(skipped()?).ok_or("cuts a pair of filters in two")?;
                (start, filters.all_bytes(channels).ok_or("its weights are too large")?)
            }
        }
        ConstantRole::Channels => {
            (skipped()? * CHANNEL_CONSTANT_BYTES, channels * CHANNEL_CONSTANT_BYTES)
        }
        _ => (0, held.bytes.0),
    };
    let whole = view.elements() == bytes;
    if !whole || !contents.holds(u64::from(view.offset), bytes, Held::Block(block), start) {
        return Err("uses other weights or constants than its node's".to_owned());
    }
    Ok(())
}

/// The parameters of a gather that a step uses.
///
/// # Errors
/// If the step's view is not that of the parameters of its node and op.
pub fn gather(plan: &Plan, node: u32, op: u32, view: &View) -> Result<Gather, String> {
    let place = (view.space(), u64::from(view.offset), view.elements());
    plan.constants
        .iter()
        .filter(|c| c.node == node && c.op == op)
        .find_map(|c| match c.role {
            ConstantRole::Gather(gather) if place == (Some(c.space), c.offset, c.bytes.0) => {
                Some(gather)
            }
            _ => None,
        })
        .ok_or_else(|| "the parameters of the gather are not its node's".to_owned())
}

/// What of a card no program may write: the store's header and its blocks.
pub fn on_card(plan: &Plan) -> Vec<(Space, Range<u64>)> {
    let blocks = plan.constants.iter().filter(|block| block.space == Space::Card);
    let ranges = blocks.map(|block| block.offset..block.offset + block.bytes.0);
    std::iter::once(0..STORE_ALIGNMENT as u64)
        .chain(ranges)
        .map(|range| (Space::Card, range))
        .collect()
}

/// What a memory holds before anything runs: constant operands as the tensors that they are, all
/// other blocks as themselves.
pub fn stored(plan: &Plan, model: &Model, space: Space) -> Contents {
    let mut contents = Contents::default();
    for (index, block) in plan.constants.iter().enumerate().filter(|(_, b)| b.space == space) {
        let node = model.nodes.get(block.node as usize);
        let operand = match (block.role, node) {
            (ConstantRole::Operand { input }, Some(node)) => node.inputs.get(usize::from(input)),
            _ => None,
        };
        let held = operand.map_or(Held::Block(index), |id| Held::Tensor(*id, 0));
        contents.write(block.offset, block.bytes.0, held, 0);
    }
    contents
}
